/** Cache of decoded record versions, and the ripening of a version by the clock of its reader. */
import { Effect } from "effect"
import * as Collection from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { StoredVersion } from "../ports/storage/Documents.ts"
import * as Codecs from "./Codecs.ts"
import * as RecordView from "./RecordView.ts"
import type { Stored } from "./Records.ts"

/** Size of the cache of decoded versions; a version never changes, so no entry is ever stale. */
const cacheMax = 10_000

/** The stored record that a ripened one was made of, and the instant it was ripened at. */
export interface UnripenedRecord<R> {
  readonly stored: R
  readonly at: Instant.Instant
}

/** Decodes rows of a collection to the records that they are as of an instant. */
type DecodeRows = <R, F>(
  collection: Collection.Collection<R, F>,
  rows: ReadonlyArray<StoredVersion>,
  judgedAt: Instant.Instant
) => ReadonlyArray<Stored<R>>

export interface Versions {
  /**
   * The records of rows as of an instant, from the cache where they are there. Every read of a version
   * that no clock move is due for returns the same value, so its view may be memoised.
   */
  readonly fromRows: DecodeRows
  /** Decodes rows without the cache: the rows of a long stream would evict what pages need. */
  readonly decoded: DecodeRows
  /** As `decoded`; each member is decoded when it is first read. */
  readonly decodedLazily: DecodeRows
  /** Applies the clock moves due at an instant; returns the same value where none is due. */
  readonly ripened: <R, F>(
    collection: Collection.Collection<R, F>,
    stored: Stored<R>,
    judgedAt: Instant.Instant
  ) => Stored<R>
  /** The stored record behind one that `ripened` has changed; undefined for any other. */
  readonly unripened: <R>(record: Stored<R>) => UnripenedRecord<R> | undefined
}

export const make = (): Versions => {
  const cache = lru<unknown>(cacheMax)
  const sources = new WeakMap<object, UnripenedRecord<unknown>>()

  const ripened: Versions["ripened"] = <R, F>(
    collection: Collection.Collection<R, F>,
    stored: Stored<R>,
    judgedAt: Instant.Instant
  ): Stored<R> => {
    const ripe = Collection.ripen(collection, stored as R, judgedAt)
    if (ripe === (stored as R)) return stored
    const { version, createdAt, updatedAt } = stored
    const changed = { ...ripe, version, createdAt, updatedAt } as Stored<R>
    sources.set(changed as object, { stored, at: judgedAt })
    return changed
  }

  /** The stored records of rows, in their order: those that are not in the cache are decoded together. */
  const storedOf = <R, F>(
    collection: Collection.Collection<R, F>,
    rows: ReadonlyArray<StoredVersion>
  ): ReadonlyArray<Stored<R>> => {
    const keys = rows.map((row) => `${collection.name}/${row.recordId}/${row.version}`)
    const found = keys.map((key) => cache.get(key) as Stored<R> | undefined)
    const missing = rows.filter((_, index) => found[index] === undefined)
    if (missing.length === 0) return found as ReadonlyArray<Stored<R>>
    const decoded = Codecs.of(collection).decodeRows(missing)
    RecordView.keep(decoded)
    let next = 0
    return found.map((record, index) => {
      if (record !== undefined) return record
      const stored = decoded[next++]!
      cache.set(keys[index]!, stored)
      return stored
    })
  }

  return {
    ripened,
    unripened: <R>(record: Stored<R>) =>
      sources.get(record as object) as UnripenedRecord<R> | undefined,
    fromRows: (collection, rows, judgedAt) =>
      storedOf(collection, rows).map((stored) => ripened(collection, stored, judgedAt)),
    decoded: (collection, rows, judgedAt) =>
      Codecs.of(collection)
        .decodeRows(rows)
        .map((stored) => ripened(collection, stored, judgedAt)),
    decodedLazily: <R, F>(
      collection: Collection.Collection<R, F>,
      rows: ReadonlyArray<StoredVersion>,
      judgedAt: Instant.Instant
    ) => {
      const codecs = Codecs.of(collection)
      return rows.map((row) => {
        const stored = codecs.decodeLazily(row.body, row) ?? codecs.decodeRows([row])[0]!
        return ripened(collection, stored, judgedAt)
      })
    }
  }
}

/** Number of rows that are decoded between two turns of the event loop. */
const sliceRows = 100

/**
 * Records of rows, decoded in slices: the event loop has a turn after each, so that a page of the
 * largest size does not keep every other request waiting.
 */
export const inSlices = Effect.fnUntraced(function* <R, F>(
  versions: Pick<Versions, "fromRows">,
  {
    collection,
    rows,
    judgedAt
  }: {
    readonly collection: Collection.Collection<R, F>
    readonly rows: ReadonlyArray<StoredVersion>
    readonly judgedAt: Instant.Instant
  }
) {
  const records: Array<Stored<R>> = []
  for (let start = 0; start < rows.length; start += sliceRows) {
    if (start > 0) yield* Effect.yieldNow
    records.push(...versions.fromRows(collection, rows.slice(start, start + sliceRows), judgedAt))
  }
  return records
})

interface Lru<A> {
  readonly get: (key: string) => A | undefined
  readonly set: (key: string, value: A) => void
}

/** LRU cache of immutable values. */
export const lru = <A>(limit: number): Lru<A> => {
  const entries = new Map<string, A>()
  // An iterator that stays: a new one would first pass over the places of all that was evicted before.
  const oldestFirst = entries.keys()
  return {
    get: (key) => {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set: (key, value) => {
      entries.set(key, value)
      if (entries.size > limit) {
        const oldest = oldestFirst.next().value
        if (oldest !== undefined) entries.delete(oldest)
      }
    }
  }
}
