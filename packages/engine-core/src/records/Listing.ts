/** Lists, streams and counts the committed records that a query matches. */
import { Effect, Stream } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type { Documents } from "../ports/storage/Documents.ts"
import { judgedAt } from "./Loading.ts"
import { orUnavailable, storeUnavailable } from "./PortFailure.ts"
import type { Query, Records } from "./Records.ts"
import * as StorageQuery from "./StorageQuery.ts"
import * as Versions from "./Versions.ts"

/**
 * Rows of a stream that are decoded by the cache, as those of a page are: most streams, such as a
 * holder's payments, have no more.
 */
const cachedRows = 500

/** The members of `Records` that answer queries. */
export const make = (
  documents: Documents["Service"],
  versions: Versions.Versions
): Pick<Records["Service"], "list" | "stream" | "ids" | "countBy"> => ({
  list: Effect.fnUntraced(function* <R, F>(
    collection: Collection<R, F>,
    query: Query & { readonly limit: number }
  ) {
    const at = yield* judgedAt(query.pin)
    const rows = yield* documents.list({
      ...StorageQuery.of(collection, query, at),
      limit: query.limit
    })
    const records = yield* Versions.fromRows(versions, { collection, rows, judgedAt: at })
    return records.map((record, index) => ({ sortKey: rows[index]!.sortKey, record }))
  }, orUnavailable),

  stream: <R, F>(collection: Collection<R, F>, query: Query) =>
    Stream.unwrap(
      Effect.map(judgedAt(query.pin), (at) => {
        const decodes = query.decoding === "as-read" ? versions.decodedLazily : versions.decoded
        const decodesFirst = query.decoding === "as-read" ? decodes : versions.fromRow
        let rows = 0
        return documents.stream(StorageQuery.of(collection, query, at)).pipe(
          Stream.map((row) => ({
            sortKey: row.sortKey,
            record: (++rows > cachedRows ? decodes : decodesFirst)(collection, row, at)
          })),
          Stream.mapError(storeUnavailable)
        )
      })
    ),

  ids: <R, F>(collection: Collection<R, F>, query: Query) =>
    Stream.unwrap(
      Effect.map(judgedAt(query.pin), (at) =>
        documents.stream(StorageQuery.of(collection, query, at)).pipe(
          Stream.map(({ recordId }) => recordId),
          Stream.mapError(storeUnavailable)
        )
      )
    ),

  countBy: Effect.fnUntraced(function* <R, F>(
    collection: Collection<R, F>,
    column: string,
    query: Omit<Query, "after" | "direction">
  ) {
    const at = yield* judgedAt(query.pin)
    if (collection.ripens.includes(column)) {
      return yield* Effect.die(new Error(`${collection.name}: the clock moves what is counted by`))
    }
    const { direction: _, ...asked } = StorageQuery.of(collection, query, at)
    return yield* documents.countBy({ ...asked, column })
  }, orUnavailable)
})
