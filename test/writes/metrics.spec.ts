/** Metrics of writes: counts every state of an operation once, and its duration. */
import { Metrics } from "@bursar/engine-core"
import { Effect, Metric } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "@effect/vitest"
import * as Calls from "../engine/calls.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"

const olive = Calls.person("olive", "operator")
const anna = Calls.person("anna", "approver")

const countOf = (kind: string, state: string) =>
  Effect.map(
    Metric.value(Metric.withAttributes(Metrics.operations, { kind, state })),
    ({ count }) => count
  )

/** Adds two, by Olive and Anna; more than three is refused when it runs. */
const add = Effect.fnUntraced(function* (key: string) {
  const call = Calls.submit(Toys.capped, olive, {
    params: { counterId: "a" },
    body: `{"by": 2}`,
    key
  })
  const action = yield* call
  yield* Calls.approve(String(Calls.field(action, "actionKey")), anna)
  yield* call
})

describe("the engine's metrics", () => {
  // Red without the count in OpenWrite, in `Claim.begin` or in OperationTransitions: a figure is short.
  it.effect(
    "count an operation at each state it comes to, once, also when the call is repeated",
    () =>
      Effect.gen(function* () {
        yield* add("one")
        yield* add("two")
        const states = (state: string) => countOf("reserve.close", state)
        expect([yield* states("queued"), yield* states("running")]).toEqual([2, 0])
        yield* TestClock.adjust("3 seconds")
        yield* Calls.settle
        yield* Calls.settle
        expect(yield* states("queued")).toBe(2)
        expect(yield* states("running")).toBe(2)
        expect(yield* states("succeeded")).toBe(1)
        expect(yield* states("failed")).toBe(1)
        const duration = Metric.withAttributes(Metrics.operationDuration, {
          kind: "reserve.close"
        })
        const { count, sum } = yield* Metric.value(duration)
        expect(count).toBe(2)
        expect(sum).toBeGreaterThanOrEqual(6)
        expect(sum).toBeLessThan(7)
      }).pipe(
        Effect.provide(world({ operations: [Toys.capped] })),
        Effect.provideService(Metric.MetricRegistry, new Map())
      )
  )
})
