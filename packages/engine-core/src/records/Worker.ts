/**
 * Declaration of a worker: the queue it leases items of, how many at a time, and the work of an item.
 * Each room lists its workers, and the engine runs them all by one loop (`Workers`).
 */
import { Context, Duration, Effect, References, Scope, type Stream, Tracer } from "effect"
import type { JobOutcome } from "../engine/Metrics.ts"
import { Settings } from "../engine/Settings.ts"
import type { WorkerName } from "../engine/WorkerName.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost, StorageUnavailable } from "../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import * as LeasedWork from "./LeasedWork.ts"
import { orUnavailable } from "./PortFailure.ts"

/** A leased item, and its work, which never fails. */
export interface Job<R = never> {
  readonly lease: Lease
  readonly run: Effect.Effect<JobOutcome, never, R>
}

/** An instance that leases items, and for how long. */
export interface Lessee {
  /** Name of the worker on its instance, as the store shows it. */
  readonly worker: string
  readonly leaseMillis: number
}

/** Where the jobs of a worker come from, on one instance. */
export interface Source<R = never> {
  /** Brings up to date what `take` reads; runs at the start and once in each poll. */
  readonly prepare: Effect.Effect<void, Unavailable, R>
  /** Leases up to `limit` items; fewer than that say that no further one is due. */
  readonly take: (limit: number) => Effect.Effect<ReadonlyArray<Job<R>>, Unavailable, R>
  /** An element whenever an item may have become due; some may be lost, so that the worker polls too. */
  readonly wakes: Stream.Stream<void, StorageUnavailable, R>
  /** Number of times that `runOnce` takes jobs, while there are as many as it may run at a time. */
  readonly rounds: number
}

/** Members of every declaration of a worker. */
export interface WorkerTerms {
  /** Unique and stable: metrics and embedders name the worker by it. */
  readonly name: WorkerName
  /** One sentence: what it does. */
  readonly doc: string
  /** The queue whose items it leases; of several, what their names have in common. */
  readonly queue: string
  /** Noun for an item in logs, and the name of the span of its work. */
  readonly item: string
  /** Number of items that an instance works on at a time. */
  readonly atOnce: number | ((settings: Settings) => number)
  /** Items come due by the clock alone, so that `Engine.settle` leaves them. */
  readonly byClock?: true
}

/** A declared worker. */
export interface Worker<R = never> extends WorkerTerms {
  /** Time until an item whose work failed is leased again; null: by what failed. */
  readonly again: Duration.Duration | null
  readonly source: (lessee: Lessee) => Effect.Effect<Source<R>, never, R>
}

/**
 * The services of the place that builds a layer, for effects that run elsewhere. What belongs to the
 * fiber of that place is left out: its scope, which no job waits for, its span, and the annotations and
 * spans of its logs and traces, which would replace those of each call.
 */
export const servicesOf = <R>(): Effect.Effect<Context.Context<R>, never, R> =>
  Effect.map(Effect.context<R>(), (context) => withoutFiber(context) as Context.Context<R>)

const withoutFiber = Context.omit(
  Scope.Scope,
  Tracer.ParentSpan,
  References.CurrentLogAnnotations,
  References.CurrentLogSpans,
  References.CurrentStackFrame,
  References.TracerSpanAnnotations,
  References.TracerSpanLinks
)

/** Services that a worker needs. */
export type Needs<W> = W extends Worker<infer R> ? R : never

/** Number of items of a worker that an instance works on at a time under these settings. */
export const atOnceOf = ({ atOnce }: WorkerTerms, settings: Settings): number =>
  typeof atOnce === "number" ? atOnce : atOnce(settings)

/** The items of one queue, as a source leases them. */
export const leasesOf = (queue: string, { leaseMillis, worker }: Lessee) =>
  Effect.map(WorkQueue, (work) => ({
    prepare: Effect.void,
    take: (limit: number) => orUnavailable(work.lease({ queue, worker, limit, leaseMillis })),
    wakes: work.wakes(queue),
    rounds: 1
  }))

