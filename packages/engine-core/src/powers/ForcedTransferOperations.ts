/**
 * Writes of forced transfers: move consenting holders' units to other holders under a cited order.
 */
import { Effect, Schema } from "effect"
import { HolderId, holders } from "../holders/holder/Holder.ts"
import { InstrumentId } from "../instruments/instrument/Instrument.ts"
import { Records } from "../records/Records.ts"
import * as Field from "../templates/Field.ts"
import * as Operation from "../writes/Operation.ts"
import { CitedOrder } from "../restraints/CitedOrder.ts"
import {
  actingOn,
  type Asking,
  ForcedActView,
  ofOneHolder,
  ofOneInstrument
} from "./ForcedActSteps.ts"
import { heldBy } from "./ForcedMoveLookups.ts"
import { movesMax } from "./ForcedMoveRules.ts"
import * as Amount from "../vocabulary/Amount.ts"

/**
 * Filter of a list whose entries must name different records: two lines cannot take the same units.
 */
const uniqueBy = <A>(nameOf: (entry: A) => string, expected: string) =>
  Schema.makeFilter(
    (all: ReadonlyArray<A>) =>
      new Set(all.map(nameOf)).size === all.length ? undefined : expected,
    { expected }
  )

const HolderBody = Schema.Struct({
  holderId: HolderId,
  /** Receiver: a holder that is admitted to each of the instruments. */
  toHolderId: HolderId,
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
  order: CitedOrder
})
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

const ofHolder = Effect.fnUntraced(function* (body: HolderBody) {
  const records = yield* Records
  const { holderId, instruments, order, toHolderId } = body
  const holder = yield* records.get(holders, holderId)
  const named =
    instruments ?? (yield* heldBy(holder)).map((instrumentId) => ({ instrumentId, units: null }))
  return {
    power: "force-transfer",
    moves: named.map((move) => ({ ...move, holderId, toHolderId })),
    order
  } satisfies Asking
})

const ofInstrument = ({ instrumentId, moves, order }: InstrumentBody) =>
  Effect.succeed<Asking>({
    power: "force-transfer",
    moves: moves.map((move) => ({ ...move, instrumentId })),
    order
  })

const shared = {
  makers: ["operator", "compliance"],
  approvers: 1,
  result: ForcedActView,
  refuses: ["not-found", "rule-refused"]
} as const

/**
 * Moves units under the order of a court or an authority; approvers sign the digest of the order's
 * document. Locks on the units are released in the same transaction, and the result lists them. A
 * restriction of the giving holder does not stop the move, one of the receiver does. Records of
 * subscription lots are not moved: the engine does not use what remains of a lot yet.
 */
export const byHolder = Operation.defineOnLedger("holder.force-transfer", {
  ...shared,
  doc: "Moves a consenting holder's units to another holder under a cited order.",
  route: "POST /v1/holders/{holderId}:force-transfer",
  resource: ofOneHolder,
  input: HolderBody,
  ...actingOn(ofHolder)
})

/**
 * Forced transfer of one instrument's units from several holders, each to a receiver of its own.
 */
export const byInstrument = Operation.defineOnLedger("instrument.force-transfer", {
  ...shared,
  doc: "Moves consenting holders' units of an instrument to other holders under a cited order.",
  route: "POST /v1/instruments/{instrumentId}:force-transfer",
  resource: ofOneInstrument,
  input: InstrumentBody,
  ...actingOn(ofInstrument)
})

export const operations = [byHolder, byInstrument] as const
