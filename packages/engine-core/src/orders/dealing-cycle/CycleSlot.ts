/**
 * Lock of an instrument's cut-off by the operation that opens its cycle, taken before the command is
 * sent to the ledger.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"

export const CycleSlot = Schema.Struct({
  /** Key of the instrument and the cut-off. */
  slotId: Schema.String,
  cycleId: Schema.String,
  /** The operation that opens the cycle. */
  operationId: Schema.String
})
export type CycleSlot = typeof CycleSlot.Type

/** Taken by another operation, after the former cycle ended or its operation failed. */
export const Fact = Schema.Struct({
  on: Schema.Literal("take"),
  cycleId: Schema.String,
  operationId: Schema.String
})
export type Fact = typeof Fact.Type

export const cycleSlots = Collection.define<CycleSlot, Fact>("cycle-slot", {
  doc: "Who opens an instrument's cycle of a cut-off.",
  id: (self) => self.slotId,
  record: CycleSlot,
  fact: Fact,
  evolve: (self, { cycleId, operationId }) => ({ ...self, cycleId, operationId }),
  keptBy: "engine"
})
