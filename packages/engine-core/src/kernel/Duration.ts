/** A length of time as a setting or a term names it: ISO 8601, such as PT24H, P1D or P7Y. */
import { Result, Schema, SchemaGetter } from "effect"
import { ArithmeticError } from "./ArithmeticError.ts"
import * as Codec from "./Codec.ts"
import { withoutTrailingZeros } from "./Digits.ts"

/**
 * Years and months have no length of their own, so they stay apart from days and time, which do:
 * every instant is UTC and there a day is 24 hours. Hours are not carried into days, so that PT24H
 * and P1D each print as they were written.
 */
export interface Duration {
  readonly years: number
  readonly months: number
  readonly days: number
  /** Hours, minutes and seconds together. */
  readonly time: bigint
}

/** Fault of a text that is no duration. */
export type DurationFault = Codec.Fault

/** Nanoseconds of a second. */
export const NANOS_PER_SECOND = 1_000_000_000n

/** Nanoseconds of a day of 24 hours. */
export const NANOS_PER_DAY = 86_400n * NANOS_PER_SECOND

/** No part is longer than the calendar of this engine: 9999 years. */
const PARTS_MAX = { years: 9_999, months: 119_988, days: 3_652_059 }
const TIME_MAX = BigInt(PARTS_MAX.days) * NANOS_PER_DAY

const grammar =
  /^P(?=[0-9T])(?:([0-9]{1,4})Y)?(?:([0-9]{1,6})M)?(?:([0-9]{1,6})W)?(?:([0-9]{1,7})D)?(?:T(?=[0-9])(?:([0-9]{1,8})H)?(?:([0-9]{1,10})M)?(?:([0-9]{1,12})(?:\.([0-9]{1,9}))?S)?)?$/

/** Reads years, months, weeks, days, hours, minutes and seconds; no sign, a fraction of seconds only. */
export const parse = (text: string): Result.Result<Duration, DurationFault> => {
  const parts = grammar.exec(text)
  if (parts === null) return Codec.fault("a duration is written as in ISO 8601, such as PT24H")
  const [, years = "0", months = "0", weeks = "0", days = "0", hours = "0", minutes = "0"] = parts
  const seconds = BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(parts[7] ?? "0")
  const duration: Duration = {
    years: Number(years),
    months: Number(months),
    days: Number(weeks) * 7 + Number(days),
    time: seconds * NANOS_PER_SECOND + BigInt((parts[8] ?? "").padEnd(9, "0"))
  }
  return fits(duration)
    ? Result.succeed(duration)
    : Codec.fault("a duration is at most 9999 years long")
}

const fits = ({ years, months, days, time }: Duration): boolean =>
  years <= PARTS_MAX.years &&
  months <= PARTS_MAX.months &&
  days <= PARTS_MAX.days &&
  time <= TIME_MAX

/**
 * Parses a duration literal of the source code; throws on a malformed one.
 *
 * @example
 * ```ts
 * import { Duration, Instant } from "@bursar/engine-core/kernel"
 *
 * const opens = Instant.add(Instant.of("2026-07-30T16:00:00Z"), Duration.of("PT90M"))
 * Instant.format(opens) // => "2026-07-30T17:30:00.000000Z"
 * ```
 */
export const of = (text: string): Duration => Codec.orThrow("Duration", parse(text))

/** The shortest ISO 8601 text with the same parts: weeks as days, 90 minutes as PT1H30M. */
export const format = (self: Duration): string => {
  const date = `${part(self.years, "Y")}${part(self.months, "M")}${part(self.days, "D")}`
  const seconds = self.time / NANOS_PER_SECOND
  const nanos = self.time % NANOS_PER_SECOND
  const fraction = nanos === 0n ? "" : `.${withoutTrailingZeros(nanos.toString().padStart(9, "0"))}`
  const rest = `${seconds % 60n}${fraction}`
  const time = `${part(seconds / 3600n, "H")}${part((seconds / 60n) % 60n, "M")}${rest === "0" ? "" : `${rest}S`}`
  if (time !== "") return `P${date}T${time}`
  return date === "" ? "PT0S" : `P${date}`
}

const part = (count: number | bigint, unit: string): string =>
  Number(count) === 0 ? "" : `${count}${unit}`

const exact = (time: bigint): Duration => {
  if (time < 0n || time > TIME_MAX)
    throw new ArithmeticError("Duration: below zero or above 9999 years")
  return { years: 0, months: 0, days: 0, time }
}

/** Duration of no time. */
export const zero: Duration = exact(0n)

