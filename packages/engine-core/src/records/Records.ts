/** Repository of the records of every collection: loads, lists and writes them in transactions. */
import { Context, type Effect, type Option, type Stream } from "effect"
import type { Entry, Late } from "./Audit.ts"
import type { Announcement } from "../kernel/Announcement.ts"
import type { Collection, StoreColumns } from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import type * as Offset from "../kernel/Offset.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import type { WorkItem } from "../ports/storage/WorkQueue.ts"
import type { Act } from "./Act.ts"
import type { SearchIndex } from "./SearchIndex.ts"
import type { WaitIndex } from "./WaitIndex.ts"

/** A record with its version, and the times of its creation and last change. */
export type Stored<R> = R & StoreColumns

/** A range of a filter column's texts, compared by code unit: from ≤ value < to. */
export interface Range {
  readonly from?: string
  readonly to?: string
}

/** Filter, order and point of a list of records. */
export interface Query {
  /** The point of the read; the latest when absent. */
  readonly pin?: Pin.ResolvedPin
  /** All must hold as of the pin's judged instant; inside one column, any of the values. */
  readonly where?: Readonly<Record<string, ReadonlyArray<string>>>
  readonly ranges?: Readonly<Record<string, Range>>
  readonly updatedFrom?: Instant.Instant
  readonly updatedTo?: Instant.Instant
  readonly direction?: "asc" | "desc"
  /** Only records after this sort key. */
  readonly after?: string
  /**
   * `as-read`: a stream decodes each member of a record when it is first read, for views that print most
   * members as they are stored. A member that nothing reads is not checked against its schema.
   */
  readonly decoding?: "as-read"
}

