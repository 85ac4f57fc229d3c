/** A moment in UTC, exact to the nanosecond: when a fact was recorded, a price set, a hold opened. */
import { type Brand, Clock, Effect, Order, Result, Schema, SchemaGetter } from "effect"
import { ArithmeticError } from "./ArithmeticError.ts"
import * as Codec from "./Codec.ts"
import * as Date from "./Date.ts"
import * as Duration from "./Duration.ts"
import * as Gregorian from "./Gregorian.ts"

/** Nanoseconds since 1970-01-01T00:00:00Z, in the years 0001 to 9999. */
export type Instant = bigint & Brand.Brand<"Instant">

/** Fault of a text that is no instant. */
export type InstantFault = Codec.Fault

const { NANOS_PER_DAY, NANOS_PER_SECOND } = Duration
const NANOS_PER_MILLI = 1_000_000n
const NANOS_PER_MICRO = 1_000n
const LOWEST = BigInt(Gregorian.EPOCH_DAY_MIN) * NANOS_PER_DAY
const HIGHEST = BigInt(Gregorian.EPOCH_DAY_MAX + 1) * NANOS_PER_DAY - 1n

const bounded = (nanos: bigint): Instant => {
  if (nanos < LOWEST || nanos > HIGHEST) {
    throw new ArithmeticError("Instant: outside the years 0001 to 9999")
  }
  return nanos as Instant
}

const grammar =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?Z$/

/** Reads RFC 3339 in UTC, ending in a capital Z; up to 9 fraction digits, no leap second. */
export const parse = (text: string): Result.Result<Instant, InstantFault> => {
  const parts = text.length > 30 ? null : grammar.exec(text)
  if (parts === null) {
    return Codec.fault("an instant is RFC 3339 in UTC, such as 2026-07-31T16:00:00Z")
  }
  const civil = { year: Number(parts[1]), month: Number(parts[2]), day: Number(parts[3]) }
  if (!Gregorian.isDay(civil)) return Codec.fault("there is no such date")
  const hour = Number(parts[4])
  const minute = Number(parts[5])
  const second = Number(parts[6])
  if (hour > 23 || minute > 59 || second > 59) return Codec.fault("there is no such time of day")
  const seconds = Gregorian.toEpochDay(civil) * 86_400 + hour * 3600 + minute * 60 + second
  const fraction = parts[7]
  const whole = BigInt(seconds) * NANOS_PER_SECOND
  return Result.succeed(
    (fraction === undefined ? whole : whole + BigInt(fraction.padEnd(9, "0"))) as Instant
  )
}

/**
 * Parses an instant literal of the source code; throws on a malformed one.
 *
 * @example
 * ```ts
 * import { Instant } from "@bursar/engine-core/kernel"
 *
 * Instant.format(Instant.of("2026-07-30T16:00:00Z")) // => "2026-07-30T16:00:00.000000Z"
 * ```
 */
export const of = (text: string): Instant => Codec.orThrow("Instant", parse(text))

/**
 * With 6 fraction digits, or all 9 where the instant is finer than a microsecond.
 *
 * @example
 * ```ts
 * import { Instant } from "@bursar/engine-core/kernel"
 *
 * Instant.format(Instant.of("2026-07-30T16:00:00.5Z")) // => "2026-07-30T16:00:00.500000Z"
 * ```
 */
export const format = (self: Instant): string => formatSortable(sortable(self))

/** `format` of the instant whose `sortable` text this is. */
export const formatSortable = (text: string): string =>
  text.endsWith("000Z") ? `${text.slice(0, 26)}Z` : text

/**
 * With 9 fraction digits always, so that texts sort as their instants do.
 *
 * @example
 * ```ts
 * import { Instant } from "@bursar/engine-core/kernel"
 *
 * Instant.sortable(Instant.of("2026-07-30T16:00:00Z")) // => "2026-07-30T16:00:00.000000000Z"
 * ```
 */
export const sortable = (self: Instant): string => {
  const millis = floorDivide(self, NANOS_PER_MILLI)
  const below = Number(self - millis * NANOS_PER_MILLI)
  const text = new globalThis.Date(Number(millis)).toISOString()
  return `${text.slice(0, 23)}${Gregorian.digits(below, 6)}Z`
}

const floorDivide = (value: bigint, by: bigint): bigint => {
  const quotient = value / by
  return value < 0n && quotient * by !== value ? quotient - 1n : quotient
}

/**
 * The instant that is this many nanoseconds after 1970.
 *
 * @example
 * ```ts
 * import { Instant } from "@bursar/engine-core/kernel"
 *
 * Instant.format(Instant.fromNanos(1n)) // => "1970-01-01T00:00:00.000000001Z"
 * ```
 */
export const fromNanos = (nanos: bigint): Instant => bounded(nanos)

/**
 * Instant so many milliseconds after 1970 began, in UTC. Throws outside the years that an instant
 * may have.
 *
 * @example
 * ```ts
 * import { Instant } from "@bursar/engine-core/kernel"
 *
 * Instant.format(Instant.fromEpochMillis(1_000)) // => "1970-01-01T00:00:01.000000Z"
 * ```
 */
