/** Size of the bulk work of the kill test, and the messages of its program. */
import type { BulkDifference } from "@bursar/engine-core/ports"

export const owners = ["left", "right"] as const
export const rows = 60
export const inOneAppend = 30
/** Row whose amounts differ. */
export const differing = 41

export type Said =
  | { readonly is: "ready" }
  | { readonly is: "done"; readonly found: ReadonlyArray<BulkDifference> }
