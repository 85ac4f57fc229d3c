/** The typed repository of every collection: get, list, open and record, one transaction at a time. */
import { Context, type Effect, type Option, type Stream } from "effect"
import type { Entry, Late } from "./Audit.ts"
import type { Announcement } from "../kernel/Announcement.ts"
import type { Collection, Kept } from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import type { WorkItem } from "../ports/storage/WorkQueue.ts"
import type { Act } from "./Act.ts"

/** A record and what the store keeps beside it. */
export type Stored<R> = R & Kept

/** A range of a filter column's texts, compared by code unit: from ≤ value < to. */
export interface Range {
  readonly from?: string
  readonly to?: string
}

export interface Query {
  /** The point of the read; the latest when absent. */
  readonly pin?: Pin.Resolved
  /** All must hold as of the pin's judged instant; inside one column, any of the values. */
  readonly where?: Readonly<Record<string, ReadonlyArray<string>>>
  readonly ranges?: Readonly<Record<string, Range>>
  readonly updatedFrom?: Instant.Instant
  readonly updatedTo?: Instant.Instant
  readonly direction?: "asc" | "desc"
  /** Only records after this sort key. */
  readonly after?: string
}

export class Records extends Context.Service<
  Records,
  {
    /**
     * Runs `effect` as one transaction. What it opens, records, announces and queues is written at
     * its end under one stamp of the feed, all or nothing; an effect that fails leaves nothing. The
     * effect may run more than once, and so does nothing but read, judge and write through ports:
     * again when another writer was first at a record (at most 16 times), and again when somebody
     * it shared a transaction with failed. A call inside another joins it.
     */
    readonly transact: <A, E, R>(
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | Unavailable, R>
    /**
     * The same, in a transaction of its own. `transact` shares one with whoever writes at the same
     * time; a long one would keep the others waiting.
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

    /** The record as it stands at the pin, ripened by its clock; refuses `not-found`. */
    readonly get: <R, F>(
      collection: Collection<R, F>,
      id: string,
      pin?: Pin.Resolved
    ) => Effect.Effect<Stored<R>, Refused<"not-found"> | Unavailable>
    readonly find: <R, F>(
      collection: Collection<R, F>,
      id: string,
      pin?: Pin.Resolved
    ) => Effect.Effect<Option.Option<Stored<R>>, Unavailable>
    /** The records of these ids that exist at the pin, in no particular order. */
    readonly many: <R, F>(
      collection: Collection<R, F>,
      ids: ReadonlyArray<string>,
      pin?: Pin.Resolved
    ) => Effect.Effect<ReadonlyArray<Stored<R>>, Unavailable>
    /**
     * Reads these records with few look-ups, for `find`, `get`, `many` and `open` to find until the
     * next call: for whoever knows what a long transaction will ask for one by one. What another
     * writer does meanwhile is found out when the record is written. Only inside `transact`.
     */
    readonly prefetch: (
      records: ReadonlyArray<{
        readonly collection: { readonly name: string }
        readonly id: string
      }>
    ) => Effect.Effect<void, Unavailable>
    /**
     * At most `limit` records in the order of the sort key. It reads what is committed: what this
     * transaction wrote itself is seen by get, find and many only.
     */
    readonly list: <R, F>(
      collection: Collection<R, F>,
      query: Query & { readonly limit: number }
    ) => Effect.Effect<
      ReadonlyArray<{ readonly sortKey: string; readonly record: Stored<R> }>,
      Unavailable
    >
    /** Every record the query matches, in order, in constant memory. */
    readonly stream: <R, F>(
      collection: Collection<R, F>,
      query: Query
    ) => Stream.Stream<{ readonly sortKey: string; readonly record: Stored<R> }, Unavailable>
    /**
     * The ids of what this transaction has written itself and a list by this column will find once it
     * is committed. Only inside `transact`.
     */
    readonly uncommitted: (
      collection: { readonly name: string },
      by: { readonly column: string; readonly value: string }
    ) => Effect.Effect<ReadonlyArray<string>>
    /** How many records match for each value of a filter column; one look-up. */
    readonly countBy: <R, F>(
      collection: Collection<R, F>,
      column: string,
      query: Omit<Query, "after" | "direction">
    ) => Effect.Effect<ReadonlyMap<string, number>, Unavailable>

    /** Makes a record; refuses `already-exists` when the id is taken. Only inside `transact`. */
    readonly open: <R, F>(
      collection: Collection<R, F>,
      record: NoInfer<R>,
      act: Act
    ) => Effect.Effect<Stored<R>, Refused<"already-exists"> | Unavailable>
    /**
     * The record after a fact, which is appended to its log. Clock moves that were due are appended
     * before it as notices. Only inside `transact`.
     */
    readonly record: <R, F>(
      collection: Collection<R, F>,
      before: NoInfer<Stored<R>>,
      fact: NoInfer<F>,
      act: Act
    ) => Effect.Effect<Stored<R>, Unavailable>
    /**
     * Deletes records whole, with their facts: retention's end, for records nothing else names. Only
     * inside `transact`.
     */
    readonly forget: <R, F>(
      collection: Collection<R, F>,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<void, Unavailable>
    /** Announces what no record's fact announces by itself. Only inside `transact`. */
    readonly announce: (announcements: ReadonlyArray<Announcement>) => Effect.Effect<void>
    /** Queues work that starts once the transaction is committed. Only inside `transact`. */
    readonly enqueue: (items: ReadonlyArray<WorkItem>) => Effect.Effect<void>
    /**
     * Does this once everything the transaction around it writes is committed, and never when it is
     * not: for what is only counted or told. A crash in between loses it.
     */
    readonly whenCommitted: (effect: Effect.Effect<void>) => Effect.Effect<void>
    /** Logs acts in the audit log, under this transaction's stamp. Only inside `transact`. */
    readonly audit: (entries: ReadonlyArray<Entry | Late>) => Effect.Effect<void>
  }
>()("@bursar/engine-core/records/Records") {}
