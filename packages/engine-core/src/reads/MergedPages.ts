/** Merge of several collections' keyset pages into one ordered list. */
import { Effect, Option, Stream } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Query, Records, Stored } from "../records/Records.ts"

/** The part of the repository that a merge needs. */
type Listing = Pick<Records["Service"], "list">

export interface Row<R> {
  readonly sortKey: string
  readonly record: Stored<R>
}

/** Records that are looked up together while a whole list is streamed. */
const step = 500

/**
 * At most `limit` records of all these collections in the order of their sort keys, which no two of
 * them share: the query holds in each of them.
 */
export const page = <R, F>(
  records: Listing,
  collections: ReadonlyArray<Collection<R, F>>,
  query: Query & { readonly limit: number }
): Effect.Effect<ReadonlyArray<Row<R>>, Unavailable> =>
  Effect.map(
    Effect.forEach(collections, (collection) => records.list(collection, query), {
      concurrency: "unbounded"
    }),
    (found) => {
      const forwards = query.direction !== "desc"
      return found
        .flat()
        .toSorted((a, b) => (a.sortKey < b.sortKey === forwards ? -1 : 1))
        .slice(0, query.limit)
    }
  )

/** Streams the merged list a page at a time; the pin of the query keeps the pages consistent. */
export const stream = <R, F>(
  records: Listing,
  collections: ReadonlyArray<Collection<R, F>>,
  query: Query
): Stream.Stream<Row<R>, Unavailable> =>
  Stream.paginate(query.after, (after) =>
    Effect.map(
      page(records, collections, {
        ...query,
        ...(after === undefined ? {} : { after }),
        limit: step
      }),
      (rows) =>
        [
          rows,
          rows.length === step ? Option.fromNullishOr(rows.at(-1)?.sortKey) : Option.none()
        ] as const
    )
  )
