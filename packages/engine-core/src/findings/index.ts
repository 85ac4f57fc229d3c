/** Declarations of the room findings: differences that reconciliation runs find. */
import { awaitedStatements } from "./AwaitedStatements.ts"
import { findings } from "./Finding.ts"
import * as FindingQueries from "./FindingQueries.ts"

export const collections = [findings, awaitedStatements] as const
export const queries = [...FindingQueries.queries] as const
export { formulas } from "./FindingFormulas.ts"
