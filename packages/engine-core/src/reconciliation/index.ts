/** What the reconciliation context holds; its records have value sets, no machine of the 27. */
import { findings } from "./run/Finding.ts"

export const machines = [] as const
export const judged = [] as const
export const collections = [findings] as const
