/** A time zone, which decides when a business day starts: an IANA name and its rules. */
import { type Brand, Result, Schema, SchemaGetter } from "effect"
import * as Codec from "./Codec.ts"
import * as Date from "./Date.ts"
import * as Gregorian from "./Gregorian.ts"
import * as Instant from "./Instant.ts"
import * as Month from "./Month.ts"
import * as Nearest from "./Nearest.ts"
import * as TimeOfDay from "./TimeOfDay.ts"

/** An IANA name the platform knows, such as `Europe/Zurich`. */
export type Zone = string & Brand.Brand<"Zone">

/** Fault of a text that is no time zone. */
export type ZoneFault = Codec.Fault

/** Zone of universal time. */
export const utc = "UTC" as Zone

const grammar = /^[A-Za-z][A-Za-z0-9_+-]{0,31}(?:\/[A-Za-z0-9_+-]{1,31}){0,2}$/

/** Reads an IANA name; letters count alike in either case, as in the zone database. */
export const parse = (text: string): Result.Result<Zone, ZoneFault> =>
  grammar.test(text) && clock(text) !== undefined
    ? Result.succeed(text as Zone)
    : Codec.fault(unknown(text))

/** Sentence on a text that is no time zone, with the nearest name that the platform lists. */
const unknown = (text: string): string => {
  const nearest = Nearest.near(text, Intl.supportedValuesOf("timeZone"))
  return nearest === null
    ? "there is no such time zone; an IANA name such as Europe/Zurich is expected"
    : `there is no such time zone; the nearest is ${nearest}`
}

/**
 * Parses a zone literal of the source code; throws on a malformed one.
 *
 * @example
 * ```ts
 * import { Date, Instant, Zone } from "@bursar/engine-core/kernel"
 *
 * const day = Zone.startOfDay(Zone.of("Europe/Zurich"), Date.of("2026-07-30"))
 * Instant.format(day) // => "2026-07-29T22:00:00.000000Z"
 * ```
 */
export const of = (text: string): Zone => Codec.orThrow("Zone", parse(text))

/** Whether a value is a time zone. */
export const isZone = (value: unknown): value is Zone =>
  typeof value === "string" && Result.isSuccess(parse(value))

/** The IANA name on the wire and in the store. */
export const schema: Schema.Codec<Zone, string> = Codec.make({
  from: Schema.String,
  to: Schema.declare(isZone, {
    expected: "a time zone",
    toCodecArbitrary: () =>
      Schema.link<Zone>()(Schema.Literals(SAMPLES), {
        decode: SchemaGetter.transform((name: string) => of(name)),
        encode: SchemaGetter.transform(
          (zone: Zone) => SAMPLES.find((name) => name === zone) ?? "UTC"
        )
      })
  }),
  parse,
  print: (value: Zone) => value
}).annotate({ title: "Zone", description: "An IANA time zone, such as Europe/Zurich." })

/**
 * A day in a zone is the time from its start to the next day's start, and days tile the timeline:
 * - its start is the first instant whose wall clock shows the date or a later one, so a day whose
 *   midnight is skipped starts where the clock lands (01:00 in São Paulo on 2018-11-04);
 * - where the clock is turned back over midnight, the hour it shows twice belongs to the later day;
 * - a date the zone never had (Apia, 2011-12-30) is a day of no length at the start of the next.
 */
export const startOfDay = (zone: Zone, date: Date.Date): Instant.Instant =>
  Instant.fromNanos(BigInt(firstSecond(zone, Date.epochDay(date) * DAY)) * NANOS)

/** The start of the next day. */
export const nextMidnight = (zone: Zone, instant: Instant.Instant): Instant.Instant =>
  startOfDay(zone, Date.next(dateAt(zone, instant)))

/** Instant at which a month begins in a zone. */
export const startOfMonth = (zone: Zone, month: Month.Month): Instant.Instant =>
  startOfDay(zone, Month.firstDay(month))

/**
 * The day the instant lies in, as `startOfDay` draws the days.
 *
 * @example
 * ```ts
 * import { Instant, Zone } from "@bursar/engine-core/kernel"
 *
 * Zone.dateAt(Zone.of("America/New_York"), Instant.of("2026-07-31T02:00:00Z")) // => "2026-07-30"
 * ```
 */
