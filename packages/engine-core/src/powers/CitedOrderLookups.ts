/** Checks whether a forced act under a cited order against a holder is pending. */
import { Effect, Option, Schema, Stream } from "effect"
import { Records } from "../records/Records.ts"
import type { OperationKind } from "../vocabulary/OperationKind.ts"
import { approvals } from "../writes/Approval.ts"
import { operations } from "../writes/OperationRecord.ts"

const kinds: ReadonlyArray<OperationKind> = [
  "holder.force-transfer",
  "holder.recover",
  "instrument.force-transfer",
  "instrument.recover"
]

/** Codec of a forced act's request: the cited order and the holders. */
const Citing = Schema.Struct({
  order: Schema.Struct({ documentHash: Schema.String }),
  holderId: Schema.optionalKey(Schema.String),
  holderIds: Schema.optionalKey(Schema.Array(Schema.String)),
  moves: Schema.optionalKey(Schema.Array(Schema.Struct({ holderId: Schema.String })))
})
const decode = Schema.decodeUnknownOption(Citing)

const isAgainst = (request: unknown, holderId: string): boolean =>
  Option.match(decode(request), {
    // A recovery without an order cites none.
    onNone: () => false,
    onSome: ({ holderId: named, holderIds = [], moves = [] }) =>
      named === holderId ||
      holderIds.includes(holderId) ||
      moves.some((move) => move.holderId === holderId)
  })

/** Checks whether such an act awaits signatures or its operation is queued or running. */
export const isUnderOrder = Effect.fnUntraced(function* (holderId: string) {
  const records = yield* Records
  const awaiting = records.stream(approvals, { where: { kind: kinds, state: ["awaiting"] } })
  const running = records.stream(operations, {
    where: { kind: kinds, state: ["queued", "running"] }
  })
  const found = yield* Stream.concat(
    Stream.map(awaiting, ({ record: { request } }) => request),
    Stream.map(running, ({ record: { request } }) => request)
  ).pipe(
    Stream.filter((request) => isAgainst(request, holderId)),
    Stream.runHead
  )
  return Option.isSome(found)
})
