import { Date, Duration, Instant, Month, TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import { Arbitrary, Effect, Result, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const every = Intl.supportedValuesOf("timeZone").map(Zone.of)
const zone = fc.constantFrom(...every)
const day = fc.integer({ min: -25_567, max: 25_567 }).map(Date.fromEpochDay) // 1900 to 2039
const second = Duration.fromNanos(1n)

/** Local date and time of an instant, computed apart from the module. */
const wall = (zone: Zone.Zone, instant: Instant.Instant) =>
  new globalThis.Date(Instant.toEpochMillis(instant)).toLocaleString("sv-SE", { timeZone: zone })
const start = (name: string, date: string) =>
  Instant.format(Zone.startOfDay(Zone.of(name), Date.of(date))).slice(0, 19)
const hours = (name: string, date: string) => {
  const from = Zone.startOfDay(Zone.of(name), Date.of(date))
  return (
    Number(
      Duration.nanos(Instant.between({ from, to: Zone.nextMidnight(Zone.of(name), from) })) /
        1_000_000n
    ) / 3_600_000
  )
}

describe("days in a zone", () => {
  it("never leave a gap, overlap, or hold an instant that says it lies in another", () => {
    fc.assert(
      fc.property(
        zone,
        day,
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (zone, date, part) => {
          const from = Zone.startOfDay(zone, date)
          const to = Zone.startOfDay(zone, Date.next(date))
          expect(Instant.atOrBefore(from, to)).toBe(true)
          if (from === to) return
          expect(Zone.dateAt(zone, from)).toBe(date)
          expect(Zone.dateAt(zone, Instant.subtract(to, second))).toBe(date)
          expect(Zone.nextMidnight(zone, from)).toBe(to)
          const within = Instant.fromNanos(from + BigInt(Math.floor(Number(to - from) * part)))
          expect(Zone.dateAt(zone, within)).toBe(date)
        }
      ),
      { numRuns: 1500 }
    )
  })

  it("never start before or after the first moment the wall clock shows them", () => {
    fc.assert(
      fc.property(zone, day, (zone, date) => {
        const from = Zone.startOfDay(zone, date)
        expect(wall(zone, from).slice(0, 10) >= date).toBe(true)
        expect(wall(zone, Instant.subtract(from, Duration.seconds(1))).slice(0, 10) < date).toBe(
          true
        )
      }),
      { numRuns: 1500 }
    )
  })

  it("never are not 23 and 25 hours long when the clocks change", () => {
    expect(hours("Europe/Zurich", "2026-03-29")).toBe(23)
    expect(hours("Europe/Zurich", "2026-10-25")).toBe(25)
    expect(hours("America/New_York", "2026-03-08")).toBe(23)
    expect(hours("America/New_York", "2026-11-01")).toBe(25)
    expect(hours("Australia/Lord_Howe", "2026-04-05")).toBe(24.5)
    expect(hours("Asia/Kolkata", "2026-03-29")).toBe(24)
    expect(hours("UTC", "2026-03-29")).toBe(24)
  })

  it("never start at a midnight that the zone skips", () => {
    expect(start("America/Sao_Paulo", "2018-11-04")).toBe("2018-11-04T03:00:00")
    expect(hours("America/Sao_Paulo", "2018-11-04")).toBe(23)
    expect(start("Asia/Beirut", "2026-03-29")).toBe("2026-03-28T22:00:00")
    expect(start("Africa/Cairo", "2024-04-26")).toBe("2024-04-25T22:00:00")
    for (const [name, date] of [
      ["America/Sao_Paulo", "2018-11-04"],
      ["Asia/Beirut", "2026-03-29"],
      ["Africa/Cairo", "2024-04-26"]
    ] as const) {
      expect(wall(Zone.of(name), Zone.startOfDay(Zone.of(name), Date.of(date)))).toBe(
        `${date} 01:00:00`
      )
    }
  })

  it("never give an hour shown twice over midnight to neither or both", () => {
    // At 00:01 the clock went back to 23:01: the first midnight starts the day.
    const name = "America/St_Johns"
    expect(start(name, "2006-10-29")).toBe("2006-10-29T02:30:00")
    expect(Zone.dateAt(Zone.of(name), Instant.of("2006-10-29T02:30:30Z"))).toBe("2006-10-29")
    expect(wall(Zone.of(name), Instant.of("2006-10-29T02:45:00Z"))).toBe("2006-10-28 23:15:00")
    expect(Zone.dateAt(Zone.of(name), Instant.of("2006-10-29T02:45:00Z"))).toBe("2006-10-29")
    // At 24:00 the clock went back to 23:00: the day starts once the hour has passed again.
    expect(start("Africa/Cairo", "2024-11-01")).toBe("2024-10-31T22:00:00")
    expect(hours("Africa/Cairo", "2024-10-31")).toBe(25)
  })

  it("never give length to a date the zone never had", () => {
    expect(hours("Pacific/Apia", "2011-12-29")).toBe(24)
    expect(start("Pacific/Apia", "2011-12-30")).toBe(start("Pacific/Apia", "2011-12-31"))
    expect(
      Zone.dateAt(
        Zone.of("Pacific/Apia"),
        Zone.startOfDay(Zone.of("Pacific/Apia"), Date.of("2011-12-30"))
      )
    ).toBe("2011-12-31")
  })

  it("never start a month at another moment than its first day", () => {
    expect(Instant.format(Zone.startOfMonth(Zone.of("Europe/Zurich"), Month.of("2026-08")))).toBe(
      "2026-07-31T22:00:00.000000Z"
    )
    expect(Zone.startOfMonth(Zone.utc, Month.of("2026-08"))).toBe(
      Instant.of("2026-08-01T00:00:00Z")
    )
  })
})

describe("a wall time in a zone", () => {
  const at = (name: string, date: string, time: string) =>
    Instant.format(
      Zone.instantAt(Zone.of(name), { date: Date.of(date), time: TimeOfDay.of(time) })
    ).slice(0, 16)

  it("never is met at another instant than when the clock first shows it", () => {
    expect(at("Europe/Zurich", "2026-07-31", "16:00")).toBe("2026-07-31T14:00")
    expect(at("Europe/Zurich", "2026-10-25", "02:30")).toBe("2026-10-25T00:30")
    expect(at("Europe/Zurich", "2026-10-25", "03:00")).toBe("2026-10-25T02:00")
    expect(at("America/New_York", "2026-03-08", "03:00")).toBe("2026-03-08T07:00")
  })

  it("that the clock skips is where the clock skips", () => {
    expect(at("Europe/Zurich", "2026-03-29", "02:30")).toBe("2026-03-29T01:00")
    expect(at("Europe/Zurich", "2026-03-29", "02:00")).toBe("2026-03-29T01:00")
    expect(at("Europe/Zurich", "2026-03-29", "01:59")).toBe("2026-03-29T00:59")
  })

  it("at midnight is the start of the day, and comes after every earlier time", () => {
    const time = fc
      .integer({ min: 0, max: 1439 })
      .map((m) =>
        TimeOfDay.of(
          `${String(Math.floor(m / 60)).padStart(2, "0")}:${String(m % 60).padStart(2, "0")}`
        )
      )
    fc.assert(
      fc.property(zone, day, time, time, (zone, date, a, b) => {
        const [early, late] = a <= b ? [a, b] : [b, a]
        expect(Zone.instantAt(zone, { date, time: TimeOfDay.of("00:00") })).toBe(
          Zone.startOfDay(zone, date)
        )
        expect(
          Instant.atOrBefore(
            Zone.instantAt(zone, { date, time: early }),
            Zone.instantAt(zone, { date, time: late })
          )
        ).toBe(true)
      }),
      { numRuns: 500 }
    )
  })
})

describe("a zone", () => {
  it.each([
    ["Europe/Zuerich", "the nearest is Europe/Zurich"],
    ["Europe/Zurch", "the nearest is Europe/Zurich"],
    ["america/new york", "the nearest is America/New_York"],
    ["nowhere at all, and nothing like it", "an IANA name such as Europe/Zurich is expected"]
  ])("is named where %s is no zone", (text, sentence) => {
    expect(Result.getOrThrow(Result.flip(Zone.parse(text))).detail).toBe(
      `there is no such time zone; ${sentence}`
    )
  })

  it.each([
    "",
    "Nowhere/City",
    "+01:00",
    "-05",
    "GMT+5",
    "UTC+1",
    "Europe/Zurich ",
    "Europe/Zurich\n",
    "../etc/passwd",
    "Europe//Zurich",
    "/UTC",
    "a".repeat(10_000),
    "Etc/GMT+25"
  ])("is known as %j", (name) => {
    expect(Result.isFailure(Zone.parse(name))).toBe(true)
    expect(Result.isFailure(Schema.decodeUnknownResult(Schema.toType(Zone.schema))(name))).toBe(
      true
    )
  })

  it("that the platform lists is accepted, and formatters are kept to a limit", () => {
    for (const name of Intl.supportedValuesOf("timeZone"))
      expect(Result.isSuccess(Zone.parse(name))).toBe(true)
    expect(Zone.cachedFormatters()).toBeLessThanOrEqual(64)
  })

  it("can be generated, and is read back from what encodes it", () => {
    const values = Effect.runSync(
      Arbitrary.sampleEffect(Arbitrary.schema(Zone.schema), { count: 50, seed: 3 })
    )
    for (const value of values)
      expect(Schema.decodeUnknownSync(Zone.schema)(Schema.encodeSync(Zone.schema)(value))).toBe(
        value
      )
  })
})
