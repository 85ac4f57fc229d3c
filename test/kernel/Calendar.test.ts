import { Date, Duration, Instant, Month, TimeOfDay } from "@bursar/engine-core/kernel"
import { Arbitrary, Clock, Effect, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const LOWEST = -62_135_596_800_000_000_000n
const HIGHEST = 253_402_300_799_999_999_999n
const nanos = fc.bigInt({ min: LOWEST, max: HIGHEST })
const instant = fc
  .oneof(
    nanos,
    nanos.map((n) => (n / 1_000n) * 1_000n),
    nanos.map((n) => (n / 1_000_000_000n) * 1_000_000_000n),
    fc.bigInt({ min: -2_000n, max: 2_000n })
  )
  .map(Instant.fromNanos)
const epochDay = fc.integer({ min: -719_162, max: 2_932_896 })
const date = epochDay.map(Date.fromEpochDay)
const month = fc
  .integer({ min: 0, max: 9999 * 12 - 1 })
  .map((n) => Month.add(Month.of("0001-01"), n))
const fails = <A, E>(result: Result.Result<A, E>) => Result.isFailure(result)

describe("an instant as text", () => {
  it("never is not read back as it was", () => {
    fc.assert(
      fc.property(instant, (i) => {
        expect(Result.getOrThrow(Instant.parse(Instant.format(i)))).toBe(i)
        expect(Result.getOrThrow(Instant.parse(Instant.sortable(i)))).toBe(i)
      })
    )
  })

  it("never differs from what the platform's dates say", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (millis) => {
        const iso = new globalThis.Date(millis).toISOString()
        expect(Instant.of(iso)).toBe(Instant.fromEpochMillis(millis))
        expect(Instant.format(Instant.fromEpochMillis(millis))).toBe(iso.replace("Z", "000Z"))
        expect(Instant.toEpochMillis(Instant.fromEpochMillis(millis))).toBe(millis)
      })
    )
  })

  it("never sorts otherwise than its instant does", () => {
    fc.assert(
      fc.property(instant, instant, (a, b) => {
        const texts =
          Instant.sortable(a) < Instant.sortable(b)
            ? -1
            : Instant.sortable(a) > Instant.sortable(b)
              ? 1
              : 0
        expect(texts).toBe(Instant.compare(a, b))
        expect(Instant.sortable(a)).toHaveLength(30)
      })
    )
  })

  it("never has other than 6 places, or hides what is finer", () => {
    expect(Instant.format(Instant.of("2026-07-31T16:00:00Z"))).toBe("2026-07-31T16:00:00.000000Z")
    expect(Instant.format(Instant.of("2026-07-31T16:00:00.123456000Z"))).toBe(
      "2026-07-31T16:00:00.123456Z"
    )
    expect(Instant.format(Instant.of("2026-07-31T16:00:00.000000001Z"))).toBe(
      "2026-07-31T16:00:00.000000001Z"
    )
    expect(Instant.format(Instant.of("1969-12-31T23:59:59.999999999Z"))).toBe(
      "1969-12-31T23:59:59.999999999Z"
    )
    expect(Instant.format(Instant.of("0001-01-01T00:00:00Z"))).toBe("0001-01-01T00:00:00.000000Z")
    expect(Instant.of("2000-02-29T00:00:00Z")).toBe(951_782_400_000_000_000n)
  })

  it.each([
    "2026-07-31T16:00:00",
    "2026-07-31T16:00:00z",
    "2026-07-31t16:00:00Z",
    "2026-07-31 16:00:00Z",
    "2026-07-31T16:00:00+00:00",
    "2026-07-31T16:00:00+02:00",
    "2026-07-31T16:00:00-00:00",
    "2026-07-31T16:00Z",
    "2026-07-31T16:00:00.Z",
    "2026-07-31T16:00:00,5Z",
    "2026-07-31T16:00:00.1234567890Z",
    "2026-07-31T24:00:00Z",
    "2026-07-31T16:60:00Z",
    "2026-12-31T23:59:60Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "10000-01-01T00:00:00Z",
    "+2026-01-01T00:00:00Z",
    "-001-01-01T00:00:00Z",
    " 2026-07-31T16:00:00Z",
    "2026-07-31T16:00:00Z\n",
    "2026-7-31T16:00:00Z",
    "20260731T160000Z",
    "",
    "now",
    "٢٠٢٦-07-31T16:00:00Z"
  ])("takes %j", (text) => {
    expect(fails(Instant.parse(text))).toBe(true)
    expect(() => Instant.of(text)).toThrow(RangeError)
  })
})

