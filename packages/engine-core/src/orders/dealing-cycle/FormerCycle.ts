/** A cycle that ended without an order that was in it, and how it ended. */
import { Schema } from "effect"
import { CycleEnding } from "../../vocabulary/sets.ts"

export const FormerCycle = Schema.Struct({
  cycleId: Schema.String,
  endedAs: CycleEnding.schema
}).annotate({
  identifier: "FormerCycle",
  description: "A dealing cycle that ended without the order, and how it ended."
})
export type FormerCycle = typeof FormerCycle.Type

/** The cycle that an order is in, or that ended without it; null: it never was in one that ended so. */
export const cycleNamedBy = (of: {
  readonly cycleId: string | null
  readonly formerCycle: FormerCycle | null
}): string | null => of.cycleId ?? of.formerCycle?.cycleId ?? null
