/** Reference of an order to the cycle that ended without it, and how that cycle ended. */
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

/** Returns the cycle that an order is in, else the cycle that ended without it; null: neither. */
export const cycleNamedBy = ({
  cycleId,
  formerCycle
}: {
  readonly cycleId: string | null
  readonly formerCycle: FormerCycle | null
}): string | null => cycleId ?? formerCycle?.cycleId ?? null
