/** Index of the open hold of each source on an instrument, so that runs open at most one. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import { HoldSource } from "../../vocabulary/sets.ts"

export const HoldSlot = Schema.Struct({
  instrumentId: Schema.String,
  source: HoldSource.schema,
  /** Null after its release. */
  holdId: Schema.NullOr(Schema.String)
})
export type HoldSlot = typeof HoldSlot.Type

/** A hold opened and took the slot, or was released and freed it (null). */
export const Fact = Schema.Struct({
  on: Schema.Literal("set"),
  holdId: Schema.NullOr(Schema.String)
})
export type Fact = typeof Fact.Type

export const slotIdOf = ({
  instrumentId,
  source
}: Pick<HoldSlot, "instrumentId" | "source">): string => `${instrumentId}:${source}`

/** Ids of the slots of an instrument for the holds that runs open. */
export const runSlotIdsOf = (instrumentId: string): ReadonlyArray<string> => [
  slotIdOf({ instrumentId, source: "reconciliation" }),
  slotIdOf({ instrumentId, source: "cover" })
]

export const holdSlots = Collection.define<HoldSlot, Fact>("hold-slot", {
  doc: "Which hold of a source is open on an instrument.",
  id: slotIdOf,
  record: HoldSlot,
  fact: Fact,
  evolve: (self, { holdId }) => ({ ...self, holdId }),
  keptBy: "engine",
  invariants: {
    "manual holds take no slot: many may be open": ({ source }) => source !== "manual"
  }
})