export const fromEpochMillis = (millis: number): Instant =>
  bounded(BigInt(millis) * NANOS_PER_MILLI)

/**
 * Instant so many microseconds after 1970 began, in UTC. Throws outside the years that an instant
 * may have.
 */
export const fromEpochMicros = (micros: bigint): Instant => bounded(micros * NANOS_PER_MICRO)
/**
 * Whole milliseconds since 1970, the rest cut towards the past.
 *
 * @example
 * ```ts
 * import { Instant } from "@bursar/engine-core/kernel"
 *
 * Instant.toEpochMillis(Instant.of("1970-01-01T00:00:01.0009Z")) // => 1000
 * ```
 */
export const toEpochMillis = (self: Instant): number => Number(floorDivide(self, NANOS_PER_MILLI))
/** Whole microseconds since 1970, the rest cut towards the past. */
export const toEpochMicros = (self: Instant): bigint => floorDivide(self, NANOS_PER_MICRO)
/** The instant rounded down to the microsecond, the precision of a ledger and a store. */
export const toMicros = (self: Instant): Instant =>
  (toEpochMicros(self) * NANOS_PER_MICRO) as Instant

/** The day of the instant in UTC. */
export const date = (self: Instant): Date.Date =>
  Date.fromEpochDay(Number(floorDivide(self, NANOS_PER_DAY)))

/** Midnight of the day in UTC. */
export const fromDate = (day: Date.Date): Instant =>
  (BigInt(Date.epochDay(day)) * NANOS_PER_DAY) as Instant

/**
 * Later by the duration: first its years and months in UTC, then its days and its time.
 *
 * @example
 * ```ts
 * import { Duration, Instant } from "@bursar/engine-core/kernel"
 *
 * const end = Instant.add(Instant.of("2026-01-31T00:00:00Z"), Duration.of("P1M"))
 * Instant.format(end) // => "2026-02-28T00:00:00.000000Z"
 * ```
 */
export const add = (self: Instant, duration: Duration.Duration): Instant => moved(self, duration, 1)
/** Earlier by the duration: first its years and months in UTC, then its days and its time. */
export const subtract = (self: Instant, duration: Duration.Duration): Instant =>
  moved(self, duration, -1)

const moved = (self: Instant, duration: Duration.Duration, sign: 1 | -1): Instant => {
  const exact = BigInt(duration.days) * NANOS_PER_DAY + duration.time
  return bounded(
    addMonths(self, sign * (duration.years * 12 + duration.months)) + BigInt(sign) * exact
  )
}

const addMonths = (self: Instant, months: number): bigint => {
  if (months === 0) return self
  const day = date(self)
  return fromDate(Date.addMonths(day, months)) + (self - fromDate(day))
}

/** Duration from one instant to a later one. */
export const between = (span: {
  readonly from: Instant
  readonly to: Instant
}): Duration.Duration => Duration.fromNanos(span.to - span.from)

/** Order of two instants: -1, 0 or 1. */
export const compare = (self: Instant, that: Instant): -1 | 0 | 1 =>
  self < that ? -1 : self > that ? 1 : 0

/** Whether an instant is before another. */
export const isBefore = (self: Instant, that: Instant): boolean => self < that

/** Whether an instant is after another. */
export const isAfter = (self: Instant, that: Instant): boolean => self > that

/** Whether an instant is another or before it. */
export const atOrBefore = (self: Instant, that: Instant): boolean => self <= that

/** Whether an instant is another or after it. */
export const atOrAfter = (self: Instant, that: Instant): boolean => self >= that

/** Whether two instants are one. */
export const equals = (self: Instant, that: Instant): boolean => self === that

/** Earlier of two instants. */
export const min = (self: Instant, that: Instant): Instant => (self < that ? self : that)

/** Later of two instants. */
export const max = (self: Instant, that: Instant): Instant => (self > that ? self : that)

/** Order of instants, earliest first. */
export const order: Order.Order<Instant> = Order.make(compare)

/** The clock's instant, cut to the microsecond so that it is the same once stored. */
export const now: Effect.Effect<Instant> = Effect.map(Clock.currentTimeNanos, (nanos) =>
  toMicros(bounded(nanos))
)

/** Whether a value is an instant. */
export const isInstant = (value: unknown): value is Instant =>
  typeof value === "bigint" && value >= LOWEST && value <= HIGHEST

/** RFC 3339 in UTC on the wire and in the store. */
export const schema: Schema.Codec<Instant, string> = Codec.make({
  from: Schema.String.annotate({ format: "date-time" }),
  to: Schema.declare(isInstant, {
    expected: "an instant",
    toFormatter: () => format,
    toCodecArbitrary: () =>
      Schema.link<Instant>()(
        Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: LOWEST, maximum: HIGHEST })),
        {
          decode: SchemaGetter.transform(bounded),
          encode: SchemaGetter.transform((i: Instant): bigint => i)
        }
      )
  }),
  parse,
  print: format
}).annotate({
  title: "Instant",
  description: "A moment in UTC: RFC 3339 ending in Z, up to 9 fraction digits."
})
