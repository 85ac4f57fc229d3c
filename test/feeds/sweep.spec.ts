/** Constants of retention: records of a batch, and how long a rate budget may be unused. */
import { Engine, Records, Workers } from "@bursar/engine-core"
import { Decimal, Duration } from "@bursar/engine-core/kernel"
import { Feed, Keys, RateWindow } from "@bursar/engine-core/ports"
import { Effect, Layer, References } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { recoveryEvents } from "#core/powers/Recovery.ts"
import { announcing } from "#core/records/EventDeclaration.ts"
import { periods } from "#core/engine/Retention.ts"
import * as Calls from "../engine/calls.ts"
import { ports, world } from "../engine/world.ts"

const turns = Effect.flatMap(Workers.runnerOf("schedules"), ({ runOnce }) =>
  Effect.repeat(runOnce, { while: (n) => n > 0 })
)

const recovered = announcing(recoveryEvents)("holder.recovered", {
  operationId: "op_1",
  from: { holderId: "old" },
  to: { holderId: "new" },
  quantity: Decimal.one
})

describe("a turn of retention", () => {
  // Red when `batchMax` of RetentionSteps.ts is another.
  it("never takes more than a thousand events at once, or fewer while there are more", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const records = yield* Records
        const feed = yield* Feed
        const { runOnce } = yield* Workers.runnerOf("schedules")
        const event = {
          ...recovered,
          resourceKind: "holder" as const,
          resourceId: "new",
          instrumentId: null,
          party: null,
          holderIds: ["old", "new"]
        }
        yield* records.transact(records.announce(Array.from({ length: 1_500 }, () => event)))
        const { seq } = yield* feed.head
        yield* turns
        yield* TestClock.adjust("3 days")
        const places = [0]
        while ((yield* runOnce) > 0) {
          const { prunedTo } = yield* feed.head
          if (prunedTo > (places.at(-1) ?? 0)) places.push(prunedTo)
        }
        expect(places).toEqual([0, 1_000, seq])
      }).pipe(
        Effect.provide(
          world({ settings: { retention: { ...periods, events: Duration.of("P1D") } } })
        )
      )
    ))
})

describe("a budget that nobody uses", () => {
  // Red when `idle` of RetentionRunner.ts is another. The sweep's turns are ten minutes apart.
  it.each([
    ["not yet after 9 minutes 59", 1, 1],
    ["at the first sweep after ten minutes", 2, 0]
  ] as const)("is forgotten otherwise than by its rest: %s", (_, sweeps, left) =>
    Calls.runCase(
      Effect.gen(function* () {
        const budgets = yield* RateWindow
        yield* turns
        yield* TestClock.adjust("1 second")
        yield* budgets.take({ subject: "olga", cost: 1, interval: 1, tolerance: 1_000 })
        for (let had = 0; had < sweeps; had++) {
          yield* TestClock.adjust("10 minutes")
          yield* turns
        }
        expect(yield* budgets.forget({ idle: 0, limit: 10 })).toBe(left)
      }).pipe(Effect.provide(world()))
    )
  )
})

describe("a sweep whose nonces cannot be deleted", () => {
  // Red where the sweep ends with its first failure.
  it("deletes the idle budgets, and is tried again a minute later", () => {
    let tries = 0
    const breaking = Effect.map(Keys, (keys) => ({
      ...keys,
      forget: () =>
        Effect.suspend(() => {
          tries += 1
          return Effect.die(new Error("an index is broken"))
        })
    }))
    return Calls.runCase(
      Effect.gen(function* () {
        const budgets = yield* RateWindow
        yield* turns
        yield* budgets.take({ subject: "olga", cost: 1, interval: 1, tolerance: 1_000 })
        yield* TestClock.adjust("20 minutes")
        yield* turns
        expect(yield* budgets.forget({ idle: 0, limit: 10 })).toBe(0)
        yield* TestClock.adjust("1 minute")
        yield* turns
        expect(tries).toBe(2)
      }).pipe(
        Effect.provide(
          Engine.layerOf({ operations: [], fromLedger: [] }).pipe(
            Layer.provide(Layer.effect(Keys, breaking)),
            Layer.provideMerge(ports())
          )
        ),
        Effect.provideService(References.MinimumLogLevel, "None")
      ) as Effect.Effect<void, unknown>
    )
  })
})