/** Service of records: found, listed and appended to. */
export class Records extends Context.Service<
  Records,
  {
    /**
     * Runs `effect` as one transaction. What it opens, records, announces and queues is written at
     * its end under one stamp of the feed, all or nothing; an effect that fails leaves nothing. The
     * effect may run more than once, and so must only read, judge and write through ports: again
     * when another writer was first at a record (at most 16 times), and again when another member of
     * its group commit failed. A call inside another joins the outer transaction.
     */
    readonly transact: <A, E, R>(
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | Unavailable, R>
    /**
     * Runs `effect` as a transaction that shares no group commit: for long ones, which would keep the
     * other members of a group waiting.
     */
    readonly transactAlone: <A, E, R>(
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | Unavailable, R>
    /** Waits for and takes the lock of this name until the transaction ends. Only inside `transact`. */
    readonly lock: (name: string) => Effect.Effect<void, Unavailable>
    /** Runs `effect` as `transact` would and rolls back its writes: for prechecks. */
    readonly rehearse: <A, E, R>(
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | Unavailable, R>

    /** Loads the record at the pin, with the clock moves due by then; refuses `not-found`. */
    readonly get: <R, F>(
      collection: Collection<R, F>,
      id: string,
      pin?: Pin.ResolvedPin
    ) => Effect.Effect<Stored<R>, Refused<"not-found"> | Unavailable>
    readonly find: <R, F>(
      collection: Collection<R, F>,
      id: string,
      pin?: Pin.ResolvedPin
    ) => Effect.Effect<Option.Option<Stored<R>>, Unavailable>
    /** The records of these ids that exist at the pin, in no particular order. */
    readonly many: <R, F>(
      collection: Collection<R, F>,
      ids: ReadonlyArray<string>,
      pin?: Pin.ResolvedPin
    ) => Effect.Effect<ReadonlyArray<Stored<R>>, Unavailable>
    /**
     * The versions of these records that were in force at some offset of a range, both ends included,
     * each with the offset from which it was; those of one record in their order. No clock move is
     * applied. It reads committed records only.
     */
    readonly versions: <R, F>(
      collection: Collection<R, F>,
      ids: ReadonlyArray<string>,
      range: { readonly from: Offset.Offset; readonly through: Offset.Offset }
    ) => Effect.Effect<
      ReadonlyArray<{ readonly fromOffset: Offset.Offset; readonly record: Stored<R> }>,
      Unavailable
    >
    /**
     * Prefetches records of any collections in one look-up, for `find`, `get`, `many` and `open` of this
     * transaction, until the next call: for a long transaction that loads them one by one. A record
     * that this call and the one before ask for is looked up once. A version that another writer
     * makes meanwhile is noticed when the record is written. Only inside `transact`.
     */
    readonly prefetch: (
      records: ReadonlyArray<{
        readonly collection: { readonly name: string }
        readonly id: string
      }>
    ) => Effect.Effect<void, Unavailable>
    /**
     * Lists at most `limit` records in the order of the sort key. It reads committed records only:
     * writes of this transaction are visible to get, find and many.
     */
    readonly list: <R, F>(
      collection: Collection<R, F>,
      query: Query & { readonly limit: number }
    ) => Effect.Effect<
      ReadonlyArray<{ readonly sortKey: string; readonly record: Stored<R> }>,
      Unavailable
    >
    /** Streams every record that the query matches, in order, in constant memory. */
    readonly stream: <R, F>(
      collection: Collection<R, F>,
      query: Query
    ) => Stream.Stream<{ readonly sortKey: string; readonly record: Stored<R> }, Unavailable>
    /** As `stream`, the ids alone: no record is decoded. */
    readonly ids: <R, F>(
      collection: Collection<R, F>,
      query: Query
    ) => Stream.Stream<string, Unavailable>
    /**
     * The ids of records written in this transaction with any of these values in a filter column: a list
     * finds them once it has committed. Only inside `transact`.
     */
    readonly uncommitted: (
      collection: { readonly name: string },
      by: { readonly column: string; readonly anyOf: ReadonlyArray<string> }
    ) => Effect.Effect<ReadonlyArray<string>>
    /** Counts the matching records by each value of a filter column, in one look-up. */
    readonly countBy: <R, F>(
      collection: Collection<R, F>,
      column: string,
      query: Omit<Query, "after" | "direction">
    ) => Effect.Effect<ReadonlyMap<string, number>, Unavailable>
    /** The index of the acts that records wait for, by role. */
    readonly waits: WaitIndex

    /** Opens a record; refuses `already-exists` when the id is taken. Only inside `transact`. */
    readonly open: <R, F>(
      collection: Collection<R, F>,
      record: NoInfer<R>,
      act: Act
    ) => Effect.Effect<Stored<R>, Refused<"already-exists"> | Unavailable>
    /**
     * Appends a fact to the record's log and returns the record after it. Clock moves that were due
     * are appended before it as notices. Only inside `transact`.
     */
    readonly append: <R, F>(
      collection: Collection<R, F>,
      before: NoInfer<Stored<R>>,
      fact: NoInfer<F>,
      act: Act
    ) => Effect.Effect<Stored<R>, Unavailable>
    /**
     * Writes a record whole, as its next version or, without `before`, as its first: for what a snapshot
     * of the ledger says of it. Announces nothing, and refuses nothing. Only inside `transact`.
     */
    readonly restate: <R, F>(
      collection: Collection<R, F>,
      before: NoInfer<Stored<R>> | undefined,
      record: NoInfer<R>,
      act: Act
    ) => Effect.Effect<void, Unavailable>
    /**
     * Deletes records with all versions and facts, at the end of their retention; no other record may
     * refer to them. Only inside `transact`.
     */
    readonly forget: <R, F>(
      collection: Collection<R, F>,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<void, Unavailable>
    /** Announces events that follow from no fact of a record. Only inside `transact`. */
    readonly announce: (announcements: ReadonlyArray<Announcement>) => Effect.Effect<void>
    /** Queues work that starts once the transaction is committed. Only inside `transact`. */
    readonly enqueue: (items: ReadonlyArray<WorkItem>) => Effect.Effect<void>
    /**
     * Runs an effect after the transaction has committed, and never after a rollback: for metrics and
     * logs. A crash in between loses it.
     */
    readonly whenCommitted: (effect: Effect.Effect<void>) => Effect.Effect<void>
    /** Logs acts in the audit log, under this transaction's stamp. Only inside `transact`. */
    readonly audit: (entries: ReadonlyArray<Entry | Late>) => Effect.Effect<void>
    /** Terms by which the latest records are searched; no point of the past has any. */
    readonly search: SearchIndex
  }
>()("@bursar/engine-core/records/Records") {}