/** Makes the source of the jobs of one queue. */
const queueSource =
  <R>(queue: string, jobOf: (lease: Lease) => Effect.Effect<JobOutcome, never, R>) =>
  (lessee: Lessee): Effect.Effect<Source<R>, never, WorkQueue> =>
    Effect.map(leasesOf(queue, lessee), (leasedItems) => ({
      ...leasedItems,
      take: (limit) =>
        Effect.map(leasedItems.take(limit), (leases) =>
          leases.map((lease) => ({ lease, run: jobOf(lease) }))
        )
    }))

/** Runs the work of an item under its lease: released for `again` where it fails. */
const underLease = Effect.fnUntraced(function* <R>(
  lease: Lease,
  { again, item }: Pick<WorkerTerms, "item"> & { readonly again: Duration.Input },
  work: Effect.Effect<void, Unavailable | LeaseLost, R>
) {
  const queue = yield* WorkQueue
  const { lease: leaseMillis } = yield* Settings
  const failed = `${item} ${lease.itemId} failed`
  const failedFor = Duration.toMillis(again)
  return yield* LeasedWork.under({ work: queue, lease, leaseMillis, failed, failedFor }, work)
})

/**
 * Declares the worker of a queue. `work` ends an item by `LeasedWork.finish` or `release`, best in the
 * transaction that records what came of it; where it fails, the item is leased again after `again`.
 */
export const define = <R>({
  again,
  isEnabled,
  work,
  ...terms
}: WorkerTerms & {
  readonly again: Duration.Input
  readonly work: (lease: Lease) => Effect.Effect<void, Unavailable | LeaseLost, R>
  /** False while nothing is to be leased; left out: always true. */
  readonly isEnabled?: Effect.Effect<boolean>
}): Worker<R | WorkQueue> => {
  const made = queueSource(terms.queue, (lease) =>
    underLease(lease, { again, item: terms.item }, work(lease))
  )
  return {
    ...terms,
    again: Duration.fromInputUnsafe(again),
    source: (lessee) =>
      Effect.map(made(lessee), (source) => ({
        ...source,
        take: (limit) =>
          Effect.flatMap(isEnabled ?? Effect.succeed(true), (is) =>
            is ? source.take(limit) : Effect.succeed([])
          )
      }))
  }
}

/** Declares the worker of a queue whose jobs renew and release their leases by themselves. */
export const defineByJob = <R>({
  jobOf,
  ...terms
}: WorkerTerms & {
  readonly jobOf: (lease: Lease) => Effect.Effect<JobOutcome, never, R>
}): Worker<R | WorkQueue> => ({ ...terms, again: null, source: queueSource(terms.queue, jobOf) })

/** A source of leased items with their work, before it runs under the lease. */
export interface WorkSource<R> extends Omit<Source<R>, "take"> {
  readonly take: (limit: number) => Effect.Effect<
    ReadonlyArray<{
      readonly lease: Lease
      readonly work: Effect.Effect<void, Unavailable | LeaseLost, R>
    }>,
    Unavailable,
    R
  >
}

/** Declares a worker with a source of its own, such as one of several queues. */
export const defineBySource = <R>({
  again,
  source,
  ...terms
}: WorkerTerms & {
  readonly again: Duration.Input
  readonly source: (lessee: Lessee) => Effect.Effect<WorkSource<R>, never, R>
}): Worker<R | WorkQueue> => ({
  ...terms,
  again: Duration.fromInputUnsafe(again),
  source: (lessee) =>
    Effect.map(source(lessee), ({ take, ...rest }) => ({
      ...rest,
      take: (limit) =>
        Effect.map(take(limit), (jobs) =>
          jobs.map(({ lease, work }) => ({
            lease,
            run: underLease(lease, { again, item: terms.item }, work)
          }))
        )
    }))
})
