/**
 * SQL of a feed's page: conditions, and the last number scanned, so that a filtered reader
 * advances.
 */
import type { FeedQuery } from "@bursar/engine-core/ports"
import * as Values from "./Values.ts"

/** Members common to the queries of all feeds. */
type PageQuery = Pick<
  FeedQuery,
  "order" | "after" | "limit" | "resourceKind" | "resourceId" | "from" | "to"
>

/** Conditions of a page: those of every feed, and those of its own columns. */
export const asking = (query: PageQuery) => {
  const values: Array<unknown> = []
  const add = (value: unknown): string => `$${values.push(value)}`
  const all = ["true"]
  const anyOf = (column: string, wanted: ReadonlyArray<string> | undefined): void => {
    if (wanted !== undefined) all.push(`${column} = any (${add(Values.texts(wanted))}::text[])`)
  }
  const is = (condition: string, value: string | undefined): void => {
    if (value !== undefined) all.push(`${condition} ${add(value)}`)
  }
  const holds = (column: string, value: string | undefined): void => {
    if (value !== undefined) {
      // The second half repeats the condition of the partial index.
      all.push(`${column} @> array[${add(value)}::text] and ${column} <> '{}'`)
    }
  }
  if (query.after !== undefined) {
    all.push(`seq ${query.order === "asc" ? ">" : "<"} ${add(String(query.after))}::int8`)
  }
  anyOf("resource_kind", query.resourceKind)
  is("resource_id =", query.resourceId)
  is("at >=", query.from)
  is("at <", query.to)
  return {
    anyOf,
    is,
    holds,
    done: () => ({
      where: all.join(" and "),
      limit: `${add(String(query.limit))}::int8`,
      values
    })
  }
}

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
