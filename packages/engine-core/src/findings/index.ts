/** Declarations of the room findings: differences that reconciliation runs find. */
import { findings } from "./Finding.ts"
import * as FindingReads from "./FindingReads.ts"

export const collections = [findings] as const
export const reads = [...FindingReads.reads] as const
export { events } from "./events.ts"
