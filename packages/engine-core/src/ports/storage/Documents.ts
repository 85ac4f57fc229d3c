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
  /** The waits of this version; absent: those of the version that it closes go on, if there are any. */
  readonly waits?: VersionWaits
}

/**
 * A wait of a record: an act that a role must do, over a span of the clock. The rows of all records
 * together are the index from which the list of waiting records is read.
 */
export interface WaitRow {
  readonly role: string
  readonly action: string
  readonly resourceKind: string
  readonly state: string | null
  readonly instrumentId: string | null
  readonly holderId: string | null
  /** Deadline (sortable text); null: none, which sorts last. */
  readonly by: string | null
  /** Last part of the row's sort key, after deadline and beginning; it makes the key unique. */
  readonly tie: string
  /** First instant of the clock for which the row counts (sortable text); null: from ever. */
  readonly from: string | null
  /** Instant from which the row counts no longer (sortable text); null: for ever. */
  readonly until: string | null
  /**
   * Instant at which a clock move begins the wait (sortable text); null: it began when the record began
   * to wait for this act of this role, which the store continues from the rows of the version before.
   */
  readonly since: string | null
  /** Condition that must hold, or must not, for the row to count; null: it always counts. */
  readonly condition: { readonly key: string; readonly holds: boolean } | null
  /** Subjects from whose own lists the row is left out. */
  readonly hiddenFrom: ReadonlyArray<string>
  /** JSON text of what a list shows of the row besides. */
  readonly body: string
}

/** Keeper of a collection's records: by its point a pin selects their versions. */
export type KeptBy = "ledger" | "engine" | "own"

/** The waits of a version. */
export interface VersionWaits {
  readonly keptBy: KeptBy
  /** False: the version that it closes has no waits, or it closes none. */
  readonly follow: boolean
  readonly rows: ReadonlyArray<WaitRow>
}

/** Wait of a record, as the storage has it. */
export interface StoredWait
  extends Omit<WaitRow, "from" | "until" | "since" | "tie" | "condition" | "hiddenFrom"> {
  /** Deadline, beginning and tie: unique, and its order is that of the list. */
  readonly sortKey: string
  readonly since: string
}

/** Sort key of a wait: by deadline, none last, then by beginning, then by tie. */
export const waitSortKey = ({
  by,
  since,
  tie
}: Pick<WaitRow, "by" | "tie"> & { readonly since: string }): string =>
  `${by ?? "~"} ${since} ${tie}`

/** Filter and point of the waits of records. */
export interface WaitQuery {
  /** Point of the records of each keeper; the records of one that is left out are left out. */
  readonly pins: { readonly [K in KeptBy]?: StoredPin }
  /** Instant of the clock for which rows must count (sortable text). */
  readonly judgedAt: string
  /** Roles, each with a kind of record: a row must be of one of these pairs. */
  readonly audience: ReadonlyArray<{ readonly role: string; readonly resourceKind: string }>
  readonly where: ReadonlyArray<{
    readonly column: "action" | "state" | "instrumentId" | "holderId"
    readonly anyOf: ReadonlyArray<string>
  }>
  /** True: only rows whose deadline is not after `judgedAt`; false: only the others. */
  readonly overdue?: boolean
  /** Rows that are hidden from this subject are left out. */
  readonly subject: string
  /** Keys of the conditions that hold; all others do not. */
  readonly conditions: ReadonlyArray<string>
}

/** Waits of one role and kind of record, counted. */
export interface WaitCount {
  readonly role: string
  readonly resourceKind: string
  /** Rows, at most as many as were to be counted. */
  readonly waiting: number
  /** Counted rows whose deadline is not after the instant. */
  readonly overdue: number
  /** Earliest deadline; null: none of the rows has one. */
  readonly by: string | null
}

/** A version of a record of any point, and where it ends. */
export interface PastVersion extends StoredVersion {
  readonly toOffset: number | null
  readonly toInstant: string | null
}

/** A wait with the points between which it counts, for records that were written before the index. */
export interface FilledWait extends Omit<WaitRow, "since"> {
  readonly recordId: string
  readonly since: string
  readonly fromOffset: number
  readonly fromInstant: string
  readonly toOffset: number | null
  readonly toInstant: string | null
}

/** Mark of a store whose index of waits has had every record from its first one on. */
export const everyWait = "*:1"

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
    /**
     * At most `limit` waits in the order of their sort keys. A row counts from the version that was put
     * with it to the first one of its record that was put with waits, and without an equal one.
     */
    readonly waits: (
      query: WaitQuery & { readonly after?: string; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<StoredWait>, StorageUnavailable>
    /** Counts the matching waits by role and kind, at most `most` of each pair, earliest deadlines first. */
    readonly countWaits: (
      query: WaitQuery & { readonly most: number }
    ) => Effect.Effect<ReadonlyArray<WaitCount>, StorageUnavailable>
    /** The keys of the conditions of waits at the points of a query, each once. */
    readonly waitConditions: (
      query: Pick<WaitQuery, "pins">
    ) => Effect.Effect<ReadonlyArray<string>, StorageUnavailable>
    /** Marks of what the index of waits has been filled with, such as `everyWait`. */
    readonly waitMarks: Effect.Effect<ReadonlyArray<string>, StorageUnavailable>
    /** Adds a mark, within the caller's transaction. */
    readonly markWaits: (mark: string) => Effect.Effect<void, StorageUnavailable>
    /**
     * Every version of the next `limit` records of a collection after an id, those of one record in their
     * order, whatever their length. Within a transaction that has taken the head no version is added.
     */
    readonly history: (page: {
      readonly collection: string
      readonly after: string
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<PastVersion>, StorageUnavailable>
    /** Replaces all waits of these records, within the caller's transaction. */
    readonly fillWaits: (fill: {
      readonly collection: string
      readonly keptBy: KeptBy
      readonly recordIds: ReadonlyArray<string>
      readonly rows: ReadonlyArray<FilledWait>
    }) => Effect.Effect<void, StorageUnavailable>
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
