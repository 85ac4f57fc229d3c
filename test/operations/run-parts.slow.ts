/**
 * Runs of several instruments on two engines over one store: they are continued after a crash, leave
 * runs of other instruments alone, and never compare an instrument while another run does.
 */
import { Catalogue, type Engine, Records, type Workers } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber } from "effect"
import { itemOf } from "#core/findings/RunQueue.ts"
import { runParts } from "#core/reconciliation/run/RunPart.ts"
import { runsUnderWay } from "#core/reconciliation/run/RunUnderWay.ts"
import { instrumentVerdicts } from "#core/reconciliation/verdict/InstrumentVerdict.ts"
import * as Calls from "../engine/calls.ts"
import { movedClock } from "../engine/moved-clock.ts"
import * as Parts from "./run-parts.ts"
import * as Reconciling from "./reconciling.ts"

const each = { "fund-a": 7, "fund-b": 8, "fund-c": 9 }

const live = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.provideService(Clock.Clock, movedClock().clock), Effect.scoped)

const dailyQueued = Effect.flatMap(Records, (records) =>
  records.transact(
    records.enqueue([itemOf({ trigger: "schedule", instrumentId: null, causedBy: "2026-03-02" })])
  )
)

/** Number of runs under way, and the instruments whose parts are recorded. */
const left = Effect.gen(function* () {
  const records = yield* Records
  const underWay = yield* records.list(runsUnderWay, { limit: 10 })
  const parts = yield* records.list(runParts, { limit: 10 })
  return [underWay.length, parts.flatMap(({ record }) => record.instrumentId ?? [])] as const
})

const verdicts = Effect.flatMap(Records, (records) =>
  Effect.map(records.many(instrumentVerdicts, Parts.funds), (all) =>
    all.map(({ instrumentId, runId, verdict }) => `${instrumentId} ${runId} ${verdict}`)
  )
)

/** Lets the leases of a dead engine end. */
const leasesEnd = Effect.sleep(2 * Parts.leaseMillis)

/** Takes what is queued until a run is recorded: on a busy machine a dead engine's leases end later. */
const runIsRecorded = ({ runner }: { readonly runner: Workers.Runner }) =>
  Effect.gen(function* () {
    while ((yield* Reconciling.allRuns).length === 0) {
      yield* runner.runOnce
      yield* Effect.sleep(Parts.leaseMillis / 10)
    }
  })

