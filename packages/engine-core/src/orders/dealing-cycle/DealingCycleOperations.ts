/** What the venue may do with a dealing cycle: open it, settle it or release it. */
import { open } from "./OpenOperations.ts"

export const operations = [open] as const
