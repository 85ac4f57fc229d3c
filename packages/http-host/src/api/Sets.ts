/** Open and closed sets of the API. */
import { Catalogue, ValueSet } from "@bursar/engine-core"

/** Word sets of the interface: states that are reached or judged, and words without states. */
export const sets: ReadonlyArray<Pick<ValueSet.ValueSet, "name" | "schema">> = [
  ...Catalogue.machines,
  ...Catalogue.judged,
  ...Catalogue.valueSets
]

/** The names of the sets that may gain members (docs/contract/growth.md#open-and-closed-sets). */
export const extensible: ReadonlySet<string> = new Set(
  sets.filter(({ schema }) => ValueSet.mayGrow(schema.ast)).map(({ name }) => name)
)
