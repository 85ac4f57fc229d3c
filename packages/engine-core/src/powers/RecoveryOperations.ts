/** Writes of recoveries: move holders' units to their registered successors. */
import { Effect, Schema } from "effect"
import { HolderId } from "../holders/holder/HolderId.ts"
import { holderParties, holders } from "../holders/holder/Holder.ts"
import { InstrumentId } from "../instruments/instrument/Instrument.ts"
import { Records } from "../records/Records.ts"
import * as Field from "../templates/Field.ts"
import * as Operation from "../writes/Operation.ts"
import { count, instrumentsOrAll, sentence } from "../writes/Summary.ts"
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
import type { RecordConcern } from "../writes/Concern.ts"

const HolderBody = Schema.Struct({
  holderId: HolderId,
  /** Without instruments, all that the holder holds. */
  instruments: Field.optional(
    Schema.Array(InstrumentId).check(
      Schema.isMinLength(1),
      Schema.isMaxLength(movesMax),
      Schema.isUnique({ expected: "instruments that do not repeat" })
    )
  ),
  /** Optional: a recovery needs no order. */
  order: Field.optional(CitedOrder)
})
type HolderBody = typeof HolderBody.Type

const InstrumentBody = Schema.Struct({
  instrumentId: InstrumentId,
  holderIds: Schema.Array(HolderId).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(movesMax),
    Schema.isUnique({ expected: "holders that do not repeat" })
  ),
  order: Field.optional(CitedOrder)
})
type InstrumentBody = typeof InstrumentBody.Type

const ofHolder = Effect.fnUntraced(function* ({ holderId, instruments, order }: HolderBody) {
  const records = yield* Records
  const holder = yield* records.get(holders, holderId)
  const named = instruments ?? (yield* heldBy(holder))
  return {
    power: "recover",
    moves: named.map((instrumentId) => ({
      holderId,
      instrumentId,
      toHolderId: null,
      units: null
    })),
    isMoving: true,
    voids: null,
    order
  } satisfies ForcedActRequest
})

const ofInstrument = ({ holderIds, instrumentId, order }: InstrumentBody) =>
  Effect.succeed<ForcedActRequest>({
    power: "recover",
    moves: holderIds.map((holderId) => ({ holderId, instrumentId, toHolderId: null, units: null })),
    isMoving: true,
    voids: null,
    order
  })

/** Looks up the registered successors of these holders: a recovery concerns both. */
const withSuccessors = Effect.fnUntraced(function* (holderIds: ReadonlyArray<string>) {
  const records = yield* Records
  const people = yield* records.many(holders, holderIds)
  const parties = people.flatMap(({ successor }) => successor?.party ?? [])
  const successors = yield* records.many(holderParties, parties)
  return {
    instrumentId: null,
    holderIds: [...holderIds, ...successors.map(({ holderId }) => holderId).toSorted()]
  } satisfies RecordConcern
})

const shared = {
  makers: ["operator", "compliance"],
  approvers: 1,
  result: ForcedActView,
  refuses: ["not-found", "state-conflict", "rule-refused"]
} as const

/**
 * Moves all units of each instrument, locked ones included, to the holder's registered successor
 * once the cooling time has passed. The holder's restrictions are carried to the successor, so that
 * the loss of a key lifts none; a successor with a restriction of its own receives nothing. The
 * holder's admission to the instrument ends in the same transaction, and with the last instrument
 * the holder is succeeded (docs/domain/powers.md#recovery). Units that reach the holder later are
 * recovered by another recovery.
 */
const byHolder = Operation.defineOnLedger("holder.recover", {
  ...shared,
  doc: "Moves a consenting holder's units to its registered successor.",
  summary: ({ holderId, instruments }) =>
    sentence`Moves units of holder ${holderId} in ${instrumentsOrAll(instruments)} to its registered successor.`,
  route: "POST /v1/holders/{holderId}:recover",
  resource: { ...ofOneHolder, concerns: ({ holderId }) => withSuccessors([holderId]) },
  input: HolderBody,
  ...actingOn(ofHolder)
})

/** Recovery of one instrument's units from several holders, each to its own successor. */
export const byInstrument = Operation.defineOnLedger("instrument.recover", {
  ...shared,
  doc: "Moves consenting holders' units of an instrument to their registered successors.",
  summary: ({ holderIds, instrumentId }) =>
    sentence`Moves units of instrument ${instrumentId} from ${count(holderIds.length, "holder")} to the registered successors.`,
  route: "POST /v1/instruments/{instrumentId}:recover",
  resource: { ...ofOneInstrument, concerns: ({ holderIds }) => withSuccessors(holderIds) },
  input: InstrumentBody,
  ...actingOn(ofInstrument)
})

export const operations = [byHolder, byInstrument] as const
