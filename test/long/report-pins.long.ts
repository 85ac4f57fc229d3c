/** Every report over HTTP on PostgreSQL: the same bytes after 1,000 later updates, and of a host started anew. */
import { describe, expect, it } from "vitest"
import { walkSeed } from "../seeds.ts"
import * as Histories from "../http/report-histories.ts"
import * as Pins from "../http/report-pins.ts"

const histories: ReadonlyArray<readonly [string, Pins.History]> = [
  ["a fund that pays cash", Histories.months({ seed: walkSeed(1), months: 2 })],
  ["a fund that pays units", Histories.months({ seed: walkSeed(0), months: 2 })],
  ["a backed instrument", Histories.backed],
  ["a rebasing instrument", Histories.rebasing]
]

describe("reports in PostgreSQL at the points of a history", () => {
  it.each(histories)(
    "never say another byte after later updates, or of a host started anew: %s",
    async (_, history) => {
      const { after, alike, anew, answered } = await Pins.keeps(history, {
        place: Pins.postgres,
        every: 3,
        isOfEachOffset: true,
        updates: 1_000
      })
      expect([after, anew], "as many answered as before").toEqual([answered, answered])
      expect(alike, "by `asOf` and by `at`").toEqual(Pins.reports)
    }
  )
})
