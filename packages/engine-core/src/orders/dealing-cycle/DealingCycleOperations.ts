/** What the venue may do with a dealing cycle: open it, settle it or release it. */
import { open } from "./OpenOperations.ts"
import { release } from "./ReleaseOperations.ts"
import { settle } from "./SettleOperations.ts"

export { timely } from "./ReleaseOperations.ts"

export const operations = [open, settle, release] as const
