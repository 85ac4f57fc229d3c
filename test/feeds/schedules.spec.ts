/** Scheduled tasks: each turn once, on any number of instances, with crashes at any point. */
import type { Schedule, Workers } from "@bursar/engine-core"
import { WorkQueue } from "@bursar/engine-core/ports"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { layer as recordsLayer } from "#core/records/layer.ts"
import { Records } from "#core/records/Records.ts"
import * as Calls from "../engine/calls.ts"
import { instance } from "../engine/schedules.ts"
import { ports } from "../engine/world.ts"

const minute = 60_000

const inStore = <A, E>(
  effect: Effect.Effect<
    A,
    E,
    Layer.Success<ReturnType<typeof store>> | import("effect").Scope.Scope
  >
) => Calls.runCase(Effect.provide(effect, store()) as Effect.Effect<A, E>)

const store = () => recordsLayer.pipe(Layer.provideMerge(ports()))

const counting = (name = "count", every = 10 * minute) => {
  const turns: Array<string> = []
  const task: Schedule.Task = {
    name,
    doc: "Counts.",
    every,
    run: ({ state }) => Effect.sync(() => void turns.push(state))
  }
  return { task, turns }
}

const all = (runners: ReadonlyArray<Workers.Runner>) =>
  Effect.map(
    Effect.all(
      runners.map(({ runOnce }) => runOnce),
      { concurrency: "unbounded" }
    ),
    (had) => had.reduce((a, b) => a + b, 0)
  )

