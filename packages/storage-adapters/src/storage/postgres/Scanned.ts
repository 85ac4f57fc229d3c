/** SQL of a feed's page: its conditions. */
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
