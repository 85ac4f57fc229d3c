/** Declarations of the room findings: differences that reconciliation runs find. */
import { findings } from "./Finding.ts"

export const collections = [findings] as const
export { events } from "./events.ts"
