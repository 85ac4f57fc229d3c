/**
 * SQL of a feed's page: conditions, and the last number scanned, so that a filtered reader moves
 * on.
 */
import type { FeedQuery } from "@bursar/engine-core/ports"
import * as Values from "./Values.ts"

/** Members that the queries of all feeds share. */
type Asked = Pick<
  FeedQuery,
  "order" | "after" | "limit" | "resourceKind" | "resourceId" | "from" | "to"
>

/** The conditions of a page: those of every feed, and those that its own columns add. */
export const asking = (query: Asked) => {
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
      // The second half is the partial index's own condition.
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
