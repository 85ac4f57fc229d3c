/** What the reconciliation context holds; its records have value sets, no machine of the 27. */

export const machines = [] as const
export const judged = [] as const
