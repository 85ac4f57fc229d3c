/** Keyset pages of a list, from wherever its rows come: one collection, several, or computed from keys. */
import { Effect, Option, Stream } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type { StoreColumns } from "../kernel/Collection.ts"
import * as JsonPrinter from "../kernel/JsonPrinter.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Query, Records } from "../records/Records.ts"
import * as MergedPages from "./MergedPages.ts"
import type { WithMemo } from "./Prepared.ts"
import type { ReadContext, List } from "./Read.ts"

/** A list as a caller asks for it. */
interface Source<R, F, P, V> {
  readonly read: List<R, F, P, V>
  readonly records: Pick<Records["Service"], "list" | "stream">
  readonly asking: ReadContext
  readonly params: P
  readonly withMemo: WithMemo
}

/** Version and times of a row that is computed; one that shows a stored record keeps those of the record. */
const unstored: StoreColumns = {
  version: 0,
  createdAt: Instant.fromNanos(0n),
  updatedAt: Instant.fromNanos(0n)
}

/** Rows that are computed together while a whole list is streamed, where the list says no other number. */
const stepMax = 500

/** At most `limit` rows in the order of their sort keys. */
export const page = <R, F, P, V>(
  { read, records, asking, params, withMemo }: Source<R, F, P, V>,
  query: Query & { readonly limit: number }
): Effect.Effect<ReadonlyArray<MergedPages.Row<R>>, Unavailable> => {
  const { after, limit } = query
  if (read.rows !== undefined) {
    return Effect.map(withMemo(read.rows({ after, limit }, asking, params)), (rows) =>
      rows.map(({ sortKey, row }) => ({ sortKey, record: { ...unstored, ...row } }))
    )
  }
  const collection = collectionOf(read, asking)
  return read.beside === undefined
    ? records.list(collection, query)
    : MergedPages.page(records, [collection, ...read.beside], query)
}

/** Returns the collection that the caller's role reads. */
const collectionOf = <R, F, P, V>(read: List<R, F, P, V>, { role }: Pick<ReadContext, "role">) =>
  read.collectionFor?.(role) ?? read.collection

/** Streams all rows in the order of their sort keys, in constant memory. */
export const stream = <R, F, P, V>(
  source: Source<R, F, P, V>,
  query: Query
): Stream.Stream<MergedPages.Row<R>, Unavailable> => {
  const { read, records, asking } = source
  if (read.rows !== undefined) {
    const step = read.rowsAtOnce ?? stepMax
    return Stream.paginate(query.after, (after) =>
      Effect.map(
        page(source, { ...query, ...(after === undefined ? {} : { after }), limit: step }),
        (rows) =>
          [
            rows,
            rows.length === step ? Option.fromNullishOr(rows.at(-1)?.sortKey) : Option.none()
          ] as const
      )
    )
  }
  const collection = collectionOf(read, asking)
  return read.beside === undefined
    ? records.stream(collection, {
        ...query,
        ...(JsonPrinter.isMostly(read.item, collection.record) ? { decoding: "as-read" } : {})
      })
    : MergedPages.stream(records, [collection, ...read.beside], query)
}
