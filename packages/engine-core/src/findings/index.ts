/** Declarations of the room findings: differences that reconciliation runs find. */
import { awaitedStatements } from "./AwaitedStatements.ts"
import { findings } from "./Finding.ts"
import * as FindingReads from "./FindingReads.ts"

export const collections = [findings, awaitedStatements] as const
export const reads = [...FindingReads.reads] as const
export { events } from "./events.ts"
export { formulas } from "./FindingFormulas.ts"
