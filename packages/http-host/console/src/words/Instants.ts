/** Instants as a page shows them: date and time in a zone that is named, and how far they are from now. */
import { Temporal } from "./Temporal.ts"

const two = (value: number): string => String(value).padStart(2, "0")

/** Date, time to the second and zone of an instant: `2026-07-31 14:03:07 UTC`. */
export const zoned = (text: string, zone: string): string => {
  const at = Temporal.Instant.from(text).toZonedDateTimeISO(zone)
  const date = at.toPlainDate().toString()
  return `${date} ${two(at.hour)}:${two(at.minute)}:${two(at.second)} ${zone}`
}

/** Time of an instant on its day: `14:03 UTC`, with the date where the day is another than that of `now`. */
export const short = (
  text: string,
  { now, zone }: { readonly zone: string; readonly now: string }
): string => {
  const at = Temporal.Instant.from(text).toZonedDateTimeISO(zone)
  const today = Temporal.Instant.from(now).toZonedDateTimeISO(zone).toPlainDate()
  const time = `${two(at.hour)}:${two(at.minute)}`
  const date = at.toPlainDate()
  return `${date.equals(today) ? "" : `${date.toString()} `}${time} ${zone}`
}

const units: ReadonlyArray<readonly [name: string, seconds: number]> = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60]
]

/** Distance of an instant from another: `in 2 h`, `3 d ago`, `now`. */
export const distance = (text: string, now: string): string => {
  const seconds = Math.trunc(
    (Temporal.Instant.from(text).epochMilliseconds - Temporal.Instant.from(now).epochMilliseconds) /
      1000
  )
  const size = Math.abs(seconds)
  const unit = units.find(([, length]) => size >= length)
  if (unit === undefined) return "now"
  const count = `${Math.trunc(size / unit[1])} ${unit[0]}`
  return seconds > 0 ? `in ${count}` : `${count} ago`
}

/** Checks whether an instant lies before another. */
export const isPast = (text: string, now: string): boolean =>
  Temporal.Instant.compare(Temporal.Instant.from(text), Temporal.Instant.from(now)) < 0

/** Form of an instant in an answer. */
export const isInstant = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/u.test(text)

/** Checks whether a text names a time zone that the platform knows. */
export const isZone = (zone: string): boolean => {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone)
    return true
  } catch {
    return false
  }
}

/** What a person typed as an instant: the instant, or why it is none. */
export type EnteredInstant = { readonly at: string } | { readonly fault: string }

const typed = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z?)$/u

/**
 * Instant of a text: one in UTC with its Z, or a time of the zone. A time that the zone skips, or has twice,
 * is refused with both instants beside it.
 */
export const entered = (text: string, zone: string): EnteredInstant => {
  const [, date, time, utc] = typed.exec(text) ?? []
  if (date === undefined) {
    return { fault: "is no instant: 2026-07-31T12:00:00Z, or a time without Z in the page's zone" }
  }
  try {
    const local = Temporal.PlainDateTime.from(`${date}T${time}`)
    const named = utc === "Z" ? "UTC" : zone
    const [first, last] = (["earlier", "later"] as const).map((disambiguation) =>
      local.toZonedDateTime(named, { disambiguation })
    )
    if (first === undefined || last === undefined) throw new Error("a choice of two has two")
    const [before, after] = [first, last].map((each) => each.toInstant().toString())
    if (before === undefined || before === after) return { at: String(before) }
    const [lower, upper] = [first, last].map((each) => each.toPlainTime().toString().slice(0, 5))
    return {
      fault: first.toPlainDateTime().equals(local)
        ? `is there twice in ${zone}: as ${before} and as ${after}. Enter one of these`
        : `is skipped in ${zone}: beside it are ${lower} (${before}) and ${upper} (${after})`
    }
  } catch {
    return { fault: "is no date and time of the calendar" }
  }
}
