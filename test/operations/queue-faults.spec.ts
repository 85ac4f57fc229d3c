/**
 * Every worker of the table, killed or asleep in the middle of an item: another instance works on it,
 * and nothing is lost or recorded twice (docs/contract/instances.md#leases).
 */
import { Engine, Records, recordsLayer, type Schedule, Workers } from "@bursar/engine-core"
import { Atomically, Blobs, WebhookSender, WorkQueue } from "@bursar/engine-core/ports"
import * as Scripted from "@bursar/storage-adapters/screening"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { workers } from "#core/catalogue.ts"
import type { WorkerName } from "#core/engine/WorkerName.ts"
import { layer as tasksLayer, scheduleWorker } from "#core/feeds/ScheduleRunner.ts"
import { itemOf } from "#core/findings/RunQueue.ts"
import { screenings } from "#core/holders/screening/Screening.ts"
import * as Instant from "#core/kernel/Instant.ts"
import { drains } from "#core/records/Outbox.ts"
import * as StageSteps from "#core/statements/external-statement/StageSteps.ts"
import * as Webhooks from "../feeds/webhooks.ts"
import * as Calls from "../engine/calls.ts"
import { outsider } from "../engine/outsiders.ts"
import * as Toys from "../engine/toys.ts"
import { ports } from "../engine/world.ts"
import * as Reconciling from "./reconciling.ts"
import * as Story from "./story.ts"

/** Services of an instance of the engine, and the ports that both instances share. */
type Instance = Engine.Services | Layer.Success<ReturnType<typeof ports>>

/** An item of a worker, and how often its work was recorded. */
interface FaultCase {
  /** The engine of both instances; left out: all that the package declares. */
  readonly engine?: Layer.Layer<Engine.Services, never, Engine.Ports>
  /** Leaves one item that is due, and nobody leases it. */
  readonly plant: Effect.Effect<unknown, unknown, Instance>
  readonly recorded: Effect.Effect<number, unknown, Instance>
  /** Queue of the item, where the worker has several. */
  readonly queue?: string
  /** Items of the queue that stay: tasks have further turns. */
  readonly stays?: number
}

const enqueued = (item: Parameters<Records["Service"]["enqueue"]>[0][number]) =>
  Effect.flatMap(Records, (records) => records.transact(records.enqueue([item])))

const count = Effect.flatMap(Records, (records) =>
  Effect.map(records.find(Toys.counters, "c"), (found) =>
    Option.match(found, { onNone: () => 0, onSome: ({ count: times }) => times })
  )
)

/** Scheduled task that counts its turns in a record. */
const counting: Schedule.Task<Records> = {
  name: "count",
  doc: "Counts.",
  every: 600_000,
  run: (turn) =>
    Effect.flatMap(Records, (records) =>
      records.transact(
        Effect.gen(function* () {
          yield* turn.fence
          const act = { cause: { by: "clock" } as const, now: yield* Instant.now }
          const before = yield* records.find(Toys.counters, "c")
          yield* Option.match(before, {
            onNone: () =>
              Effect.orDie(records.open(Toys.counters, { counterId: "c", count: 1 }, act)),
            onSome: (self) => records.append(Toys.counters, self, { on: "add", by: 1 }, act)
          })
        })
      )
    )
}

/** The engine, but with one scheduled task, which counts its turns. */
const withOneTask = Layer.merge(
  Engine.layer,
  Workers.layer([scheduleWorker]).pipe(
    Layer.provide(tasksLayer([counting])),
    Layer.provide(recordsLayer)
  )
)

const stageId = "est_01KYS7EWC1NERZX5D2GRYZ8H8N"

/** An item of each worker: the compiler asks for one of a new worker. */
const cases: Readonly<Record<WorkerName, FaultCase>> = {
  operations: {
    engine: Engine.layerOf({ operations: [Toys.single], fromLedger: [] }),
    plant: Calls.submit(Toys.single, Calls.person("olga", "operator"), {
      params: { counterId: "c" },
      body: '{"by":1}'
    }),
    recorded: count
  },
  deliveries: {
    queue: "deliveries:hook",
    plant: Effect.andThen(
      Webhooks.register({
        webhookId: "hook",
        url: "https://hook.example/",
        events: ["approval.requested"]
      }),
      Webhooks.happen("event")
    ),
    recorded: Effect.map(Webhooks.kept("hook"), (kept) =>
      kept.reduce((sum, { attempts }) => sum + attempts, 0)
    )
  },
  "removed-webhooks": {
    plant: enqueued({ queue: drains, itemId: "gone", resource: "gone", payload: "", delay: 0 }),
    recorded: Effect.flatMap(WorkQueue, (work) =>
      Effect.map(work.find({ queue: drains, itemId: "gone" }), (item) =>
        Option.isNone(item) ? 1 : 0
      )
    )
  },
  schedules: {
    engine: withOneTask,
    stays: 1,
    plant: Effect.andThen(Workers.runOnce("schedules"), TestClock.adjust("10 minutes")),
    recorded: count
  },
  screenings: {
    plant: Effect.gen(function* () {
      const { party } = yield* outsider("holder")
      const taxResidences = [{ country: "CH" }]
      const details = { holderId: "h1", party, legalName: "A Fund", taxResidences }
      const { why } = yield* Calls.write("holder.register", {}, details)
      assert.strictEqual(why, "")
      // The source has no answer yet to the first request.
      yield* TestClock.adjust("6 seconds")
    }),
    recorded: Effect.flatMap(Records, (records) =>
      Effect.map(records.list(screenings, { limit: 10 }), (rows) =>
        rows.reduce((sum, { record }) => sum + record.version - 1, 0)
      )
    )
  },
  stages: {
    plant: Effect.gen(function* () {
      const blobs = yield* Blobs
      const bytes = new Uint8Array(8)
      yield* blobs.append({ file: StageSteps.fileOf(stageId), chunk: 0, bytes })
      const item = { queue: StageSteps.queue, itemId: stageId, resource: stageId }
      yield* enqueued({ ...item, payload: "", delay: 0 })
    }),
    recorded: Effect.flatMap(Blobs, (blobs) =>
      Effect.map(blobs.chunk({ file: StageSteps.fileOf(stageId), chunk: 0 }), (chunk) =>
        Option.isNone(chunk) ? 1 : 0
      )
    )
  },
  reconciliation: {
    plant: Effect.gen(function* () {
      yield* Story.recorded(yield* Story.cast)
      yield* enqueued(itemOf({ trigger: "release", instrumentId: "fund-a", causedBy: "hold-1" }))
    }),
    recorded: Effect.map(Reconciling.allRuns, ({ length }) => length)
  },
  "venue-reconciliation": {
    plant: enqueued(itemOf({ trigger: "schedule", instrumentId: null, causedBy: "2026-03-02" })),
    recorded: Effect.map(Reconciling.allRuns, ({ length }) => length)
  }
}

