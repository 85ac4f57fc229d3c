/**
 * Runs by chance at the same time on two engines, of one instrument, of several and of every one: findings
 * are those of the same runs one after another.
 */
import { Clock, Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { movedClock } from "../engine/moved-clock.ts"
import * as Calls from "../engine/calls.ts"
import * as Parts from "./run-parts.ts"
import * as Reconciling from "./reconciling.ts"

type Fund = Parts.Fund

const round = fc.record({
  units: fc.record({
    "fund-a": fc.integer({ min: 0, max: 2 }),
    "fund-b": fc.integer({ min: 0, max: 2 }),
    "fund-c": fc.integer({ min: 0, max: 2 })
  }),
  runs: fc.array(
    fc.record({
      engine: fc.constantFrom(0 as const, 1 as const),
      funds: fc.option(fc.subarray([...Parts.funds], { minLength: 1 }), { freq: 2 })
    }),
    { minLength: 2, maxLength: 5 }
  )
})

describe("runs at the same time", () => {
  it("find what they find one after another", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 3 }), (rounds) =>
        Calls.runCase(
          Effect.gen(function* () {
            const engines = yield* Parts.engines(Parts.stores[0]!.open)
            yield* Effect.gen(function* () {
              const registrar = yield* Parts.planted({})
              const book = new Map<Fund, { seen: number; isOpen: boolean }>()
              for (const { units, runs } of rounds) {
                for (const fund of Parts.funds) yield* Parts.plant(registrar, fund, units[fund])
                yield* Effect.forEach(
                  runs,
                  ({ engine, funds }) => {
                    const body = funds === null ? {} : { scope: { instrumentIds: funds } }
                    // A caller that waited longer than a call may is told to call again.
                    const run = Reconciling.run(JSON.stringify(body)).pipe(
                      Effect.retry({ while: ({ _tag }) => _tag === "Unavailable", times: 20 })
                    )
                    return Effect.provide(run, engines[engine].context)
                  },
                  { concurrency: "unbounded" }
                )
                for (const fund of Parts.funds) {
                  const covering = runs.filter(({ funds }) => funds?.includes(fund) ?? true).length
                  const before = book.get(fund)
                  if (covering === 0) continue
                  if (units[fund] > 0) {
                    book.set(fund, { seen: (before?.seen ?? 0) + covering, isOpen: true })
                  } else if (before !== undefined) book.set(fund, { ...before, isOpen: false })
                }
                expect(yield* Parts.supplies).toEqual(
                  [...book]
                    .map(
                      ([fund, { isOpen, seen }]) => `${fund} ${isOpen ? "open" : "cleared"} ${seen}`
                    )
                    .toSorted()
                )
              }
            }).pipe(Effect.provide(engines[0].context))
          }).pipe(Effect.provideService(Clock.Clock, movedClock().clock))
        )
      ),
      { numRuns: 6 }
    )
  }, 60_000)
})
