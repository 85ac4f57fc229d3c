/** Worker of scheduled tasks: each due task has its turn on one instance of the deployment at a time. */
import { Context, Effect, Layer } from "effect"
import type { Task, Turn } from "../engine/Schedule.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import * as LeasedWork from "../records/LeasedWork.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import { Records } from "../records/Records.ts"
import * as Worker from "../records/Worker.ts"

/** The queue whose items are tasks. */
const queue = "schedules"

/** Milliseconds for which a task unknown to this version is left to newer versions. */
const unknownFor = 3_600_000

/** Number of turns that an instance runs at a time. */
const atOnce = 4

/** The scheduled tasks of the engine, by name, with the services they need. */
export class Tasks extends Context.Service<Tasks, ReadonlyMap<string, Task>>()(
  "@bursar/engine-core/feeds/Tasks"
) {}

/** Declares the tasks of the engine; two of one name are a defect. */
export const layer = <R>(tasks: ReadonlyArray<Task<R>>): Layer.Layer<Tasks, never, R> =>
  Layer.effect(
    Tasks,
    Effect.map(Worker.servicesOf<R>(), (services) => {
      const byName = new Map(
        tasks.map((task): readonly [string, Task] => [
          task.name,
          { ...task, run: (turn) => Effect.provideContext(task.run(turn), services) }
        ])
      )
      if (byName.size !== tasks.length) throw new Error("two tasks have one name")
      return byName
    })
  )

/** Queues the tasks; those that are queued already are left as they are, whichever instance queued them. */
const queued = Effect.gen(function* () {
  const records = yield* Records
  const tasks = yield* Tasks
  const items = [...tasks.values()].map(({ name, every }) => ({
    queue,
    itemId: name,
    resource: name,
    payload: "",
    delay: every
  }))
  yield* records.transact(records.enqueue(items))
})

/** Runs the turn of a task, which ends by itself or after the task's own interval. */
const takeTurn = Effect.fnUntraced(function* (task: Task, lease: Lease) {
  const work = yield* WorkQueue
  let isEnded = false
  const turn: Turn = {
    state: lease.payload,
    fence: orUnavailable(work.fence(lease)),
    next: ({ delay, state }): Effect.Effect<void, LeaseLost | Unavailable> =>
      Effect.andThen(
        orUnavailable(work.release(lease, { delay, payload: state })),
        Effect.sync(() => {
          isEnded = true
        })
      )
  }
  yield* task.run(turn)
  if (!isEnded) yield* turn.next({ delay: task.every, state: lease.payload })
})

const workOn = Effect.fnUntraced(function* (lease: Lease) {
  const task = (yield* Tasks).get(lease.itemId)
  yield* task === undefined
    ? LeasedWork.release(lease, { delay: unknownFor })
    : takeTurn(task, lease)
})

/** Worker of the scheduled tasks; it queues them when it starts, and `runOnce` gives each its turn. */
export const scheduleWorker = Worker.defineBySource<Records | Tasks | WorkQueue>({
  name: "schedules",
  doc: "Gives the scheduled tasks that are due their turns.",
  queue,
  item: "task",
  atOnce,
  again: "1 minute",
  byClock: true,
  source: Effect.fnUntraced(function* (lessee: Worker.Lessee) {
    const leased = yield* Worker.leasesOf(queue, lessee)
    const { size } = yield* Tasks
    let isQueued = false
    return {
      ...leased,
      prepare: Effect.suspend(() =>
        isQueued
          ? Effect.void
          : Effect.map(queued, () => {
              isQueued = true
            })
      ),
      take: (limit: number) =>
        Effect.map(leased.take(limit), (leases) =>
          leases.map((lease) => ({ lease, work: workOn(lease) }))
        ),
      rounds: Math.ceil(size / atOnce)
    }
  })
})
