/**
 * Reserves the id and the party of a new holder, so that two parallel registrations never share
 * one.
 */
import { Effect, Option } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import type * as Party from "../../kernel/Party.ts"
import { condition, failed, judge } from "../../kernel/Gates.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { OperationMachine } from "../../writes/OperationMachine.ts"
import { operations } from "../../writes/OperationRecord.ts"
import type { HolderId } from "./HolderId.ts"
import { holderParties, holders } from "./Holder.ts"
import { holderClaims } from "./HolderClaim.ts"

interface NewHolder {
  readonly holderId: HolderId
  readonly party: Party.Party
}

/**
 * Judges that the holder id and the party are free and that the party is not the venue's, and
 * reserves both in the transaction that plans the registration. Refuses `already-exists` where a
 * holder or another registration under way has one of them, and `rule-refused` for the venue's
 * party.
 */
export const judgeNew = Effect.fnUntraced(function* (
  { holderId, party }: NewHolder,
  act: OperationAct
) {
  const records = yield* Records
  const idName = `holder:${holderId}`
  const partyName = `party:${party}`
  const claims = yield* records.many(holderClaims, [idName, partyName])
  const underWay = yield* underWayOf(claims, act)
  if (underWay.has(idName) || Option.isSome(yield* records.find(holders, holderId))) {
    return yield* Effect.fail(
      refused("already-exists", failed("holder-id", { detail: "A holder of this id exists." }))
    )
  }
  if (underWay.has(partyName) || Option.isSome(yield* records.find(holderParties, party))) {
    return yield* Effect.fail(
      refused(
        "already-exists",
        failed("party", { party, detail: "The party is a holder already." })
      )
    )
  }
  yield* Effect.fromResult(judge([condition("holder-is-venue", party !== act.venue)]))
  const { operationId } = act
  for (const name of [idName, partyName]) {
    const before = claims.find((claim) => claim.name === name)
    yield* before === undefined
      ? records
          .open(holderClaims, { name, operationId }, act)
          .pipe(Effect.catchTag("Refused", (again) => Effect.die(new Error(again.slug))))
      : records.append(holderClaims, before, { on: "take", operationId }, act)
  }
})

/** Names of the claims that another registration holds which has not ended. */
const underWayOf = Effect.fnUntraced(function* (
  claims: ReadonlyArray<{ readonly name: string; readonly operationId: string }>,
  act: OperationAct
) {
  const records = yield* Records
  const others = claims.filter(({ operationId }) => operationId !== act.operationId)
  const found = yield* records.many(operations, [
    ...new Set(others.map(({ operationId }) => operationId))
  ])
  const running = new Set(
    found
      .filter(({ state }) => !Machine.isTerminal(OperationMachine, state))
      .map(({ operationId }) => operationId as string)
  )
  return new Set(
    others.filter(({ operationId }) => running.has(operationId)).map(({ name }) => name)
  )
})
