/** Days of 23 and 25 hours, weeks, months and levels: a step misdrawn would move figures to another day. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { add, flows, levels, pointsMax, steps, tally } from "#core/overviews/series/SeriesRules.ts"
import * as Date from "#core/kernel/Date.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import * as Instant from "#core/kernel/Instant.ts"
import * as Zone from "#core/kernel/Zone.ts"
import type { SeriesInterval } from "#core/vocabulary/sets.ts"

const drawn = (interval: SeriesInterval, zone: string, from: string, to: string) =>
  (steps({ interval, zone: Zone.of(zone), from: Date.of(from), to: Date.of(to) }) ?? []).map(
    ({ start, end }) => `${Instant.format(start).replace(".000000", "")} ${hoursOf(end - start)}h`
  )

const hoursOf = (nanos: bigint): number => Number(nanos / 1_000_000_000n) / 3600

describe("the steps of a series", () => {
  it.each<[string, SeriesInterval, string, string, string, ReadonlyArray<string>]>([
    [
      "a day on which the clocks go forward has 23 hours",
      "day",
      "Europe/Zurich",
      "2026-03-28",
      "2026-03-30",
      ["2026-03-27T23:00:00Z 24h", "2026-03-28T23:00:00Z 23h", "2026-03-29T22:00:00Z 24h"]
    ],
    [
      "a day on which they go back has 25",
      "day",
      "America/New_York",
      "2026-10-31",
      "2026-11-02",
      ["2026-10-31T04:00:00Z 24h", "2026-11-01T04:00:00Z 25h", "2026-11-02T05:00:00Z 24h"]
    ],
    [
      "a day whose midnight is skipped begins where the clock lands",
      "day",
      "America/Sao_Paulo",
      "2018-11-03",
      "2018-11-05",
      ["2018-11-03T03:00:00Z 24h", "2018-11-04T03:00:00Z 23h", "2018-11-05T02:00:00Z 24h"]
    ],
    [
      "a date that the zone never had is no step",
      "day",
      "Pacific/Apia",
      "2011-12-29",
      "2011-12-31",
      ["2011-12-29T10:00:00Z 24h", "2011-12-30T10:00:00Z 24h"]
    ],
    [
      "a week begins on Monday, and one with a change of clocks has 167 hours",
      "week",
      "Europe/Zurich",
      "2026-03-25",
      "2026-03-30",
      ["2026-03-22T23:00:00Z 167h", "2026-03-29T22:00:00Z 168h"]
    ],
    [
      "a month begins on its first day, over the end of a year too",
      "month",
      "UTC",
      "2026-12-31",
      "2027-01-01",
      ["2026-12-01T00:00:00Z 744h", "2027-01-01T00:00:00Z 744h"]
    ],
    ["what ends before it begins has none", "day", "UTC", "2026-01-02", "2026-01-01", []],
    ["not even within one week", "week", "UTC", "2026-01-03", "2026-01-01", []]
  ])("%s", (_, interval, zone, from, to, expected) => {
    expect(drawn(interval, zone, from, to)).toEqual(expected)
  })

  it("are refused one above the limit, and drawn at it", () => {
    const first = Date.of("2020-01-01")
    const last = (count: number) => ({
      interval: "day" as const,
      zone: Zone.utc,
      from: first,
      to: Date.addDays(first, count - 1)
    })
    expect(steps(last(pointsMax))?.length).toBe(pointsMax)
    expect(steps(last(pointsMax + 1))).toBeUndefined()
    expect(steps({ ...last(1), to: Date.of("9999-12-31") })).toBeUndefined()
    for (const interval of ["day", "week", "month"] as const) {
      expect(steps({ ...last(1), interval, from: Date.of("0001-01-01") })).toBeUndefined()
      expect(steps({ ...last(1), interval, from: Date.of("9999-12-31") })).toEqual([])
    }
  })

  it("tile the time in every zone: none overlaps another and nothing lies between two", () => {
    const days = fc.integer({ min: 4_000, max: 24_000 })
    const zones = ["UTC", "Europe/Zurich", "Asia/Beirut", "Africa/Cairo", "Pacific/Apia"]
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom<SeriesInterval>("day", "week", "month"),
        days,
        fc.integer({ min: 0, max: 60 }),
        (zone, interval, day, more) => {
          const from = Date.fromEpochDay(day)
          const to = Date.addDays(from, more)
          const all = steps({ interval, zone: Zone.of(zone), from, to }) ?? []
          for (const [index, { start, end }] of all.entries()) {
            expect(end > start).toBe(true)
            if (index > 0) expect(start).toBe(all[index - 1]?.end)
          }
          expect((all[0]?.start ?? 0n) <= Zone.startOfDay(Zone.of(zone), from)).toBe(true)
          expect((all.at(-1)?.end ?? 0n) >= Zone.startOfDay(Zone.of(zone), Date.next(to))).toBe(
            true
          )
        }
      ),
      { numRuns: 200 }
    )
  })
})

const hour = 3_600_000_000_000n
const at = (hours: number) => Instant.fromNanos(BigInt(hours) * hour)
const threeDays = () =>
  steps({ interval: "day", zone: Zone.utc, from: Date.of("1970-01-01"), to: Date.of("1970-01-03") })

const text = (value: Decimal.Decimal | null) => (value === null ? null : Decimal.formatPlain(value))

describe("what a step came to", () => {
  it("a level opens where the last step closed, and stands until something moves it", () => {
    const kept = tally(threeDays() ?? [])
    add(kept, at(-5), Decimal.of("7"))
    add(kept, at(-9), Decimal.of("9"))
    add(kept, at(30), Decimal.of("3"))
    add(kept, at(26), Decimal.of("5"))
    add(kept, at(30), Decimal.of("4"))
    add(kept, at(72), Decimal.of("1"))
    const found = levels(kept).map((one) => [one.open, one.min, one.max, one.close].map(text))
    expect(found).toEqual([
      ["7", "7", "7", "7"],
      ["7", "3", "7", "4"],
      ["4", "4", "4", "4"]
    ])
    expect(levels(kept).every(({ sum }) => sum === null)).toBe(true)
  })

  it("a level that never was is nothing, and opens at its first", () => {
    const kept = tally(threeDays() ?? [])
    add(kept, at(25), Decimal.of("2"))
    const found = levels(kept).map((one) => [one.open, one.min, one.max, one.close].map(text))
    expect(found).toEqual([
      [null, null, null, null],
      ["2", "2", "2", "2"],
      ["2", "2", "2", "2"]
    ])
  })

  it("what happens adds up by step; a step in which nothing happened sums to 0", () => {
    const kept = tally(threeDays() ?? [])
    for (const [hours, value] of [
      [1, "5"],
      [2, "3"],
      [23, "4"],
      [48, "1"]
    ] as const) {
      add(kept, at(hours), Decimal.of(value))
    }
    const found = flows(kept).map((one) =>
      [one.open, one.min, one.max, one.close, one.sum].map(text)
    )
    expect(found).toEqual([
      ["5", "3", "5", "4", "12"],
      [null, null, null, null, "0"],
      ["1", "1", "1", "1", "1"]
    ])
  })
})
