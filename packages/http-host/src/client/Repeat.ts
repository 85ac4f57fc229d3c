/** Parameters that repeat an earlier answer, made from its envelope (the law of repeating). */
import type { PageAsked, PointAsked } from "@bursar/engine-core"
import type { Instant, Offset } from "@bursar/engine-core/kernel"

/** The point and the page that a read is asked with, beside its own parameters. */
export type Asked = PointAsked & PageAsked

/** An answer of the client, or the envelope of one that was kept. */
export interface Repeatable {
  readonly offset: Offset.Offset
  readonly now: Instant.Instant
  /** Point and page of the call; absent: the latest point, not a page. */
  readonly asked?: Asked
}

/**
 * What the same read is asked with, beside the same parameters and by a caller of the same sight, to
 * be answered the same bytes but `now`: whatever was written since, at any instance. With `"all"` that
 * is everything in the answer; with `"ledger"` (`at` its offset) what the ledger dates in it, while the
 * engine's own records are as the ledger's offset has them. An answer that was asked for with a point
 * or a cursor is repeated by these. A read that takes neither `at` nor `asOf` refuses what is given
 * here (`invalid-request`), and a point before the history is refused (`before-horizon`).
 */
export const repeat = (
  { asked = {}, now, offset }: Repeatable,
  what: "all" | "ledger" = "all"
): Asked => {
  const { asOf, at, ...page } = asked
  // A cursor holds the point of its list: a later page's own `now` is its caller's clock.
  if (page.after !== undefined) return asked
  if (what === "ledger") return { ...page, at: offset }
  return at === undefined && asOf === undefined ? { ...page, asOf: now } : asked
}