describe("a task", () => {
  it("never has a turn early, twice on three instances, or none when its interval is over", () =>
    inStore(
      Effect.gen(function* () {
        const { task, turns } = counting()
        const runners = yield* Effect.all([instance([task]), instance([task]), instance([task])])
        expect(yield* all(runners)).toBe(0)
        yield* TestClock.adjust("9 minutes")
        expect(yield* all(runners)).toBe(0)
        for (let n = 1; n <= 5; n++) {
          yield* TestClock.adjust(n === 1 ? "1 minute" : "10 minutes")
          expect(yield* all(runners)).toBe(1)
          expect(yield* all(runners)).toBe(0)
          expect(turns).toHaveLength(n)
        }
      })
    ))

  it("never is had again after a restart, though its interval had begun before", () =>
    inStore(
      Effect.gen(function* () {
        const { task, turns } = counting()
        yield* (yield* instance([task])).runOnce
        yield* TestClock.adjust("6 minutes")
        yield* (yield* instance([task])).runOnce
        yield* TestClock.adjust("4 minutes")
        yield* (yield* instance([task])).runOnce
        expect(turns).toHaveLength(1)
      })
    ))

  it("that fails leaves others their turns, and is tried again after a minute", () =>
    inStore(
      Effect.gen(function* () {
        const { task, turns } = counting("other")
        let tries = 0
        const failing: Schedule.Task = {
          name: "failing",
          doc: "Fails twice.",
          every: 10 * minute,
          run: () =>
            Effect.suspend(() => (++tries <= 2 ? Effect.die(new Error("a bug")) : Effect.void))
        }
        const runner = yield* instance([failing, task])
        yield* runner.runOnce
        yield* TestClock.adjust("10 minutes")
        yield* runner.runOnce
        expect([tries, turns.length]).toEqual([1, 1])
        // Longer than a lease: it was given back, and for a minute.
        yield* TestClock.adjust("45 seconds")
        yield* runner.runOnce
        expect(tries).toBe(1)
        yield* TestClock.adjust("15 seconds")
        yield* runner.runOnce
        expect(tries).toBe(2)
        yield* TestClock.adjust("1 minute")
        yield* runner.runOnce
        yield* TestClock.adjust("1 minute")
        yield* runner.runOnce
        // Twice it failed, once it had its turn; the next one is ten minutes away.
        expect(tries).toBe(3)
      })
    ))

  it("of a worker that was killed is taken again once its lease has run out", () =>
    inStore(
      Effect.gen(function* () {
        const { task, turns } = counting()
        const runner = yield* instance([task])
        yield* runner.runOnce
        yield* TestClock.adjust("10 minutes")
        const work = yield* WorkQueue
        const killed = { queue: "schedules", worker: "killed", limit: 1, leaseMillis: 30_000 }
        expect(yield* work.lease(killed)).toHaveLength(1)
        yield* TestClock.adjust("29 seconds")
        yield* runner.runOnce
        expect(turns).toHaveLength(0)
        yield* TestClock.adjust("2 seconds")
        yield* runner.runOnce
        expect(turns).toHaveLength(1)
      })
    ))

  it("whose worker wakes after its lease overwrites nothing that another worker wrote", () =>
    inStore(
      Effect.gen(function* () {
        const reached = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        const written: Array<string> = []
        const task = (name: string, pause: Effect.Effect<void>): Schedule.Task<Records> => ({
          name: "writes",
          doc: "Writes in a transaction of its own.",
          every: 10 * minute,
          run: (turn) =>
            Effect.flatMap(Records, (records) =>
              Effect.andThen(
                pause,
                records.transactAlone(
                  Effect.gen(function* () {
                    yield* turn.fence
                    yield* records.whenCommitted(Effect.sync(() => void written.push(name)))
                    yield* turn.next({ delay: 10 * minute, state: name })
                  })
                )
              )
            )
        })
        const paused = Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(goOn))
        const slow = yield* instance([task("slow", Effect.asVoid(paused))])
        const quick = yield* instance([task("quick", Effect.void)])
        yield* slow.runOnce
        yield* TestClock.adjust("10 minutes")
        const stuck = yield* Effect.forkChild(slow.runOnce)
        yield* Deferred.await(reached)
        // The slow one does not even renew: its lease is another's by now.
        const work = yield* WorkQueue
        yield* work.settle({ queue: "schedules", itemIds: ["writes"] })
        yield* work.enqueue([
          { queue: "schedules", itemId: "writes", resource: "writes", payload: "", delay: 0 }
        ])
        yield* quick.runOnce
        yield* Deferred.succeed(goOn, undefined)
        yield* Fiber.join(stuck)
        expect(written).toEqual(["quick"])
        expect(yield* work.find({ queue: "schedules", itemId: "writes" })).toMatchObject({
          value: { payload: "quick" }
        })
      })
    ))

  it("of a version that this one does not know is neither removed nor taken", () =>
    inStore(
      Effect.gen(function* () {
        const laterTask = counting("of a later version")
        const knownTask = counting("known")
        yield* (yield* instance([laterTask.task, knownTask.task])).runOnce
        yield* TestClock.adjust("10 minutes")
        const old = yield* instance([knownTask.task])
        yield* old.runOnce
        expect([laterTask.turns.length, knownTask.turns.length]).toEqual([0, 1])
        // The unknown task is left to engines that know it, and not looked at every minute.
        yield* TestClock.adjust("5 minutes")
        expect(yield* old.runOnce).toBe(0)
        yield* TestClock.adjust("1 hour")
        yield* (yield* instance([laterTask.task])).runOnce
        expect(laterTask.turns).toHaveLength(1)
      })
    ))

  it("that ends its turn itself keeps its interval and its state", () =>
    inStore(
      Effect.gen(function* () {
        const states: Array<string> = []
        const task: Schedule.Task = {
          name: "steps",
          doc: "Goes in steps.",
          every: 10 * minute,
          run: ({ next, state }) =>
            Effect.suspend(() => {
              states.push(state)
              return next({ delay: state === "aa" ? 5 * minute : 0, state: `${state}a` })
            })
        }
        const runner = yield* instance([task])
        yield* runner.runOnce
        yield* TestClock.adjust("10 minutes")
        for (let n = 0; n < 6; n++) yield* runner.runOnce
        expect(states).toEqual(["", "a", "aa"])
        yield* TestClock.adjust("5 minutes")
        yield* runner.runOnce
        expect(states.at(-1)).toBe("aaa")
      })
    ))

  it("never has no turn while the engine runs, or keeps it from stopping", () =>
    inStore(
      Effect.gen(function* () {
        const { task, turns } = counting()
        const runner = yield* instance([task])
        const running = yield* Effect.forkChild(runner.run)
        yield* TestClock.adjust("31 minutes")
        expect(turns).toHaveLength(3)
        yield* Fiber.interrupt(running)
      })
    ))
})
