/** What the feeds context holds: no state set of the 27; its table is that of the events. */

export const machines = [] as const
export const judged = [] as const