export const dateAt = (zone: Zone, instant: Instant.Instant): Date.Date => {
  const second = secondOf(instant)
  const shown = Date.fromEpochDay(Math.floor((second + offsetAt(zone, second)) / DAY))
  const following = Date.next(shown)
  return startOfDay(zone, following) <= instant ? following : shown
}

/**
 * The first instant at which the wall clock shows that time on that date. A time the clock skips is the instant it
 * skips at; a time it shows twice is the first of the two.
 */
export const instantAt = (
  zone: Zone,
  local: { readonly date: Date.Date; readonly time: TimeOfDay.TimeOfDay }
): Instant.Instant => {
  const second = Date.epochDay(local.date) * DAY + TimeOfDay.minutes(local.time) * 60
  return Instant.fromNanos(BigInt(firstSecond(zone, second)) * NANOS)
}

/** Zones that test generators draw from: east, west, half hours, and both changes at midnight. */
const SAMPLES = [
  "UTC",
  "Europe/Zurich",
  "America/New_York",
  "America/Sao_Paulo",
  "America/St_Johns",
  "Asia/Beirut",
  "Asia/Kolkata",
  "Africa/Cairo",
  "Australia/Lord_Howe",
  "Pacific/Apia"
] as const

const DAY = 86_400
const NANOS = 1_000_000_000n
/** No zone was ever further from UTC than this: 15:56 (Manila) and 15:13 (Juneau) are the extremes. */
const OFFSET_MAX = 16 * 3600

const secondOf = (instant: Instant.Instant): number =>
  Math.floor(Instant.toEpochMillis(instant) / 1000)

/** The first second of UTC at which the wall clock shows `local` (seconds since 1970) or later. */
const firstSecond = (zone: Zone, local: number): number => {
  const from = local - OFFSET_MAX
  const to = local + OFFSET_MAX
  const before = offsetAt(zone, from)
  const after = offsetAt(zone, to)
  if (before === after) return local - before
  const change = changeBetween(zone, { from, to, before })
  if (local - before < change) return local - before
  return Math.max(change, local - after)
}

/** The second at which the offset stops being `before`; a zone changes at most once in two days. */
const changeBetween = (
  zone: Zone,
  span: { readonly from: number; readonly to: number; readonly before: number }
): number => {
  let low = span.from
  let high = span.to
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(zone, middle) === span.before) low = middle
    else high = middle
  }
  return high
}

/** Seconds by which the zone's wall clock is ahead of UTC. */
const offsetAt = (zone: Zone, second: number): number => {
  const format = clock(zone)
  if (format === undefined) throw new RangeError(`Zone: ${zone} is unknown`)
  const shown = SHOWN.exec(format.format(second * 1000))
  if (shown === null) throw new Error(`Zone: the platform shows ${zone} in an unknown form`)
  const [, month, day, year, era, hour, minute, seconds] = shown
  const days = Gregorian.toEpochDay({
    year: era === "BC" ? 1 - Number(year) : Number(year),
    month: Number(month),
    day: Number(day)
  })
  return days * DAY + Number(hour) * 3600 + Number(minute) * 60 + Number(seconds) - second
}

/** `7/31/2026 AD, 18:00:00`; before the year 1 stands BC. */
const SHOWN = /^(\d+)\/(\d+)\/(\d+) (A|AD|B|BC), (\d+):(\d+):(\d+)$/

/** Size of the LRU cache of formatters: they are costly to make, and callers name the zones. */
const CLOCKS_MAX = 64
const clocks = new Map<string, Intl.DateTimeFormat>()

/** Number of cached formatters; never above 64. */
export const cachedFormatters = (): number => clocks.size

const clock = (name: string): Intl.DateTimeFormat | undefined => {
  const cachedClock = clocks.get(name)
  if (cachedClock !== undefined) return cachedClock
  const made = makeClock(name)
  if (made === undefined) return undefined
  if (clocks.size >= CLOCKS_MAX) {
    const [oldest] = clocks.keys()
    if (oldest !== undefined) clocks.delete(oldest)
  }
  clocks.set(name, made)
  return made
}

const makeClock = (timeZone: string): Intl.DateTimeFormat | undefined => {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric"
    })
  } catch {
    return undefined
  }
}
