/** Nouns of the room findings: differences that reconciliation runs find. */
import * as Noun from "../nouns/Noun.ts"
import { awaitedStatements } from "./AwaitedStatements.ts"
import { findings } from "./Finding.ts"
import { formulas } from "./FindingFormulas.ts"
import * as FindingQueries from "./FindingQueries.ts"

const finding = Noun.declare({
  collections: [findings, awaitedStatements],
  queries: FindingQueries.queries,
  formulas
})

export const nouns = [finding] as const