describe("instant arithmetic", () => {
  const near = fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n }).map(Instant.fromNanos)

  it("never does not lead back, or measures another length than was added", () => {
    fc.assert(
      fc.property(near, fc.bigInt({ min: 0n, max: 10n ** 18n }), (i, n) => {
        const length = Duration.fromNanos(n)
        const later = Instant.add(i, length)
        expect(Instant.subtract(later, length)).toBe(i)
        expect(Duration.nanos(Instant.between({ from: i, to: later }))).toBe(n)
        expect(Instant.atOrAfter(later, i)).toBe(true)
        expect(Instant.max(i, later)).toBe(later)
        expect(Instant.min(i, later)).toBe(i)
      })
    )
  })

  it("never adds a month or a year wrongly at a month's end, or loses the time of day", () => {
    const add = (text: string, by: string) =>
      Instant.format(Instant.add(Instant.of(text), Duration.of(by)))
    expect(add("2026-01-31T10:00:00.5Z", "P1M")).toBe("2026-02-28T10:00:00.500000Z")
    expect(add("2028-02-29T10:00:00Z", "P1Y")).toBe("2029-02-28T10:00:00.000000Z")
    expect(add("2026-01-31T00:00:00Z", "P1M1DT1H")).toBe("2026-03-01T01:00:00.000000Z")
    expect(add("1969-12-31T23:59:59.999999999Z", "P1M")).toBe("1970-01-31T23:59:59.999999999Z")
    expect(
      Instant.format(Instant.subtract(Instant.of("2026-03-31T00:00:00Z"), Duration.of("P1M")))
    ).toBe("2026-02-28T00:00:00.000000Z")
    expect(
      Instant.format(Instant.subtract(Instant.of("2026-07-31T00:00:00Z"), Duration.of("P7Y")))
    ).toBe("2019-07-31T00:00:00.000000Z")
  })

  it("never leaves the years 0001 to 9999", () => {
    expect(() => Instant.add(Instant.of("9999-12-31T23:59:59Z"), Duration.seconds(1))).toThrow(
      RangeError
    )
    expect(() => Instant.subtract(Instant.of("0001-01-01T00:00:00Z"), Duration.millis(1))).toThrow(
      RangeError
    )
    expect(() => Instant.add(Instant.of("9999-12-31T00:00:00Z"), Duration.of("P1M"))).toThrow(
      RangeError
    )
    expect(() =>
      Instant.between({
        from: Instant.of("2026-01-02T00:00:00Z"),
        to: Instant.of("2026-01-01T00:00:00Z")
      })
    ).toThrow(RangeError)
  })

  it("never reads another clock than Effect's, or finer than a microsecond", async () => {
    const program = Effect.gen(function* () {
      yield* TestClock.adjust(1234)
      return yield* Instant.now
    })
    expect(await Effect.runPromise(Effect.scoped(Effect.provide(program, TestClock.layer())))).toBe(
      1_234_000_000n
    )
    const fine = Effect.gen(function* () {
      const clock = yield* Clock.Clock
      return { ...clock, currentTimeNanos: Effect.succeed(1_234_567n) }
    })
    expect(Effect.runSync(Effect.provideServiceEffect(Instant.now, Clock.Clock, fine))).toBe(
      1_234_000n
    )
    expect(Instant.toMicros(Instant.fromNanos(-1n))).toBe(-1_000n)
    expect(Instant.fromEpochMicros(1n)).toBe(1_000n)
  })
})

