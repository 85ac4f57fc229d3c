/** Names of what the program on SQLite writes, and the number of its callers. */
import type { BulkRow } from "@bursar/engine-core/ports"

/** Writes that are under way at a time. */
export const callers = 6
export const collection = "killed"
export const instant = "2026-01-01T00:00:00.000000000Z"

export const recordOf = (n: number): string => `r${n}`
export const fileOf = (n: number): string => `file-${n}`
export const ownerOf = (n: number): string => `owner-${n}`

export const rowsOf = (n: number): ReadonlyArray<BulkRow> =>
  [0, 1, 2].map((row) => ({
    key: `k${row}`,
    match: `m${row}`,
    group: "g",
    amounts: [`${n}.5`],
    body: "{}"
  }))
