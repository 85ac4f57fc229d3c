/** Open and closed sets of the API. */
import { Catalogue, ValueSet } from "@bursar/engine-core"
import type { Schema } from "effect"

/** A set of words, and the schema that validates them. */
interface WordSet {
  readonly name: string
  readonly schema: Schema.Codec<unknown, unknown>
}

/** Word sets of an interface: states that are reached or judged, and words without states. */
export const setsOf = ({
  judged,
  machines,
  valueSets
}: Pick<Catalogue.Catalogue, "judged" | "machines" | "valueSets">): ReadonlyArray<WordSet> => [
  ...machines,
  ...judged,
  ...valueSets
]

/** Word sets of the interface without rooms of a venue's own. */
export const sets = setsOf(Catalogue.builtIn)

/** The names of the sets that may gain members (docs/contract/growth.md#open-and-closed-sets). */
export const extensibleOf = (all: ReadonlyArray<WordSet>): ReadonlySet<string> =>
  new Set(all.filter(({ schema }) => ValueSet.mayGrow(schema.ast)).map(({ name }) => name))

/** Words of each set that rooms add words to: those of the engine, then those of the rooms. */
export const roomSetsOf = ({
  ownWords,
  valueSets
}: Pick<Catalogue.Catalogue, "ownWords" | "valueSets">): ReadonlyArray<{
  readonly members: ReadonlyArray<string>
  readonly ownWords: ReadonlyArray<string>
}> =>
  valueSets.flatMap((set) =>
    "own" in set ? [{ members: set.members, ownWords: ownWords.get(set.name) ?? [] }] : []
  )
