/** Every report over HTTP on PostgreSQL: the same bytes after 1,000 later updates, and of a host started anew. */
import { Clock, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { movedClock } from "../engine/moved-clock.ts"
import * as Histories from "../http/report-histories.ts"
import * as Pins from "../http/report-pins.ts"

const today = Math.floor(Date.now() / 86_400_000)

const histories: ReadonlyArray<readonly [string, Pins.History]> = [
  ["a fund that pays cash", Histories.months({ seed: 2 * today + 1, months: 2 })],
  ["a fund that pays units", Histories.months({ seed: 2 * today, months: 2 })]
]

describe("reports in PostgreSQL at the points of a history", () => {
  it.each(histories)(
    "never say another byte after later updates, or of a host started anew: %s",
    async (_, history) => {
      const { after, alike, anew, answered } = await Pins.keeps(history, {
        store: Pins.postgres,
        clock: Layer.succeed(Clock.Clock, movedClock().clock),
        every: 6,
        updates: 1_000
      })
      expect([after, anew], "as many answered as before").toEqual([answered, answered])
      expect(alike).toBeGreaterThan(0)
    }
  )
})
