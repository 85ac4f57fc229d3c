/** The simulated ledger under test, in memory. */
import { LedgerProbes, SimulatedUnderTest } from "@bursar/storage-adapters/conformance"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Layer } from "effect"

export const supports = SimulatedUnderTest.supports

export const options = {
  ledgerId: "sim",
  participantId: "participant",
  entities: LedgerProbes.entities
}

/** The ledger with these entities in the place of its own. */
export const memoryWith = (entities: ReadonlyArray<SimulatedLedger.Entity.Entity>) =>
  Layer.provide(
    SimulatedUnderTest.layer,
    SimulatedLedger.layerMemory({ ...options, replacements: entities })
  )

export const memory = Layer.provide(SimulatedUnderTest.layer, SimulatedLedger.layerMemory(options))
