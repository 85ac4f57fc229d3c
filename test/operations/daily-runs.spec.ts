/** The daily reconciliation run: one a venue and day, whichever hosts run and whenever they look. */
import { Engine, Workers } from "@bursar/engine-core"
import { TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { world } from "../engine/world.ts"
import * as Reconciling from "./reconciling.ts"
import * as Story from "./story.ts"
import * as Venue from "./venue.ts"

const scheduled = Effect.map(Reconciling.allRuns, (all) =>
  all.map(({ trigger, scope }) => `${trigger} ${JSON.stringify(scope)}`)
)

const day = 'schedule {"instrumentIds":null,"checks":null}'

/** Another host over the same storage, and this one, each with its own turns. */
const twoHosts = Effect.gen(function* () {
  const other = yield* Layer.build(Layer.fresh(Engine.layer))
  const own = yield* Effect.context<Workers.Workers>()
  return Effect.forEach(
    [own, other],
    (host) =>
      Effect.andThen(
        Context.get(host, Workers.Workers).runnerOf("schedules").runOnce,
        Context.get(host, Workers.Workers).runnerOf("venue-reconciliation").runOnce
      ),
    { concurrency: "unbounded" }
  )
})

const recorded = Effect.gen(function* () {
  const cast = yield* Story.cast
  yield* Story.recorded(cast)
})

describe("the daily run", () => {
  it.effect("is never made twice a day by two hosts, nor on the day of the first start", () =>
    Effect.gen(function* () {
      yield* recorded
      const turn = yield* twoHosts
      // The clock of tests starts at 10:00 UTC: the time of the first day has passed.
      for (const [hours, runs] of [
        [14, 0],
        [3, 1],
        [22, 1],
        [2, 2],
        [5, 2]
      ] as const) {
        for (let step = 0; step < hours * 2; step++) {
          yield* TestClock.adjust("30 minutes")
          yield* turn
          yield* turn
        }
        assert.deepEqual(
          yield* scheduled,
          Array.from({ length: runs }, () => day)
        )
      }
    }).pipe(Venue.engine(), Effect.scoped)
  )

  it.effect("is made once for all days on which no host ran", () =>
    Effect.gen(function* () {
      yield* recorded
      const turn = yield* twoHosts
      yield* TestClock.adjust("1 hour")
      yield* turn
      yield* TestClock.adjust("1 hour")
      yield* turn
      yield* TestClock.adjust("5 days")
      for (let times = 0; times < 4; times++) yield* turn
      yield* TestClock.adjust("1 hour")
      yield* turn
      assert.deepEqual(yield* scheduled, [day])
    }).pipe(Venue.engine(), Effect.scoped)
  )

  it.effect("is never made where the setting is off", () => {
    const settings = { reconciliationAt: null }
    return Effect.gen(function* () {
      yield* recorded
      const turn = yield* twoHosts
      for (let days = 0; days < 4; days++) {
        yield* TestClock.adjust("1 day")
        yield* turn
      }
      assert.deepEqual(yield* scheduled, [])
    }).pipe(Effect.provide(world({ settings })), Effect.scoped)
  })

  it.effect("is made at the time of the setting's zone", () => {
    const zone = Zone.of("America/New_York")
    const settings = { reconciliationAt: { time: TimeOfDay.of("20:00"), zone } }
    return Effect.gen(function* () {
      yield* recorded
      const turn = yield* twoHosts
      const made: Array<number> = []
      for (let hours = 0; hours < 24; hours++) {
        yield* turn
        yield* TestClock.adjust("1 hour")
        yield* turn
        yield* turn
        made.push((yield* scheduled).length)
      }
      // From 10:00 UTC it is fourteen hours to midnight, which is 20:00 in New York in summer.
      assert.strictEqual(made.indexOf(1), 13)
      assert.strictEqual(made.at(-1), 1)
    }).pipe(Effect.provide(world({ settings })), Effect.scoped)
  })
})
