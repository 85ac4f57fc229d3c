/** Dealing days by chance against books kept by hand: cycles, gates, swings and both ways of payment. */
import { describe, expect, it } from "vitest"
import { walkSeed } from "../seeds.ts"
import * as Calls from "../engine/calls.ts"
import * as B from "./books.ts"
import { deal } from "./dealing.ts"

/** The first are always the same; the last is of the seed of the run. */
const seeds = [4, 7, walkSeed(0)]

describe("dealing days by chance", () => {
  const seen = new Map<string, number>()
  for (const seed of seeds) {
    it(`lose no unit and no cent, whatever breaks: npm run sim -- --seed ${seed} --days 5`, async () => {
      const summary = await Calls.runCase(deal({ seed, days: 5 }))
      for (const [what, times] of Object.entries({ ...summary.seen, ...summary.orders })) {
        seen.set(what, (seen.get(what) ?? 0) + times)
      }
    })
  }

  it("count something: cycles that settle, redemptions of both kinds, swings and gates", () => {
    const often = ["dealing-cycle.settle succeeded", "redemption settled", "kills"]
    const once = [
      "refunds",
      "swung",
      "gated",
      "figures moved",
      "policies",
      "redemption.settle succeeded"
    ]
    for (const what of often) expect(seen.get(what) ?? 0, what).toBeGreaterThan(2)
    for (const what of once) expect(seen.get(what) ?? 0, what).toBeGreaterThan(0)
  })

  it("are counted by books of their own: the examples of the rules come out", () => {
    expect(B.bought(10_000_000n, 10_437_000_000n, 0n, 10_000n)).toBe(958_129_730_760_000n)
    // 50.00 buys three units at 13.37, and leaves 9.89 over.
    expect(B.bought(5_000n, 133_700_000_000n, 0n, 10_000_000_000n)).toBe(30_000_000_000n)
    expect(B.refunded(5_000n, 133_700_000_000n, 0n, 30_000_000_000n)).toBe(989n)
    expect(B.paid(300_000_000_000_000n, 10_437_000_000n, 0n)).toBe(3_131_100n)
    expect(B.sold(2_500_000n, 10_437_000_000n, 50n, 10_000n)).toBe(240_736_113_260_000n)
    const whole = ["30", "31", "39"].map((units, index) => ({
      id: ["a", "b", "c"][index] ?? "",
      units: BigInt(units)
    }))
    expect([...B.gated(whole, 10n)].toSorted()).toEqual([
      ["a", 3n],
      ["b", 3n],
      ["c", 4n]
    ])
  })
})
