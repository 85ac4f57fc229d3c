/**
 * Parameters that repeat an earlier answer, derived from its envelope
 * (docs/contract/points-of-time.md#law-of-repeating).
 */
import type { PageParams, PointParams } from "@bursar/engine-core"
import type { Instant, Offset } from "@bursar/engine-core/kernel"

/** Parameters of point and page, besides the read's own. */
export type PointAndPage = PointParams & PageParams

/** An answer of the client, or the stored envelope of one. */
export interface Repeatable {
  readonly offset: Offset.Offset
  readonly now: Instant.Instant
  /** Point and page of the original call; absent: the latest point, no page. */
  readonly pointAndPage?: PointAndPage
}

/**
 * Parameters with which the same read answers the same bytes again but for `now`: at any instance
 * and whatever was written since, given the same other parameters and a caller with the same
 * access. `"all"` (the default) repeats the whole answer. `"ledger"` (`at` the answer's offset)
 * repeats what the ledger dates, and shows the engine's own records as of that offset. An answer
 * that was asked for with a point or a cursor is repeated by these. A read that takes neither `at`
 * nor `asOf` refuses the parameters (`invalid-request`), and a point before the history is refused
 * (`before-horizon`).
 */
export const repeat = (
  { pointAndPage = {}, now, offset }: Repeatable,
  what: "all" | "ledger" = "all"
): PointAndPage => {
  const { asOf, at, ...page } = pointAndPage
  // A cursor contains the point of its list; the `now` of a later page is only the time of that
  // call.
  if (page.after !== undefined) return pointAndPage
  if (what === "ledger") return { ...page, at: offset }
  return at === undefined && asOf === undefined ? { ...page, asOf: now } : pointAndPage
}