describe("a run of every instrument whose host dies between two of them", () => {
  it.live.each(Parts.stores)(
    "is continued by another as the same run, and the dead one that wakes changes nothing ($name)",
    ({ open }) =>
      Effect.gen(function* () {
        const [first, second] = yield* Parts.engines(open)
        yield* Effect.gen(function* () {
          yield* Parts.planted(each)
          yield* dailyQueued
          Object.assign(first.life, { stopsAt: "fund-b", side: "before" })
          const dying = yield* Effect.forkChild(first.runner.runOnce)
          yield* Deferred.await(first.life.stopped)
          first.life.isDead = true
          assert.deepStrictEqual(yield* left, [1, ["fund-a"]])
          assert.deepStrictEqual(yield* Reconciling.allRuns, [])
          assert.deepStrictEqual(yield* Parts.supplies, ["fund-a open 1"])

          yield* leasesEnd
          yield* runIsRecorded(second)
          const [run, ...more] = yield* Reconciling.allRuns
          assert.deepStrictEqual(
            [run?.trigger, run?.verdict, run?.scope.instrumentIds, more.length],
            ["schedule", "blocked", null, 0]
          )
          assert.strictEqual(
            run?.checks.find(({ check }) => check === "register-supply")?.findings,
            3
          )
          const all = ["fund-a open 1", "fund-b open 1", "fund-c open 1"]
          assert.deepStrictEqual(yield* Parts.supplies, all)
          assert.deepStrictEqual(
            yield* verdicts,
            Parts.funds.map((instrumentId) => `${instrumentId} ${run?.runId} blocked`)
          )
          assert.strictEqual(run?.holdsOpened.length, 3)
          assert.deepStrictEqual(yield* left, [0, []])

          // The host was paused, not dead.
          first.life.isDead = false
          yield* Deferred.succeed(first.life.wakes, undefined)
          yield* Fiber.join(dying)
          yield* second.runner.runOnce
          assert.strictEqual((yield* Reconciling.allRuns).length, 1)
          assert.deepStrictEqual(yield* Parts.supplies, all)
          assert.deepStrictEqual(yield* left, [0, []])
        }).pipe(Effect.provide(second.context))
      }).pipe(live)
  )

  it.live.each(Parts.stores)(
    "answers the call that is repeated with the one run that was called for ($name)",
    ({ open }) =>
      Effect.gen(function* () {
        const [first, second] = yield* Parts.engines(open)
        yield* Effect.gen(function* () {
          yield* Parts.planted(each)
          Object.assign(first.life, { stopsAt: "fund-c", side: "after" })
          const called = { key: "k-1" }
          const dying = yield* Effect.forkChild(
            Effect.provide(Reconciling.run("{}", called), first.context)
          )
          yield* Deferred.await(first.life.stopped)
          first.life.isDead = true
          const again = yield* Reconciling.run("{}", called)
          const [run, ...more] = yield* Reconciling.allRuns
          assert.deepStrictEqual(
            [again.replayed, again.value.runId, again.value.trigger, more.length],
            [true, run?.runId ?? "", "manual", 0]
          )
          assert.deepStrictEqual(yield* Parts.supplies, [
            "fund-a open 1",
            "fund-b open 1",
            "fund-c open 1"
          ])
          assert.deepStrictEqual(yield* left, [0, []])
          yield* Deferred.succeed(first.life.wakes, undefined)
          yield* Fiber.interrupt(dying)
          assert.strictEqual((yield* Reconciling.allRuns).length, 1)
        }).pipe(Effect.provide(second.context))
      }).pipe(live)
  )

  it.live("is continued from the queue where nobody repeats its call", () =>
    Effect.gen(function* () {
      const [first, second] = yield* Parts.engines(Parts.stores[0]!.open)
      yield* Effect.gen(function* () {
        yield* Parts.planted(each)
        Object.assign(first.life, { stopsAt: "fund-b", side: "before" })
        const scope = '{"scope":{"instrumentIds":["fund-c","fund-b","fund-a"]}}'
        const dying = yield* Effect.forkChild(
          Effect.provide(Reconciling.run(scope, { key: "k-1" }), first.context)
        )
        yield* Deferred.await(first.life.stopped)
        first.life.isDead = true
        yield* second.runner.runOnce
        assert.deepStrictEqual(yield* left, [1, ["fund-a"]])
        yield* Effect.sleep(3 * Parts.leaseMillis)
        yield* runIsRecorded(second)
        assert.deepStrictEqual(
          (yield* Reconciling.allRuns).map(({ trigger, verdict }) => `${trigger} ${verdict}`),
          ["manual blocked"]
        )
        assert.deepStrictEqual(yield* left, [0, []])
        const replay = yield* Reconciling.run(scope, { key: "k-1" })
        assert.isTrue(replay.replayed)
        yield* Deferred.succeed(first.life.wakes, undefined)
        yield* Fiber.interrupt(dying)
      }).pipe(Effect.provide(second.context))
    }).pipe(live)
  )
})

