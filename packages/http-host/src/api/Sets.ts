/** Which of the declared sets may gain values within /v1, and which never will. */
import { Catalogue } from "@bursar/engine-core"

/** Every set of words of the interface: states that are reached or judged, and words without states. */
export const sets = [...Catalogue.machines, ...Catalogue.judged, ...Catalogue.valueSets]

const closed = new Set(
  Catalogue.valueSets.filter(({ growth }) => growth === "closed").map(({ name }) => name)
)

/** The names of the sets of which a client must expect more (contract.md section 15). */
export const extensible: ReadonlySet<string> = new Set(
  sets.map(({ name }) => name).filter((name) => !closed.has(name))
)