/** Duration of so many nanoseconds. */
export const fromNanos = (nanos: bigint): Duration => exact(nanos)

/**
 * Duration of so many milliseconds.
 *
 * @example
 * ```ts
 * import { Duration } from "@bursar/engine-core/kernel"
 *
 * Duration.millis(1_000) // => Duration.seconds(1)
 * ```
 */
export const millis = (count: number): Duration => exact(BigInt(count) * 1_000_000n)

/**
 * Duration of so many seconds.
 *
 * @example
 * ```ts
 * import { Duration } from "@bursar/engine-core/kernel"
 *
 * Duration.seconds(90) // => Duration.of("PT1M30S")
 * ```
 */
export const seconds = (count: number): Duration => exact(BigInt(count) * NANOS_PER_SECOND)

/** Duration of so many minutes. */
export const minutes = (count: number): Duration => seconds(count * 60)

/** Duration of so many hours. */
export const hours = (count: number): Duration => seconds(count * 3600)

/** Duration of so many days, each of 24 hours. */
export const days = (count: number): Duration => of(`P${count}D`)

/** Checks that the duration has no years and months, and so a length in nanoseconds. */
export const isExact = (self: Duration): boolean => self.years === 0 && self.months === 0

/** Length in nanoseconds; throws on years and months, a bug of the caller. */
export const nanos = (self: Duration): bigint => {
  if (!isExact(self)) throw new RangeError(`Duration: ${format(self)} has no exact length`)
  return BigInt(self.days) * NANOS_PER_DAY + self.time
}

/** Length in whole milliseconds. */
export const toMillis = (self: Duration): number => Number(nanos(self) / 1_000_000n)

/** Whether a value is a duration. */
export const isDuration = (value: unknown): value is Duration =>
  typeof value === "object" &&
  value !== null &&
  "years" in value &&
  "months" in value &&
  "days" in value &&
  "time" in value &&
  isCount(value.years) &&
  isCount(value.months) &&
  isCount(value.days) &&
  typeof value.time === "bigint" &&
  value.time >= 0n &&
  fits({ years: value.years, months: value.months, days: value.days, time: value.time })

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0

/** ISO 8601 on the wire and in the store. */
export const schema: Schema.Codec<Duration, string> = Codec.make({
  from: Schema.String.annotate({ format: "duration" }),
  to: Schema.declare(isDuration, {
    expected: "a duration",
    toCodecArbitrary: () =>
      Schema.link<Duration>()(
        Schema.Struct({
          years: counted(PARTS_MAX.years),
          months: counted(PARTS_MAX.months),
          days: counted(PARTS_MAX.days),
          time: Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: TIME_MAX }))
        }),
        {
          decode: SchemaGetter.transform((parts: Duration): Duration => parts),
          encode: SchemaGetter.transform((duration: Duration): Duration => duration)
        }
      )
  }),
  parse,
  print: format
}).annotate({ title: "Duration", description: "A length of time in ISO 8601, such as PT24H." })

function counted(maximum: number) {
  return Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
}

const NANOS_PER_MICRO = 1_000n

/**
 * A duration as a ledger counts it: of exact length, in whole microseconds, and of at most `longest`,
 * which is exact too.
 */
export const inMicros = (longest: Duration): Schema.Codec<Duration, string> => {
  const most = nanos(longest)
  const expected = `at most ${format(longest)}, in days or less and in whole microseconds`
  const is = (value: unknown): value is Duration =>
    isDuration(value) &&
    isExact(value) &&
    nanos(value) <= most &&
    nanos(value) % NANOS_PER_MICRO === 0n
  return Codec.make({
    from: Schema.String.annotate({ format: "duration" }),
    to: Schema.declare(is, {
      expected,
      toCodecArbitrary: () =>
        Schema.link<Duration>()(
          Schema.BigInt.check(
            Schema.isBetweenBigInt({ minimum: 0n, maximum: most / NANOS_PER_MICRO })
          ),
          {
            decode: SchemaGetter.transform((micros: bigint) => fromNanos(micros * NANOS_PER_MICRO)),
            encode: SchemaGetter.transform(
              (duration: Duration) => nanos(duration) / NANOS_PER_MICRO
            )
          }
        )
    }),
    parse: (text) =>
      Result.flatMap(parse(text), (duration) =>
        is(duration) ? Result.succeed(duration) : Codec.fault(expected)
      ),
    print: format
  }).annotate({ title: "Duration", description: `A length of time in ISO 8601: ${expected}.` })
}