describe("a date", () => {
  it("never is counted otherwise than by the platform", () => {
    fc.assert(
      fc.property(epochDay, (day) => {
        const d = Date.fromEpochDay(day)
        expect(d).toBe(new globalThis.Date(day * 86_400_000).toISOString().slice(0, 10))
        expect(Date.epochDay(d)).toBe(day)
        expect(Date.weekdays.indexOf(Date.weekday(d))).toBe(
          (new globalThis.Date(day * 86_400_000).getUTCDay() + 6) % 7
        )
        expect(Instant.date(Instant.fromDate(d))).toBe(d)
      })
    )
  })

  it("never is not where its days lead", () => {
    fc.assert(
      fc.property(date, fc.integer({ min: -3_000, max: 3_000 }), (from, days) => {
        fc.pre(Date.epochDay(from) + days >= -719_162 && Date.epochDay(from) + days <= 2_932_896)
        const to = Date.addDays(from, days)
        expect(Date.daysBetween({ from, to })).toBe(days)
        expect(Date.compare(to, from)).toBe(Math.sign(days))
        expect(Month.contains(Month.fromDate(to), to)).toBe(true)
      })
    )
    expect(Date.next(Date.of("2024-02-28"))).toBe("2024-02-29")
    expect(Date.previous(Date.of("2026-03-01"))).toBe("2026-02-28")
    expect(() => Date.next(Date.of("9999-12-31"))).toThrow(RangeError)
    expect(() => Date.addDays(Date.of("2026-01-01"), 0.5)).toThrow(RangeError)
  })

  it.each([
    "2026-02-29",
    "2026-1-01",
    "26-01-01",
    "2026-13-01",
    "2026-00-10",
    "2026-01-32",
    "0000-01-01",
    "2026-01-01T00:00:00Z",
    "",
    "2026/01/01"
  ])("takes %j", (text) => {
    expect(fails(Date.parse(text))).toBe(true)
  })
})

describe("a month", () => {
  it("never is not as long as its days, or not followed by the next", () => {
    fc.assert(
      fc.property(month, (m) => {
        fc.pre(m !== "9999-12")
        expect(Date.addDays(Month.lastDay(m), 1)).toBe(Month.firstDay(Month.next(m)))
        expect(Date.daysBetween({ from: Month.firstDay(m), to: Month.lastDay(m) }) + 1).toBe(
          Month.daysInMonth(m)
        )
        expect(Month.previous(Month.next(m))).toBe(m)
        expect(Month.monthsBetween({ from: m, to: Month.add(m, 1) })).toBe(1)
        expect(Month.isBefore(m, Month.next(m))).toBe(true)
      })
    )
    // G22
    expect(Month.clampDay(Month.of("2026-02"), 31)).toBe("2026-02-28")
    expect(Month.clampDay(Month.of("2028-02"), 31)).toBe("2028-02-29")
    expect(Month.clampDay(Month.of("2026-07"), 15)).toBe("2026-07-15")
    expect(() => Month.next(Month.of("9999-12"))).toThrow(RangeError)
    expect(() => Month.clampDay(Month.of("2026-07"), 0)).toThrow(RangeError)
  })

  it.each(["2026-13", "2026-00", "2026-1", "0000-01", "2026", "2026-01-01", "10000-01", ""])(
    "takes %j",
    (text) => {
      expect(fails(Month.parse(text))).toBe(true)
    }
  )
})

