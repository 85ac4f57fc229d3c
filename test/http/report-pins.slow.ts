/** Every report over HTTP, in JSON and as a table: the same bytes whenever and of whichever host it is asked for again. */
import { describe, expect, it } from "vitest"
import { isLong } from "../long-run.ts"
import { walkSeed } from "../seeds.ts"
import * as Histories from "./report-histories.ts"
import * as Pins from "./report-pins.ts"

/** Of its first month all are paid, and somebody sells. */
const paying = 5

const histories: ReadonlyArray<readonly [string, Pins.History]> = [
  [
    "a fund that pays cash",
    Histories.months({ seed: isLong ? walkSeed(1) : paying, months: isLong ? 3 : 1 })
  ],
  ...(isLong
    ? ([
        ["a fund that pays units", Histories.months({ seed: walkSeed(0), months: 3 })],
        ["a rebasing instrument", Histories.rebasing]
      ] as const)
    : []),
  ["a backed instrument", Histories.backed]
]

describe("reports at the points of a history", () => {
  it.each(histories)(
    "never say another byte after later updates, or of a host started anew: %s",
    async (_, history) => {
      const { after, alike, anew, answered, payments } = await Pins.keeps(history, {
        place: Pins.memory,
        every: isLong ? 1 : 10,
        isOfEachOffset: isLong,
        updates: isLong ? 1_000 : 100
      })
      expect([after, anew], "as many answered as before").toEqual([answered, answered])
      expect(alike, "by `asOf` and by `at`").toEqual(Pins.reports)
      if (history !== Histories.backed && !isLong) expect(payments).toBeGreaterThan(0)
    }
  )
})