/** Where an instance falls asleep: right after it leased the item, or before it records its work. */
type Asleep = "leased" | "recording"

/**
 * Ports of an instance that falls asleep in the middle of its first item of the queue: none of its later
 * calls to the queue or to the store's transactions answers before it wakes.
 */
const sleeping = (
  { queue, at }: { readonly queue: string; readonly at: Asleep },
  {
    asleep,
    awake
  }: { readonly asleep: Deferred.Deferred<void>; readonly awake: Deferred.Deferred<void> }
) => {
  let hasLeased = false
  const sleeps = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() =>
      hasLeased
        ? Effect.andThen(
            Effect.andThen(Deferred.succeed(asleep, undefined), Deferred.await(awake)),
            effect
          )
        : effect
    )
  const leasing = <A extends ReadonlyArray<{ readonly queue: string }>, E>(
    effect: Effect.Effect<A, E>
  ) =>
    Effect.tap(sleeps(effect), (leases) => {
      if (!leases.some((lease) => lease.queue === queue)) return Effect.void
      hasLeased = true
      return at === "leased" ? sleeps(Effect.void) : Effect.void
    })
  return Layer.mergeAll(
    Layer.effect(
      WorkQueue,
      Effect.map(WorkQueue, (work): WorkQueue["Service"] => ({
        ...work,
        lease: (request) =>
          request.queue === queue ? leasing(work.lease(request)) : work.lease(request),
        leaseEach: (request) => leasing(work.leaseEach(request)),
        renew: (lease, millis) => sleeps(work.renew(lease, millis)),
        // Within a transaction, which does not begin before the instance wakes, they answer at once.
        finish: (lease) => sleeps(work.finish(lease)),
        release: (lease, next) => sleeps(work.release(lease, next))
      }))
    ),
    Layer.effect(
      Atomically,
      Effect.map(Atomically, (port): Atomically["Service"] => ({
        ...port,
        run: (effect) => sleeps(port.run(effect))
      }))
    )
  )
}

describe.each(workers.map(({ name, queue }) => ({ name, queue })))(
  "an item of the worker $name",
  ({ name, queue: declared }) => {
    const { plant, recorded, engine = Engine.layer, queue = declared, stays = 0 } = cases[name]

    it.effect.each<Asleep>(["leased", "recording"])(
      "whose instance falls asleep when it is %s is worked on by another, once, also after it woke",
      (at) =>
        Effect.gen(function* () {
          const shared = yield* Layer.build(
            Layer.mergeAll(
              ports({
                settings: Webhooks.settings,
                screening: Scripted.layer({ ...Scripted.clear, others: ["nothing-yet", "none"] })
              }),
              Layer.succeed(WebhookSender.WebhookSender, new Webhooks.Receivers().sender)
            )
          )
          const asleep = yield* Deferred.make<void>()
          const awake = yield* Deferred.make<void>()
          const on = (own: typeof engine) =>
            Effect.map(
              Layer.build(Layer.fresh(own).pipe(Layer.provide(Layer.succeedContext(shared)))),
              (built) => Context.merge(shared, built)
            )
          const sleeper = yield* on(
            engine.pipe(Layer.provide(sleeping({ queue, at }, { asleep, awake })))
          )
          const other = yield* on(engine)
          yield* Effect.provideContext(plant, other)
          const times = Effect.provideContext(recorded, other)
          const work = Context.get(shared, WorkQueue)
          const runnerOf = (built: typeof other) =>
            Context.get(built, Workers.Workers).runnerOf(name)

          const paused = yield* Effect.forkChild(runnerOf(sleeper).runOnce)
          yield* Deferred.await(asleep)
          yield* Effect.repeat(
            Effect.andThen(runnerOf(other).runOnce, TestClock.adjust("1 second")),
            { times: 34 }
          )
          // A killed instance is one that never wakes.
          assert.deepStrictEqual([yield* times, (yield* work.depth(queue)).leased], [1, 0])
          yield* Deferred.succeed(awake, undefined)
          assert.strictEqual(yield* Fiber.join(paused), 1)
          const { leased, waiting } = yield* work.depth(queue)
          assert.deepStrictEqual([yield* times, leased, waiting], [1, 0, stays])
        }).pipe(Effect.scoped)
    )
  }
)
