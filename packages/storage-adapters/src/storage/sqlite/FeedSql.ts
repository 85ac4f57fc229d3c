/** SQL of a page of the event feed or of the audit log, whose rows are `e`. */
import type { FeedQuery } from "@bursar/engine-core/ports"
import type { Value } from "./Database.ts"
import * as Parameters from "./Parameters.ts"

/** Members common to the queries of all feeds. */
type PageQuery = Pick<
  FeedQuery,
  "order" | "after" | "limit" | "resourceKind" | "resourceId" | "from" | "to"
>

export const page = (query: PageQuery) => {
  const { add, values } = Parameters.make()
  const all = ["1"]
  const anyOf = (column: string, wanted: ReadonlyArray<string> | undefined): void => {
    if (wanted === undefined) return
    all.push(`e.${column} in (select value from json_each(${add(JSON.stringify(wanted))}))`)
  }
  const is = (condition: string, value: string | undefined): void => {
    if (value !== undefined) all.push(`e.${condition} ${add(value)}`)
  }
  if (query.after !== undefined) {
    all.push(`e.seq ${query.order === "asc" ? ">" : "<"} ${add(query.after)}`)
  }
  anyOf("resource_kind", query.resourceKind)
  is("resource_id =", query.resourceId)
  is("at >=", query.from)
  is("at <", query.to)
  return {
    anyOf,
    is,
    /** Source of the events of a holder, whose index is the one that is read. */
    ofHolder: (holderId: string): string =>
      `event_holder h cross join event e on h.holder_id = ${add(holderId)} and e.seq = h.seq`,
    /** Page of a source; its numbers are those of `numbered`. */
    done: ({
      from,
      numbered = "e"
    }: {
      readonly from: string
      readonly numbered?: "e" | "h"
    }): { readonly sql: string; readonly values: Readonly<Record<string, Value>> } => ({
      sql: `select e.* from ${from} where ${all.join(" and ")}
        order by ${numbered}.seq ${query.order} limit ${add(Math.max(0, query.limit))}`,
      values
    })
  }
}
