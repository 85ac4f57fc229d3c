/**
 * Due instants of the daily reconciliation run: over clock changes, downtime, and a changed
 * setting.
 */
import { Date, Duration, Instant, TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { daysOf, isDue } from "#core/reconciliation/run/DailyRunRules.ts"

const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"].map(Zone.of)
const minutes = (count: number) => Duration.millis(count * 60_000)

describe("the daily run", () => {
  // Clock changes of 2026: at 02:00 to 03:00, and at 03:00 back to 02:00.
  it.each([
    ["Europe/Berlin", "02:30", "2026-03-28", "2026-03-28T01:30:00Z"],
    ["Europe/Berlin", "02:30", "2026-03-29", "2026-03-29T01:00:00Z"],
    ["Europe/Berlin", "02:30", "2026-10-25", "2026-10-25T00:30:00Z"],
    ["America/New_York", "02:30", "2026-03-08", "2026-03-08T07:00:00Z"],
    ["America/New_York", "01:30", "2026-11-01", "2026-11-01T05:30:00Z"],
    ["Australia/Lord_Howe", "02:15", "2026-10-04", "2026-10-03T15:30:00Z"],
    ["Australia/Lord_Howe", "01:45", "2026-04-05", "2026-04-04T14:45:00Z"]
  ])("of %s at %s on %s is due at %s", (zone, time, day, at) => {
    const daily = { zone: Zone.of(zone), time: TimeOfDay.of(time) }
    const instant = Instant.of(at)
    expect(daysOf(daily, instant).latest).toBe(day)
    const before = daysOf(daily, Instant.fromNanos(instant - 1n))
    expect(before).toEqual({ latest: Date.previous(Date.of(day)), nextAt: instant })
  })

  it("is queued once for each day on which a host looks, whatever the clock of the zone does", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 23 }),
        fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 20, maxLength: 200 }),
        (zone, hour, steps) => {
          const at = { zone, time: TimeOfDay.of(`${String(hour).padStart(2, "0")}:30`) }
          let now = Instant.of("2026-03-01T00:00:00Z")
          let queued: string | null = null
          const runs: Array<string> = []
          const passed = new Set<string>()
          for (const step of steps) {
            now = Instant.add(now, minutes(step))
            const days = daysOf(at, now)
            expect(days.nextAt > now).toBe(true)
            // The day of the next run is the day after that of the latest.
            expect(daysOf(at, days.nextAt).latest).toBe(Date.next(days.latest))
            if (isDue(queued, days)) runs.push(days.latest)
            if (queued !== null && days.latest !== queued) passed.add(days.latest)
            queued = days.latest
          }
          expect(runs).toEqual([...passed])
          expect(new Set(runs).size).toBe(runs.length)
        }
      ),
      { numRuns: 100, seed: 15 }
    )
  })

  it("is not due on the day that it is switched on, nor again where its time becomes a later one", () => {
    const days = daysOf({ zone: Zone.utc, time: TimeOfDay.of("02:00") }, at("2026-03-02T02:30:00Z"))
    expect([isDue(null, days), isDue("2026-03-01", days), isDue("2026-03-02", days)]).toEqual([
      false,
      true,
      false
    ])
    const moved = daysOf(
      { zone: Zone.utc, time: TimeOfDay.of("03:00") },
      at("2026-03-02T02:45:00Z")
    )
    expect([moved.latest, isDue("2026-03-02", moved)]).toEqual(["2026-03-01", false])
  })
})

const at = Instant.of
