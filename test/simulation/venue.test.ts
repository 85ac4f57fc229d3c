/**
 * Chance against the auditor: units, cash and the register add up after each step, with any faults.
 */
import { describe, expect, it } from "vitest"
import { walkSeed } from "../seeds.ts"
import * as Calls from "../engine/calls.ts"
import { firstOf } from "../long-run.ts"
import { buys } from "./auditor.ts"
import { simulate } from "./venue.ts"

/** The first is of the seed of the run; the others are always the same. */
const seeds = firstOf(2, [walkSeed(0), 2, 1, 3])

describe("a venue by chance", () => {
  let closed = 0
  for (const seed of seeds) {
    it(`adds up after each step: npm run sim -- --venue --seed ${seed} --steps 120`, async () => {
      const summary = await Calls.runCase(simulate({ seed, steps: 120 }))
      closed += summary.orders["closed"] ?? 0
      expect(summary.operations).toBeGreaterThan(15)
      expect(summary.succeeded).toBeGreaterThan(8)
    })
  }

  it("brings orders to their close, so that something was counted", () => {
    expect(closed).toBeGreaterThan(3)
  })

  it("is counted by books of its own: 100000.00 at 1.0437 buys 95812.973076", () => {
    expect(buys(10_000_000n, 10_437n)).toBe(95_812_973_076n)
  })
})
