/** Cache of decoded record versions, and the ripening of a version by the clock of its reader. */
import { Effect } from "effect"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
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

export interface Versions {
  /**
   * The record of a row as of an instant, from the cache where it is there. Every read of a version
   * that no clock move is due for returns the same value, so its view may be memoised.
   */
  readonly fromRow: <R, F>(
    collection: Collection.Collection<R, F>,
    row: StoredVersion,
    judgedAt: Instant.Instant
  ) => Stored<R>
  /** Decodes a row without the cache: the rows of a long stream would evict what pages need. */
  readonly decoded: <R, F>(
    collection: Collection.Collection<R, F>,
    row: StoredVersion,
    judgedAt: Instant.Instant
  ) => Stored<R>
  /** As `decoded`; each member is decoded when it is first read. */
  readonly decodedLazily: Versions["decoded"]
  /** Decodes a row without the cache, as it was stored: no clock move is applied. */
  readonly unripe: <R, F>(collection: Collection.Collection<R, F>, row: StoredVersion) => Stored<R>
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

  return {
    ripened,
    unripened: <R>(record: Stored<R>) =>
      sources.get(record as object) as UnripenedRecord<R> | undefined,
    unripe: decode,
    decoded: (collection, row, judgedAt) => ripened(collection, decode(collection, row), judgedAt),
    decodedLazily: (collection, row, judgedAt) =>
      ripened(
        collection,
        Codecs.of(collection).decodeLazily(row.body, row) ?? decode(collection, row),
        judgedAt
      ),
    fromRow: <R, F>(
      collection: Collection.Collection<R, F>,
      row: StoredVersion,
      judgedAt: Instant.Instant
    ) => {
      const key = `${collection.name}/${row.recordId}/${row.version}`
      const cached = cache.get(key) as Stored<R> | undefined
      const stored = cached ?? decode(collection, row)
      if (cached === undefined) {
        RecordView.keep(stored)
        cache.set(key, stored)
      }
      return ripened(collection, stored, judgedAt)
    }
  }
}

/** Number of rows that are decoded between two turns of the event loop. */
const sliceRows = 100

/**
 * Records of rows, decoded in slices: the event loop has a turn after each, so that a page of the
 * largest size does not keep every other request waiting.
 */
export const fromRows = Effect.fnUntraced(function* <R, F>(
  versions: Pick<Versions, "fromRow">,
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
    for (const row of rows.slice(start, start + sliceRows)) {
      records.push(versions.fromRow(collection, row, judgedAt))
    }
  }
  return records
})

const decode = <R, F>(collection: Collection.Collection<R, F>, row: StoredVersion): Stored<R> => {
  const createdAt = Instant.of(row.createdAt)
  return {
    ...Codecs.of(collection).decodeRecord(row.body),
    version: row.version,
    createdAt,
    // Equal texts of a first version, of which one is read.
    updatedAt: row.fromInstant === row.createdAt ? createdAt : Instant.of(row.fromInstant)
  }
}

interface Lru<A> {
  readonly get: (key: string) => A | undefined
  readonly set: (key: string, value: A) => void
}

/** LRU cache of immutable values. */
export const lru = <A>(limit: number): Lru<A> => {
  const kept = new Map<string, A>()
  // An iterator that stays: a new one would first pass over the places of all that was evicted before.
  const oldestFirst = kept.keys()
  return {
    get: (key) => {
      const value = kept.get(key)
      if (value === undefined) return undefined
      kept.delete(key)
      kept.set(key, value)
      return value
    },
    set: (key, value) => {
      kept.set(key, value)
      if (kept.size > limit) {
        const oldest = oldestFirst.next().value
        if (oldest !== undefined) kept.delete(oldest)
      }
    }
  }
}
