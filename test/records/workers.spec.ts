/** The one loop of all workers: it wakes on a signal, drains when the engine stops, and counts its jobs. */
import { Metrics, Records, recordsLayer, Worker, Workers } from "@bursar/engine-core"
import { WorkQueue } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import * as LeasedWork from "#core/records/LeasedWork.ts"
import type { Lease } from "#core/ports/storage/WorkQueue.ts"
import { breathe } from "../engine/passing.ts"
import { ports } from "../engine/world.ts"

const queue = "test"

/** A worker whose items are worked on so. */
const working = (work: Parameters<typeof Worker.define<WorkQueue>>[0]["work"]) =>
  Workers.layer([
    Worker.define({
      name: "stages",
      doc: "Works as a test says.",
      queue,
      item: "item",
      atOnce: 2,
      again: "30 seconds",
      work
    })
  ]).pipe(Layer.provideMerge(recordsLayer), Layer.provideMerge(ports()))

const add = (...itemIds: ReadonlyArray<string>) =>
  Effect.flatMap(Records, (records) =>
    records.transact(
      records.enqueue(
        itemIds.map((itemId) => ({ queue, itemId, resource: itemId, payload: "", delay: 0 }))
      )
    )
  )

const depth = Effect.flatMap(WorkQueue, (work) =>
  Effect.map(work.depth(queue), ({ leased, waiting }) => ({ leased, waiting }))
)

const run = Effect.flatMap(Workers.runnerOf("stages"), (runner) => Effect.forkChild(runner.run))

/** Lets other fibers run, without a moment passing. */
const others = Effect.repeat(breathe, { times: 10 })

/** Number of jobs that ended so since `before`. */
const counted = (outcome: string) =>
  Effect.map(
    Metric.value(Metric.withAttributes(Metrics.workerJobs, { worker: "stages", outcome })),
    ({ count }) => Number(count)
  )

describe("a worker", () => {
  it.effect("begins with an item as soon as it is queued, before its next poll", () =>
    Effect.gen(function* () {
      const running = yield* run
      yield* others
      yield* add("a", "b", "c")
      yield* others
      assert.deepStrictEqual(yield* depth, { leased: 0, waiting: 0 })
      yield* Fiber.interrupt(running)
    }).pipe(Effect.provide(working(LeasedWork.finish)))
  )

  it.effect("never leases more than it may run, and no further item once it is to stop", () => {
    const ends = Deferred.makeUnsafe<void>()
    const work = (lease: Lease) => Effect.andThen(Deferred.await(ends), LeasedWork.finish(lease))
    return Effect.gen(function* () {
      const running = yield* run
      yield* others
      yield* add("a", "b", "c")
      yield* others
      assert.deepStrictEqual(yield* depth, { leased: 2, waiting: 1 })
      const stopping = yield* Effect.forkChild(Fiber.interrupt(running))
      yield* others
      yield* TestClock.adjust("19 seconds")
      assert.strictEqual(stopping.pollUnsafe(), undefined)
      yield* Deferred.succeed(ends, undefined)
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(yield* depth, { leased: 0, waiting: 1 })
    }).pipe(Effect.provide(working(work)))
  })

  it.effect("that stops gives a job back which takes longer than 20 seconds", () => {
    const work = () => Effect.never
    return Effect.gen(function* () {
      const stopped = yield* counted("stopped")
      const running = yield* run
      yield* others
      yield* add("a")
      yield* others
      const stopping = yield* Effect.forkChild(Fiber.interrupt(running))
      yield* others
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(yield* depth, { leased: 0, waiting: 1 })
      assert.strictEqual((yield* counted("stopped")) - stopped, 1)
    }).pipe(Effect.provide(working(work)))
  })

  it.effect(
    "works again on an item that failed, after the time it declares, and counts each job",
    () => {
      let tries = 0
      const work = (lease: Lease) =>
        Effect.suspend(() =>
          ++tries === 1 ? Effect.die(new Error("a bug")) : LeasedWork.finish(lease)
        )
      return Effect.gen(function* () {
        const failed = yield* counted("failed")
        const done = yield* counted("done")
        yield* add("a")
        assert.strictEqual(yield* Workers.runOnce("stages"), 1)
        yield* TestClock.adjust("29 seconds")
        assert.strictEqual(yield* Workers.runOnce("stages"), 0)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Workers.runOnce("stages"), 1)
        assert.deepStrictEqual(
          [(yield* counted("failed")) - failed, (yield* counted("done")) - done],
          [1, 1]
        )
        assert.deepStrictEqual(yield* depth, { leased: 0, waiting: 0 })
      }).pipe(Effect.provide(working(work)))
    }
  )

  it.effect("counts an item that another worker took over as lost", () => {
    const work = (lease: Lease) =>
      Effect.gen(function* () {
        const port = yield* WorkQueue
        yield* Effect.orDie(port.release(lease, { delay: 0 }))
        yield* LeasedWork.finish(lease)
      })
    return Effect.gen(function* () {
      const lost = yield* counted("lost")
      yield* add("a")
      yield* Workers.runOnce("stages")
      assert.strictEqual((yield* counted("lost")) - lost, 1)
      assert.deepStrictEqual(yield* depth, { leased: 0, waiting: 1 })
    }).pipe(Effect.provide(working(work)))
  })
})
