/** What the room of findings declares: differences that reconciliation runs see. */
import { findings } from "./Finding.ts"

export const collections = [findings] as const