describe("a duration", () => {
  const duration = fc.record({
    years: fc.nat(9_999),
    months: fc.nat(119_988),
    days: fc.nat(3_652_059),
    time: fc.bigInt({ min: 0n, max: 315_537_897_600_000_000_000n })
  })

  it("never is not read back as it was", () => {
    fc.assert(
      fc.property(duration, (d) => {
        expect(Result.getOrThrow(Duration.parse(Duration.format(d)))).toEqual(d)
      })
    )
  })

  it.each([
    ["PT24H", "PT24H", 86_400_000],
    ["P1D", "P1D", 86_400_000],
    ["P2W", "P14D", 1_209_600_000],
    ["PT90M", "PT1H30M", 5_400_000],
    ["PT0S", "PT0S", 0],
    ["P0D", "PT0S", 0],
    ["PT1.5S", "PT1.5S", 1_500],
    ["PT0.000000001S", "PT0.000000001S", 0],
    ["P1DT0H", "P1D", 86_400_000]
  ] as const)("%s prints other than %s or lasts other than %d ms", (text, printed, millis) => {
    expect(Duration.format(Duration.of(text))).toBe(printed)
    expect(Duration.toMillis(Duration.of(text))).toBe(millis)
  })

  it("never gives years or months a length", () => {
    expect(Duration.format(Duration.of("P7Y"))).toBe("P7Y")
    expect(Duration.format(Duration.of("P1Y2M3DT4H5M6.7S"))).toBe("P1Y2M3DT4H5M6.7S")
    expect(Duration.isExact(Duration.of("P7Y"))).toBe(false)
    expect(() => Duration.nanos(Duration.of("P1M"))).toThrow(RangeError)
    expect(Duration.nanos(Duration.hours(1))).toBe(3_600_000_000_000n)
    expect(Duration.days(2)).toEqual(Duration.of("P2D"))
    expect(() => Duration.fromNanos(-1n)).toThrow(RangeError)
  })

  it.each([
    "",
    "P",
    "PT",
    "P1",
    "1D",
    "PT1",
    "P1H",
    "PT1D",
    "P-1D",
    "-P1D",
    "+P1D",
    "P1.5D",
    "PT1.5H",
    "PT1.5M1S",
    "PT1,5S",
    "PT.5S",
    "PT1.S",
    "P1M1Y",
    "PT1S1M",
    "p1d",
    "P1D ",
    "P99999Y",
    "P9999999D",
    "PT1.1234567890S"
  ])("takes %j", (text) => {
    expect(fails(Duration.parse(text))).toBe(true)
  })
})

describe("a time of day", () => {
  it.each(["24:00", "12:60", "1:00", "12:0", "12:00:00", "", "12.00", "noon"])(
    "takes %j",
    (text) => {
      expect(fails(TimeOfDay.parse(text))).toBe(true)
    }
  )
  it("never is not as many minutes after midnight as it shows", () => {
    expect(TimeOfDay.minutes(TimeOfDay.of("23:59"))).toBe(1439)
  })
})

describe("a moment's schema", () => {
  const encodeBack = (schema: Schema.Codec<unknown, string>) => {
    const values = Effect.runSync(
      Arbitrary.sampleEffect(Arbitrary.schema(schema), { count: 100, seed: 11 })
    )
    for (const value of values) {
      const text = Schema.encodeUnknownSync(schema)(value)
      expect(Schema.decodeUnknownSync(schema)(text)).toEqual(value)
    }
    return values.length
  }
  it("can be generated, and is read back from what encodes it", () => {
    for (const schema of [
      Instant.schema,
      Date.schema,
      Month.schema,
      Duration.schema,
      TimeOfDay.schema
    ]) {
      expect(encodeBack(schema)).toBe(100)
    }
    expect(fails(Schema.decodeUnknownResult(Instant.schema)("2026-07-31T16:00:00+02:00"))).toBe(
      true
    )
    expect(fails(Schema.decodeUnknownResult(Date.schema)(20260731))).toBe(true)
    expect(Schema.toJsonSchemaDocument(Instant.schema).schema).toEqual({
      type: "string",
      format: "date-time"
    })
  })
})
