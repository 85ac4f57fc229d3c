/**
 * Port: work queue with leases. One worker at a time, one item of a resource at a time, oldest
 * first.
 */
import { Context, type Effect, type Option, type Stream } from "effect"
import type { LeaseLost, StorageUnavailable } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** Item of a queue, with the instant from which it is due. */
export interface WorkItem {
  /** `operations`, `deliveries`, `schedules`, … */
  readonly queue: string
  readonly itemId: string
  /** Items of one resource run one at a time, in the order they were queued. */
  readonly resource: string
  readonly payload: string
  /** Milliseconds until it may run. */
  readonly delay: number
}

/** Item that one worker has, until its instant. */
export interface Lease {
  readonly queue: string
  readonly itemId: string
  readonly resource: string
  readonly payload: string
  /** Rises with every lease of the item: a write with an older fence MUST be refused. */
  readonly fence: number
  /** Number of leases of the item, this one included. */
  readonly attempt: number
  /** The store's time of the first lease (sortable text); never changes. */
  readonly startedAt: string
}

/** Times are of the store's clock: callers give durations, never instants. */
export class WorkQueue extends Context.Service<
  WorkQueue,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    /** Adds items within the caller's transaction; an item id that is there already is left alone. */
    readonly enqueue: (items: ReadonlyArray<WorkItem>) => Effect.Effect<void, StorageUnavailable>
    /**
     * Leases up to `limit` items that are due, not leased, and have no older unfinished item with
     * the same resource in the same queue; ordered by when they were due, then by when they were
     * queued (docs/contract/instances.md#leases). No item is ever leased twice at a time.
     */
    readonly lease: (request: {
      readonly queue: string
      readonly worker: string
      readonly limit: number
      readonly leaseMillis: number
    }) => Effect.Effect<ReadonlyArray<Lease>, StorageUnavailable>
    /**
     * Leases as `lease` does in several queues, in one call: of each queue up to its limit, and up to
     * `limit` items in all, those of the first queues first.
     */
    readonly leaseEach: (request: {
      readonly queues: ReadonlyArray<{ readonly queue: string; readonly limit: number }>
      readonly worker: string
      readonly limit: number
      readonly leaseMillis: number
    }) => Effect.Effect<ReadonlyArray<Lease>, StorageUnavailable>
    /**
     * Fences the transaction: locks the item's row, or fails where the lease is lost. No other worker
     * is given the item until the transaction ends, even if the lease runs out in it. Outside a
     * transaction: a defect.
     */
    readonly fence: (lease: Lease) => Effect.Effect<void, LeaseLost | StorageUnavailable>
    /**
     * Lets the lease run for so many milliseconds from now. Where a transaction of its own worker
     * is fenced by the lease, it is left as it is or renewed once that has ended; the call MUST NOT fail for
     * it, however long the transaction takes. Inside that transaction it is renewed, even if it has
     * run out there.
     */
    readonly renew: (
      lease: Lease,
      leaseMillis: number
    ) => Effect.Effect<void, LeaseLost | StorageUnavailable>
    /** Removes a finished item from the queue. */
    readonly finish: (lease: Lease) => Effect.Effect<void, LeaseLost | StorageUnavailable>
    /**
     * Removes an item whose work was done elsewhere (the projection has read its outcome), whichever
     * worker has its lease.
     */
    readonly settle: (items: {
      readonly queue: string
      readonly itemIds: ReadonlyArray<string>
    }) => Effect.Effect<void, StorageUnavailable>
    /** Gives the item back, to be leased again after `delay` milliseconds; it keeps its place. */
    readonly release: (
      lease: Lease,
      next: { readonly delay: number; readonly payload?: string }
    ) => Effect.Effect<void, LeaseLost | StorageUnavailable>
    /**
     * Makes items due now that nobody has a lease on: what they wait for has come. An item under a
     * lease, one that is due already, and one that is not there are left alone.
     */
    readonly hasten: (items: {
      readonly queue: string
      readonly itemIds: ReadonlyArray<string>
    }) => Effect.Effect<void, StorageUnavailable>
    readonly find: (item: {
      readonly queue: string
      readonly itemId: string
    }) => Effect.Effect<
      Option.Option<{ readonly payload: string; readonly attempt: number }>,
      StorageUnavailable
    >
    readonly depth: (
      queue: string
    ) => Effect.Effect<
      { readonly waiting: number; readonly leased: number; readonly oldestMillis: number | null },
      StorageUnavailable
    >
    /** An element whenever work may have come; it may lose some, so pollers poll as well. */
    readonly wakes: (queue: string) => Stream.Stream<void, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/WorkQueue") {}
