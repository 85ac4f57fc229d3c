/**
 * Writes of forced transfers: move consenting holders' units to other holders under a cited order.
 */
import { Effect, Schema } from "effect"
import { HolderId } from "../holders/holder/HolderId.ts"
import { holders } from "../holders/holder/Holder.ts"
import { InstrumentId } from "../instruments/instrument/Instrument.ts"
import { Records } from "../records/Records.ts"
import * as Field from "../templates/Field.ts"
import * as Concerns from "../writes/ConcernLookups.ts"
import * as Operation from "../writes/Operation.ts"
import { count, instrumentsOrAll, optionally, phrase, sentence } from "../writes/Summary.ts"
import { CitedOrder } from "../restraints/CitedOrder.ts"
import {
  actingOn,
  type ForcedActRequest,
  ForcedActView,
  ofOneHolder,
  ofOneInstrument
} from "./ForcedActSteps.ts"
import { heldBy } from "./ForcedMoveLookups.ts"
import { movesMax } from "./ForcedMoveRules.ts"
import { voidsMax } from "./LineVoidGates.ts"
import type { VoidableLines } from "./VoidableLines.ts"
import * as RecordId from "../kernel/RecordId.ts"
import * as Amount from "../kernel/Amount.ts"

/**
 * Filter of a list whose entries must name different records: two lines cannot take the same units.
 */
const uniqueBy = <A>(nameOf: (entry: A) => string, expected: string) =>
  Schema.makeFilter(
    (all: ReadonlyArray<A>) =>
      new Set(all.map(nameOf)).size === all.length ? undefined : expected,
    { expected }
  )

const VoidedLineId = RecordId.make("LineId")

const HolderBody = Schema.Struct({
  holderId: HolderId,
  /** Receiver: a holder that is admitted to each of the instruments. Absent: nothing moves. */
  toHolderId: Field.optional(HolderId),
  /** Without instruments, all that the holder holds; without units, all of that instrument. */
  instruments: Field.optional(
    Schema.Array(
      Schema.Struct({ instrumentId: InstrumentId, units: Field.optional(Amount.units) })
    ).check(
      Schema.isMinLength(1),
      Schema.isMaxLength(movesMax),
      uniqueBy(({ instrumentId }) => instrumentId, "instruments that do not repeat")
    )
  ),
  /** Suspended distribution lines of the holder whose amounts are booked elsewhere by the order. */
  voids: Field.optional(
    Schema.Array(VoidedLineId).check(
      Schema.isMinLength(1),
      Schema.isMaxLength(voidsMax),
      Schema.isUnique({ expected: "lines that do not repeat" })
    )
  ),
  order: CitedOrder
}).check(
  Schema.makeFilter(({ instruments, toHolderId, voids }) => {
    if (toHolderId !== null) return undefined
    if (voids === null) return { path: ["toHolderId"], issue: "a receiver, or lines to void" }
    return instruments === null
      ? undefined
      : { path: ["instruments"], issue: "no instruments, where nobody receives their units" }
  })
)
type HolderBody = typeof HolderBody.Type

const InstrumentBody = Schema.Struct({
  instrumentId: InstrumentId,
  moves: Schema.Array(
    Schema.Struct({
      holderId: HolderId,
      toHolderId: HolderId,
      /** Without units, all of the holder's. */
      units: Field.optional(Amount.units)
    })
  ).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(movesMax),
    uniqueBy(({ holderId }) => holderId, "holders that do not repeat")
  ),
  order: CitedOrder
})
type InstrumentBody = typeof InstrumentBody.Type

const ofHolder = Effect.fnUntraced(function* (body: HolderBody, { linesById }: VoidableLines) {
  const records = yield* Records
  const { holderId, instruments, order, toHolderId } = body
  const holder = yield* records.get(holders, holderId)
  const named =
    toHolderId === null
      ? []
      : (instruments ??
        (yield* heldBy(holder)).map((instrumentId) => ({ instrumentId, units: null })))
  const voids = body.voids ?? []
  const lines = new Map((yield* linesById(voids)).map((line) => [line.lineId, line]))
  return {
    power: "force-transfer",
    moves: named.map((move) => ({ ...move, holderId, toHolderId })),
    isMoving: toHolderId !== null,
    voids: {
      holderId,
      orderRef: order.documentHash,
      lines: voids.map((lineId) => ({ lineId, line: lines.get(lineId) ?? null }))
    },
    order
  } satisfies ForcedActRequest
})

const ofInstrument = ({ instrumentId, moves, order }: InstrumentBody) =>
  Effect.succeed<ForcedActRequest>({
    power: "force-transfer",
    moves: moves.map((move) => ({ ...move, instrumentId })),
    isMoving: true,
    voids: null,
    order
  })

const shared = {
  makers: ["operator", "compliance"],
  approvers: 1,
  result: ForcedActView,
  refuses: ["not-found", "rule-refused"]
} as const

/**
 * Forced transfer of one holder's units, of its suspended distribution lines, or of both. Lines are
 * voided before units move, in the same transaction where it has room for both.
 *
 * Moves units under the order of a court or an authority; approvers sign the digest of the order's
 * document. Locks on the units are released in the same transaction, and the result lists them. A
 * restriction of the giving holder does not stop the move, one of the receiver does. Records of
 * subscription lots are not moved: the engine does not use what remains of a lot yet.
 */
export const forcing = (lines: VoidableLines) =>
  Operation.defineOnLedger("holder.force-transfer", {
    ...shared,
    doc: "Moves a consenting holder's units, or voids its suspended distribution lines, under a cited order.",
    summary: ({ holderId, instruments, toHolderId, voids }) => {
      const lines = count((voids ?? []).length, "distribution line")
      if (toHolderId === null || toHolderId === undefined) {
        return sentence`Voids ${lines} of holder ${holderId} under a cited order.`
      }
      const voiding = optionally(voids, () => phrase` and voids ${lines}`)
      return sentence`Moves units of holder ${holderId} in ${instrumentsOrAll(instruments)} to holder ${toHolderId}${voiding} under a cited order.`
    },
    route: "POST /v1/holders/{holderId}:force-transfer",
    resource: {
      ...ofOneHolder,
      concerns: Concerns.ofHolders(({ toHolderId }) => [toHolderId])
    },
    input: HolderBody,
    ...actingOn(
      (body: HolderBody) => ofHolder(body, lines),
      ({ order, voids }) => ({ orderRef: order.documentHash, lineIds: voids })
    )
  })

/**
 * Forced transfer of one instrument's units from several holders, each to a receiver of its own.
 */
export const byInstrument = Operation.defineOnLedger("instrument.force-transfer", {
  ...shared,
  doc: "Moves consenting holders' units of an instrument to other holders under a cited order.",
  summary: ({ instrumentId, moves }) =>
    sentence`Moves units of instrument ${instrumentId} from ${count(moves.length, "holder")} under a cited order.`,
  route: "POST /v1/instruments/{instrumentId}:force-transfer",
  resource: {
    ...ofOneInstrument,
    concerns: Concerns.ofHolders(({ moves }) =>
      moves.flatMap(({ holderId, toHolderId }) => [holderId, toHolderId])
    )
  },
  input: InstrumentBody,
  // Unlike a recovery, it carries no restrictions: no figure is derived from one.
  figuresFor: "every-role",
  ...actingOn(ofInstrument)
})

export const operations = [byInstrument] as const
