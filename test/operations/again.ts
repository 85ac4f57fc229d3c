/** A ledger that forgets its updates, and a venue that begins again on it with an empty store. */
import { Ledger } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, type Layer } from "effect"
import * as Calls from "../engine/calls.ts"
import { instanceOn } from "../engine/world.ts"
import type * as Fund from "./fund.ts"
import { bodyOf } from "./instrumentBody.ts"

/** A second engine over the same ledger, with a store in which nothing is yet. */
export const againOn = <R>(storage: Layer.Layer<Memory.Storage | R>) =>
  Effect.map(Ledger.Ledger, (ledger) => instanceOn(ledger, { storage }))

export const again = againOn(Memory.layer)

/** The ledger forgets every update until now. */
export const forgets = Effect.gen(function* () {
  const participant = yield* SimulatedLedger.Participant
  yield* participant.admin.prune(yield* participant.ledgerEnd)
})

/** The venue records the instrument, whose terms the ledger does not keep. */
export const recordsAgain = (
  stage: Fund.Parties,
  terms: Readonly<Record<string, Calls.Json>> = {}
) =>
  Calls.write(
    "instrument.record",
    {},
    { ...bodyOf(), registrar: stage.registrar.party, oracle: stage.oracle.party, ...terms }
  )
