/** Lists, streams and counts the committed records that a query matches, and those not yet committed. */
import { Array as Arrays, Effect, Stream } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type { Documents } from "../ports/storage/Documents.ts"
import * as Columns from "./Columns.ts"
import { storeUnavailable } from "./PortFailure.ts"
import type { Query, Records, Stored } from "./Records.ts"
import * as StorageQuery from "./StorageQuery.ts"
import * as UnitOfWork from "./UnitOfWork.ts"
import * as Versions from "./Versions.ts"

/**
 * Rows of a stream that are decoded by the cache, as those of a page are, and the rest of the array in
 * which the last of them comes: most streams, such as a holder's payments, have no more.
 */
const cachedRows = 500

/** The members of `Records` that answer queries. */
export const make = (
  documents: Documents["Service"],
  versions: Versions.Versions
): Pick<Records["Service"], "list" | "stream" | "ids" | "countBy" | "uncommitted"> => ({
  list: Effect.fnUntraced(function* <R, F>(
    collection: Collection<R, F>,
    query: Query & { readonly limit: number }
  ) {
    const selected = yield* StorageQuery.selected(collection, query)
    const rows = yield* documents.list({ ...selected.rows, limit: query.limit })
    if (rows.length === 0) return []
    const records = yield* Versions.inSlices(versions, {
      collection,
      rows,
      judgedAt: selected.at
    })
    const listed: Array<{ readonly sortKey: string; readonly record: Stored<R> }> = []
    for (const [index, { sortKey }] of rows.entries()) {
      listed.push({ sortKey, record: records[index]! })
    }
    return listed
  }, Effect.mapError(storeUnavailable)),

  stream: <R, F>(collection: Collection<R, F>, query: Query) =>
    Stream.unwrap(
      Effect.map(StorageQuery.selected(collection, query), (selected) => {
        const isLazy = query.decoding === "as-read"
        let streamed = 0
        return documents.stream(selected.rows).pipe(
          Stream.mapArray((rows) => {
            const decode = isLazy
              ? versions.decodedLazily
              : streamed < cachedRows
                ? versions.fromRows
                : versions.decoded
            streamed += rows.length
            const records = decode(collection, rows, selected.at)
            return Arrays.map(rows, ({ sortKey }, index) => ({ sortKey, record: records[index]! }))
          }),
          Stream.mapError(storeUnavailable)
        )
      })
    ),

  ids: <R, F>(collection: Collection<R, F>, query: Query) =>
    Stream.unwrap(
      Effect.map(StorageQuery.selected(collection, query), ({ rows }) =>
        documents.stream(rows).pipe(
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
    if (collection.ripens.includes(column)) {
      return yield* Effect.die(new Error(`${collection.name}: the clock moves what is counted by`))
    }
    const { rows } = yield* StorageQuery.selected(collection, query)
    const { direction: _, ...counted } = rows
    return yield* documents.countBy({ ...counted, column })
  }, Effect.mapError(storeUnavailable)),

  uncommitted: Effect.fnUntraced(function* ({ name }, { column, anyOf }) {
    const drafts = UnitOfWork.draftsOf(yield* UnitOfWork.within, name)
    if (drafts.length === 0) return []
    const values = new Set<string | null | undefined>(anyOf)
    const found = drafts.filter(({ collection, record }) =>
      values.has(Columns.of(collection, record)[column])
    )
    return [...new Set(found.map(({ recordId }) => recordId))]
  })
})
