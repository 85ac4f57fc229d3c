/** Random histories of orders and policies: a run that starts by itself finds the orders that a reading of all finds. */
import { Records } from "@bursar/engine-core"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { expect } from "vitest"
import { findings } from "#core/findings/Finding.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { brief, read, scene, whole } from "../operations/brief-runs.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Reconciling from "../operations/reconciling.ts"

const steps = fc.array(
  fc.record({
    step: fc.constantFrom("claim", "claim", "forge", "brief", "brief", "whole", "few", "policy"),
    order: fc.nat({ max: 20 }),
    version: fc.integer({ min: 1, max: 4 })
  }),
  { minLength: 6, maxLength: 14 }
)

it("finds the orders that a reading of all finds", async () => {
  await fc.assert(
    fc.asyncProperty(steps, (walk) =>
      Calls.runCase(
        Effect.gen(function* () {
          const { claims, forges } = yield* scene
          const orders = ["s1"]
          let version = 1
          for (const { step, order, version: other } of walk) {
            const id = orders[order % orders.length]!
            if (step === "claim") {
              const next = `c${orders.length}`
              orders.push(next)
              yield* claims([next], other)
            } else if (step === "forge") yield* forges(id, other)
            else if (step === "brief") yield* brief
            else if (step === "whole") yield* whole
            else if (step === "few") {
              yield* Reconciling.run('{"scope":{"checks":["holder-cap","policy-replay"]}}')
            } else {
              const { state } = yield* Cycles.changes(version, { holderCap: 50 + version })
              if (state === "succeeded") version += 1
            }
            expect((yield* read(true)).found).toEqual((yield* read(false)).found)
            if (order % 2 === 0) yield* TestClock.adjust("1 second")
          }
        }).pipe(Effect.provide(world()))
      )
    ),
    { numRuns: Number(process.env["BRIEF_RUNS"] ?? 30) }
  )
})

it.effect("judges all orders where no run has, and after one that had too many findings", () =>
  Effect.gen(function* () {
    const { claims } = yield* scene
    yield* claims(
      Array.from({ length: 1_002 }, (_, n) => `x${n}`),
      7
    )
    yield* brief
    yield* TestClock.adjust("1 second")
    const records = yield* Records
    const count = records.countBy(findings, "state", { where: { check: ["policy-replay"] } })
    assert.deepEqual([...(yield* count)], [["open", 1_001]])
    // The two beyond the limit are judged again, though nothing has changed.
    assert.strictEqual((yield* read(true)).count, 1_003)
    yield* brief
    assert.deepEqual(
      new Map(yield* count),
      new Map([
        ["open", 1_002],
        ["cleared", 1]
      ])
    )
  }).pipe(Effect.provide(world()))
)
