/**
 * Port: versioned documents. Every version of every record, valid from one offset and instant to
 * the next, and lists over them.
 */
import { Context, type Effect, type Stream } from "effect"
import type { StorageUnavailable } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** A version to write. It closes the record's open version at its own `from`. */
export interface VersionRow {
  readonly collection: string
  readonly recordId: string
  readonly version: number
  /** The version that this one closes; 0 for the first one of its record. */
  readonly closes: number
  /** The record as JSON text, without the columns beside it here. */
  readonly body: string
  /**
   * Sort key of the collection's lists: plain text compared by code unit, unique in the collection, and
   * the same in every version of the record.
   */
  readonly sortKey: string
  /** The columns lists filter by; null does not match any value. */
  readonly filters: Readonly<Record<string, string | null>>
  /** Instant at which the record's first version was recorded (sortable text). */
  readonly createdAt: string
  /** The first projection offset at which this version is valid. */
  readonly fromOffset: number
  /**
   * The recorded instant from which this version is valid (sortable text): its `updatedAt`. MUST be
   * the stamp of the head that its transaction took, so that it is after every answer given before.
   */
  readonly fromInstant: string
}

/** Selection of one version of a record. */
export type StoredPin =
  | { readonly by: "latest" }
  /** The version with fromOffset ≤ offset < toOffset. */
  | { readonly by: "offset"; readonly offset: number }
  /** The version with fromInstant ≤ instant < toInstant (sortable text). */
  | { readonly by: "instant"; readonly instant: string }

/** Version of a record, as the storage has it. */
export interface StoredVersion {
  readonly recordId: string
  readonly version: number
  readonly body: string
  readonly sortKey: string
  readonly createdAt: string
  readonly fromOffset: number
  readonly fromInstant: string
}

/** Condition on one filter column; texts are compared by code unit. */
export type Clause =
  /** The column is one of these values; null matches none. */
  | { readonly column: string; readonly anyOf: ReadonlyArray<string> }
  | {
      readonly column: string
      readonly is: "before" | "at-most" | "from" | "after"
      readonly than: string
      /** `pass`: a null column matches. */
      readonly nulls: "fail" | "pass"
    }

/** Disjunction: holds where all clauses of at least one alternative hold. */
export type Alternatives = ReadonlyArray<ReadonlyArray<Clause>>

/** Collection, filter, order and point of a list of records. */
export interface ListQuery {
  readonly collection: string
  readonly pin: StoredPin
  /** All must hold; inside one, any of the values. */
  readonly where: ReadonlyArray<{ readonly column: string; readonly anyOf: ReadonlyArray<string> }>
  /** All must hold: ranges of a column, and states that the clock changes by itself. */
  readonly meets?: ReadonlyArray<Alternatives>
  /** updatedFrom ≤ fromInstant of the version (sortable text). */
  readonly updatedFrom?: string
  /** fromInstant of the version < updatedTo (sortable text). */
  readonly updatedTo?: string
  readonly direction: "asc" | "desc"
  /** Only records strictly after this sort key in `direction`. */
  readonly after?: string
}

/** Port of records and their versions. */
export class Documents extends Context.Service<
  Documents,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    /**
     * Writes versions: closes each record's open version at (fromOffset, fromInstant) and opens the
     * new one. A version that does not close the open one is a defect (so is a first version of a
     * record that has one), and so is one whose number is not greater, that has another sort key, or
     * that begins at an earlier offset or instant. One call may hold several versions of one record, in order: each closes the
     * one before it, possibly at the same offset or instant (an empty range, which no pin selects).
     * Validity ranges of one record never overlap and leave no gap.
     */
    readonly put: (rows: ReadonlyArray<VersionRow>) => Effect.Effect<void, StorageUnavailable>
    /** The versions of these records at the pin; a record that did not exist then is left out. */
    readonly get: (lookup: {
      readonly collection: string
      readonly recordIds: ReadonlyArray<string>
      readonly pin: StoredPin
    }) => Effect.Effect<ReadonlyArray<StoredVersion>, StorageUnavailable>
    /**
     * The versions of these records that were in force at some offset from `from` to `through`, both
     * included; those of one record in their order. A version that ended where it began never was.
     */
    readonly versions: (range: {
      readonly collection: string
      readonly recordIds: ReadonlyArray<string>
      readonly from: number
      readonly through: number
    }) => Effect.Effect<ReadonlyArray<StoredVersion>, StorageUnavailable>
    /** At most `limit` versions in the order of the sort key. */
    readonly list: (
      query: ListQuery & { readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<StoredVersion>, StorageUnavailable>
    /** Every version the query matches, in order, in constant memory and from one snapshot. */
    readonly stream: (query: ListQuery) => Stream.Stream<StoredVersion, StorageUnavailable>
    /**
     * Counts the matching records for each value of `column` that occurs, in one statement. A record whose
     * column is null is not counted.
     */
    readonly countBy: (
      query: Omit<ListQuery, "after" | "direction"> & { readonly column: string }
    ) => Effect.Effect<ReadonlyMap<string, number>, StorageUnavailable>
    /** Deletes every version of these records, within the caller's transaction, when retention ends. */
    readonly forget: (records: {
      readonly collection: string
      readonly recordIds: ReadonlyArray<string>
    }) => Effect.Effect<void, StorageUnavailable>
    /**
     * Deletes versions of this collection that ended at or before the offset, at most `limit`;
     * answers how many. No pin at or after it sees a difference.
     */
    readonly prune: (deletion: {
      readonly collection: string
      readonly through: number
      readonly limit: number
    }) => Effect.Effect<number, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/Documents") {}
