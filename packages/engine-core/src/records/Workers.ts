/**
 * Service of the running workers: one loop for all of them, which leases items, wakes on a signal or
 * polls, and drains when the engine stops.
 */
import {
  Cause,
  Clock,
  Context,
  Duration,
  Effect,
  Exit,
  FiberSet,
  Layer,
  Queue,
  Stream
} from "effect"
import * as Metrics from "../engine/Metrics.ts"
import { Settings } from "../engine/Settings.ts"
import type { WorkerName } from "../engine/WorkerName.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { WorkQueue } from "../ports/storage/WorkQueue.ts"
import { atOnceOf, type Job, type Needs, servicesOf, type Source, type Worker } from "./Worker.ts"

/** Milliseconds that running jobs get to end when the engine stops. */
const stopWithin = 20_000

/** A worker on one instance. */
export interface Runner {
  /**
   * Works once on the items that are due, as many as it may at a time, and returns how many were
   * leased. For tests and for embedders that drive the engine themselves.
   */
  readonly runOnce: Effect.Effect<number, Unavailable>
  /** Works until interrupted; then leases no more, and gives the running jobs 20 s to end. */
  readonly run: Effect.Effect<never>
}

/** Service that runs the workers of the engine's queues. */
export class Workers extends Context.Service<
  Workers,
  {
    /** Runs every worker until interrupted; all drain at the same time. */
    readonly run: Effect.Effect<never>
    /** Works once with each worker whose items do not come by the clock alone; returns how many items. */
    readonly runOnce: Effect.Effect<number, Unavailable>
    readonly runnerOf: (name: WorkerName) => Runner
  }
>()("@bursar/engine-core/records/Workers") {}

/** The runner of a worker of the engine. */
export const runnerOf = (name: WorkerName): Effect.Effect<Runner, never, Workers> =>
  Effect.map(Workers, (workers) => workers.runnerOf(name))

/** Works once on the items of a worker that are due; returns how many were leased. */
export const runOnce = (name: WorkerName): Effect.Effect<number, Unavailable, Workers> =>
  Effect.flatMap(runnerOf(name), (runner) => runner.runOnce)

/** Runs a job in a span of its own, and counts how it ended. */
const counted = <R>({ name, item }: Worker<R>, { lease, run }: Job<R>) =>
  run.pipe(
    Effect.onExit((exit) =>
      Exit.isSuccess(exit)
        ? Metrics.worked(name, exit.value)
        : Metrics.worked(name, Cause.hasInterruptsOnly(exit.cause) ? "stopped" : "failed")
    ),
    Effect.withSpan(
      item,
      { attributes: { [`${item}Id`]: lease.itemId } },
      { captureStackTrace: false }
    )
  )

/** Works on what is due, as often as the source has rounds. */
const workOnce = <R>(
  worker: Worker<R>,
  { atOnce, source }: { readonly atOnce: number; readonly source: Source<R> }
) =>
  Effect.gen(function* () {
    yield* source.prepare
    let count = 0
    for (let round = 0; round < source.rounds; round++) {
      const jobs = yield* source.take(atOnce)
      yield* Effect.forEach(jobs, (job) => counted(worker, job), {
        concurrency: "unbounded",
        discard: true
      })
      count += jobs.length
      if (jobs.length < atOnce) break
    }
    return count
  })

/** One cycle of a loop, which never ends the loop: a failure is logged and followed by a pause. */
const guarded = <R>(
  cycle: Effect.Effect<void, Unavailable, R>,
  { failed, pause }: { readonly failed: string; readonly pause: Effect.Effect<void> }
): Effect.Effect<void, never, R> =>
  cycle.pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(Effect.logError(failed, cause), pause)
    ),
    Effect.orDie
  )

/** Works until interrupted, woken by the source and by each job that ends. */
const workForever = <R>(
  worker: Worker<R>,
  { atOnce, source }: { readonly atOnce: number; readonly source: Source<R> }
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { poll } = yield* Settings
      const running = yield* FiberSet.make<unknown>()
      const bell = yield* Queue.sliding<void>(1)
      const ring = Queue.offer(bell, undefined)
      yield* source.wakes.pipe(
        Stream.runForEach(() => ring),
        // If no wake-up arrives, the poll below finds the work.
        Effect.catchTag("StorageUnavailable", () => Effect.sleep(Duration.millis(poll))),
        Effect.forever,
        Effect.forkScoped
      )
      const pause = Effect.raceFirst(Queue.take(bell), Effect.sleep(Duration.millis(poll)))
      let preparedAt = Number.NEGATIVE_INFINITY
      const prepared = Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now - preparedAt < poll) return Effect.void
        preparedAt = now
        return source.prepare
      })
      const cycle = Effect.gen(function* () {
        yield* prepared
        const free = atOnce - (yield* FiberSet.size(running))
        const jobs = free > 0 ? yield* source.take(free) : []
        for (const job of jobs) {
          yield* FiberSet.run(running, Effect.ensuring(counted(worker, job), ring))
        }
        // No further item is due where there were fewer than asked for.
        if (jobs.length < Math.max(1, free)) yield* pause
      })
      const failed = `the queue of ${worker.name} could not be read`
      return yield* Effect.forever(guarded(cycle, { failed, pause })).pipe(
        Effect.onInterrupt(() =>
          FiberSet.awaitEmpty(running).pipe(Effect.timeoutOption(Duration.millis(stopWithin)))
        )
      )
    })
  )

/** Makes the runner of a worker on this instance. */
const makeRunner = Effect.fnUntraced(function* <R>(
  worker: Worker<R>
): Effect.fn.Return<Runner, never, R> {
  const settings = yield* Settings
  const services = yield* servicesOf<R>()
  const source = yield* worker.source({
    worker: `${worker.name}-${Math.floor(Number(yield* Instant.now) / 1e3)}`,
    leaseMillis: settings.lease
  })
  const ready = { atOnce: atOnceOf(worker, settings), source }
  return {
    runOnce: Effect.provideContext(workOnce(worker, ready), services),
    run: Effect.provideContext(workForever(worker, ready), services)
  }
})

/** The workers of a table, on this instance. */
export const layer = <W extends Worker<unknown>>(
  workers: ReadonlyArray<W>
): Layer.Layer<Workers, never, Needs<W> | WorkQueue> =>
  Layer.effect(
    Workers,
    Effect.gen(function* () {
      const runners = new Map<WorkerName, Runner>()
      const settled: Array<WorkerName> = []
      for (const worker of workers as ReadonlyArray<Worker<Needs<W>>>) {
        if (runners.has(worker.name)) throw new Error(`two workers are called ${worker.name}`)
        runners.set(worker.name, yield* makeRunner(worker))
        if (worker.byClock !== true) settled.push(worker.name)
      }
      const named = (name: WorkerName): Runner => {
        const runner = runners.get(name)
        if (runner === undefined) throw new Error(`no worker is called ${name}`)
        return runner
      }
      const all = [...runners.values()].map(({ run }) => run)
      return Workers.of({
        run: Effect.andThen(
          Effect.forEach(all, (run) => run, { concurrency: "unbounded", discard: true }),
          Effect.never
        ),
        runOnce: Effect.map(
          Effect.forEach(settled, (name) => named(name).runOnce),
          (counts) => counts.reduce((sum, count) => sum + count, 0)
        ),
        runnerOf: named
      })
    })
  )
