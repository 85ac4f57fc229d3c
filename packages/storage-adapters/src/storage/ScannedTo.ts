/** Last number that a page of a feed has scanned, so that a filtered reader advances. */
import type { FeedQuery } from "@bursar/engine-core/ports"

/** Last number scanned: that of the last record of a full page, otherwise the end of the feed. */
export const scannedTo = (
  query: Pick<FeedQuery, "order" | "after" | "limit">,
  { rows, head }: { readonly rows: ReadonlyArray<{ readonly seq: number }>; readonly head: number }
): number => {
  const last = rows[rows.length - 1]
  if (last !== undefined && rows.length >= query.limit) return last.seq
  if (query.limit < 1) return query.after ?? 0
  if (query.order === "asc") return Math.max(query.after ?? 0, head)
  return query.after === undefined ? Math.min(1, head) : Math.min(1, query.after)
}