describe("runs side by side", () => {
  it.live.each(Parts.stores)(
    "of one instrument are made while a run of every one compares another ($name)",
    ({ open }) =>
      Effect.gen(function* () {
        const [first, second] = yield* Parts.engines(open)
        yield* Effect.gen(function* () {
          yield* Parts.planted(each)
          Object.assign(first.life, { stopsAt: "fund-b", side: "after" })
          const venue = yield* Effect.forkChild(Effect.provide(Reconciling.run(), first.context))
          yield* Deferred.await(first.life.stopped)
          const ofC = yield* Reconciling.run('{"scope":{"instrumentIds":["fund-c"]}}')
          assert.strictEqual(ofC.value.verdict, "blocked")
          const ofA = yield* Reconciling.run('{"scope":{"instrumentIds":["fund-a"]}}')
          assert.strictEqual(ofA.value.verdict, "blocked")
          // The one that is being compared waits for the run, and so does another of all.
          const refused = yield* Effect.all(
            ["fund-b", null].map((fund) =>
              Effect.flip(
                Reconciling.run(fund === null ? "{}" : `{"scope":{"instrumentIds":["${fund}"]}}`)
              )
            ),
            { concurrency: "unbounded" }
          )
          for (const refusal of refused) {
            assert.include(refusal, { _tag: "Unavailable", slug: "overloaded" })
            const { retryAfter } = refusal as { readonly retryAfter: number }
            // Two are left for which one took more than 5 seconds.
            assert.isAtLeast(retryAfter, 5)
            assert.isAtMost(retryAfter, 60)
          }
          yield* Deferred.succeed(first.life.wakes, undefined)
          const made = yield* Fiber.join(venue)
          assert.strictEqual(made.value.verdict, "blocked")
          // The run of all has compared the third once more, at a later pin than the run of it alone.
          assert.deepStrictEqual(yield* Parts.supplies, [
            "fund-a open 2",
            "fund-b open 1",
            "fund-c open 2"
          ])
          assert.deepStrictEqual(yield* left, [0, []])
        }).pipe(Effect.provide(second.context))
      }).pipe(live)
  )

  it.live(
    "of the queue pass over an instrument that another run compares, and go back for it",
    () =>
      Effect.gen(function* () {
        const [first, second] = yield* Parts.engines(Parts.stores[0]!.open)
        yield* Effect.gen(function* () {
          yield* Parts.planted(each)
          Object.assign(first.life, { stopsAt: "fund-a", side: "after" })
          const scope = '{"scope":{"instrumentIds":["fund-a","fund-b"]}}'
          const busy = yield* Effect.forkChild(
            Effect.provide(Reconciling.run(scope), first.context)
          )
          yield* Deferred.await(first.life.stopped)
          yield* dailyQueued
          yield* second.runner.runOnce
          const [, recorded] = yield* left
          assert.deepStrictEqual(recorded.toSorted(), ["fund-b", "fund-c"])
          assert.deepStrictEqual(yield* Reconciling.allRuns, [])
          yield* Deferred.succeed(first.life.wakes, undefined)
          yield* Fiber.join(busy)
          yield* second.runner.runOnce.pipe(
            Effect.andThen(Effect.sleep(Parts.leaseMillis / 10)),
            Effect.andThen(Reconciling.allRuns),
            Effect.repeat({ until: (made) => made.length === 2 })
          )
          const daily = (yield* Reconciling.allRuns).find(({ trigger }) => trigger === "schedule")
          assert.strictEqual(
            daily?.checks.find(({ check }) => check === "register-supply")?.findings,
            3
          )
          assert.deepStrictEqual(yield* left, [0, []])
        }).pipe(Effect.provide(second.context))
      }).pipe(live)
  )

  it.live("tell a call under the key of a run under way how long it takes", () =>
    Effect.gen(function* () {
      const [first, second] = yield* Parts.engines(Parts.stores[0]!.open)
      yield* Effect.gen(function* () {
        yield* Parts.planted(each)
        Object.assign(first.life, { stopsAt: "fund-b", side: "before" })
        const called = Reconciling.run("{}", { key: "k-1" })
        const venue = yield* Effect.forkChild(Effect.provide(called, first.context))
        yield* Deferred.await(first.life.stopped)
        const refusal = yield* Effect.flip(called)
        assert.include(refusal, { slug: "idempotency-in-progress" })
        yield* Deferred.succeed(first.life.wakes, undefined)
        const made = yield* Fiber.join(venue)
        const again = yield* called
        assert.deepStrictEqual([again.replayed, again.value], [true, made.value])
      }).pipe(Effect.provide(second.context))
    }).pipe(live)
  )
})

describe("equal calls without a key on two engines", () => {
  it.live.each(Parts.stores)(
    "are one run and one write, also once the first are over ($name)",
    ({ open }) =>
      Effect.gen(function* () {
        const [first, second] = yield* Parts.engines(open)
        const onBoth = <A, E, R extends Engine.Services>(call: Effect.Effect<A, E, R>) =>
          Effect.all(
            [first, second].map(({ context }) => Effect.provide(call, context)),
            { concurrency: "unbounded" }
          )
        yield* Effect.gen(function* () {
          yield* Parts.planted(each)
          const pause = Catalogue.operations.find(({ kind }) => kind === "instrument.pause")!
          const pauses = Calls.submit(pause, Calls.operator, {
            params: { instrumentId: "fund-a" },
            body: '{"reason":"to see"}'
          })
          const operationIds: Array<unknown> = []
          const runIds: Array<string> = []
          for (let time = 0; time < 2; time++) {
            const runs = yield* onBoth(Reconciling.run("{}", { key: null }))
            assert.strictEqual(new Set(runs.map(({ value }) => value.runId)).size, 1)
            runIds.push(runs[0]!.value.runId)
            const paused = yield* onBoth(pauses)
            const ids = paused.map((answer) => Calls.field(answer, "operationId"))
            assert.strictEqual(new Set(ids).size, 1)
            operationIds.push(ids[0])
            yield* Calls.settle
            const held = (yield* Reconciling.openHolds).filter(({ source }) => source === "manual")
            assert.strictEqual(held.length, 1)
            for (const { holdId } of held) yield* Calls.write("hold.release", { holdId }, {})
          }
          assert.strictEqual(new Set(operationIds).size, 2)
          assert.strictEqual(new Set(runIds).size, 2)
        }).pipe(Effect.provide(second.context))
      }).pipe(live)
  )
})
