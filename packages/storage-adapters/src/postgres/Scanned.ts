/** How far a page of a feed has looked, so that a filtered reader moves on. */
import type { FeedQuery } from "@bursar/engine-core/ports"

/** A full page was scanned to its last record, any other to the end of the feed. */
export const scannedTo = (
  query: Pick<FeedQuery, "order" | "after" | "limit">,
  {
    found,
    head
  }: { readonly found: ReadonlyArray<{ readonly seq: number }>; readonly head: number }
): number => {
  const last = found[found.length - 1]
  if (last !== undefined && found.length >= query.limit) return last.seq
  if (query.limit < 1) return query.after ?? 0
  if (query.order === "asc") return Math.max(query.after ?? 0, head)
  return query.after === undefined ? Math.min(1, head) : Math.min(1, query.after)
}
