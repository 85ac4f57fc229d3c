/** Runner of scheduled tasks: leases each due task to one instance of the deployment at a time. */
import { Context, Duration, Effect, Layer } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import * as LeasedWork from "../records/LeasedWork.ts"
import { Records } from "../records/Records.ts"
import type { Task, Turn } from "../engine/Schedule.ts"

/** The queue whose items are tasks. */
export const queue = "schedules"

/** Milliseconds until a task that failed has its next turn. */
const failedFor = 60_000

/** Milliseconds for which a task unknown to this version is left to newer versions. */
const unknownFor = 3_600_000

/** Turns that one instance runs at a time. */
const atOnce = 4

export class ScheduleRunner extends Context.Service<
  ScheduleRunner,
  {
    /** Runs the turn of every task that is due; answers how many. For tests and embedders. */
    readonly runOnce: Effect.Effect<number, Unavailable>
    /** Runs turns until interrupted; a turn under way is released and run again later. */
    readonly run: Effect.Effect<never>
  }
>()("@bursar/engine-core/feeds/ScheduleRunner") {}

const make = Effect.fnUntraced(function* <R>(tasks: ReadonlyArray<Task<R>>) {
  const records = yield* Records
  const work = yield* WorkQueue
  const settings = yield* Settings
  const context = yield* Effect.context<R>()
  const byName = new Map(tasks.map((task) => [task.name, task]))
  if (byName.size !== tasks.length) throw new Error("two tasks have one name")
  const worker = `schedules-${Math.floor(Number(yield* Instant.now) / 1e3)}`
  let isSet = false

  /** Tasks that are queued already are left as they are, whichever instance queued them. */
  const set = Effect.suspend(() =>
    isSet
      ? Effect.void
      : Effect.map(
          records.transact(
            records.enqueue(
              tasks.map(({ name, every }) => ({
                queue,
                itemId: name,
                resource: name,
                payload: "",
                delay: every
              }))
            )
          ),
          () => {
            isSet = true
          }
        )
  )

  const take = (task: Task<R>, lease: Lease): Effect.Effect<void, LeaseLost | Unavailable> => {
    let isSettled = false
    const turn: Turn = {
      state: lease.payload,
      hold: orUnavailable(work.hold(lease)),
      next: ({ delay, state }) =>
        Effect.andThen(
          orUnavailable(work.release(lease, { delay, payload: state })),
          Effect.sync(() => {
            isSettled = true
          })
        )
    }
    return task
      .run(turn)
      .pipe(
        Effect.provideContext(context),
        Effect.andThen(
          Effect.suspend(() =>
            isSettled ? Effect.void : turn.next({ delay: task.every, state: lease.payload })
          )
        )
      )
  }

  const runTask = (lease: Lease): Effect.Effect<void> => {
    const task = byName.get(lease.itemId)
    const turn =
      task === undefined
        ? orUnavailable(work.release(lease, { delay: unknownFor }))
        : take(task, lease)
    return LeasedWork.under(
      {
        work,
        lease,
        leaseMillis: settings.lease,
        failed: `task ${lease.itemId} failed`,
        failedFor
      },
      turn
    ).pipe(Effect.withSpan("schedule", { attributes: { task: lease.itemId } }))
  }

  /** Leases and runs tasks until all have had a turn, `atOnce` of them at a time. */
  const runOnce = Effect.gen(function* () {
    yield* set
    let ran = 0
    while (ran < tasks.length) {
      const leases = yield* orUnavailable(
        work.lease({ queue, worker, limit: atOnce, leaseMillis: settings.lease })
      )
      yield* Effect.forEach(leases, runTask, { concurrency: "unbounded", discard: true })
      ran += leases.length
      if (leases.length < atOnce) break
    }
    return ran
  })

  const pause = Effect.sleep(Duration.millis(settings.poll))
  const round = LeasedWork.round(
    Effect.flatMap(runOnce, (count) => (count === 0 ? pause : Effect.void)),
    { failed: "the schedules could not be read", pause }
  )

  return ScheduleRunner.of({ runOnce, run: Effect.forever(round) })
})

export const layer = <R>(
  tasks: ReadonlyArray<Task<R>>
): Layer.Layer<ScheduleRunner, never, Records | WorkQueue | R> =>
  Layer.effect(ScheduleRunner, make(tasks))
