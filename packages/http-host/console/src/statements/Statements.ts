/** What the pages of outside statements show, computed: calendars, balances, lines, and a file to hand in. */
import * as Decimals from "../words/Decimals.ts"
import { Temporal } from "../words/Temporal.ts"

type Row = Readonly<Record<string, unknown>>

export interface SourceRow {
  readonly calendar: ReadonlyArray<string>
  readonly dueBy: { readonly time: string; readonly zone: string; readonly daysAfter: unknown }
  readonly grace: string
  readonly instruments: ReadonlyArray<string>
}

const weekdays = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday"
] as const

const isOwed = ({ calendar }: Pick<SourceRow, "calendar">, date: string): boolean =>
  calendar.includes(weekdays[Temporal.PlainDate.from(date).dayOfWeek - 1] ?? "")

/** Instant from which the statement of a business date is late: its due time and the source's grace. */
export const lateFrom = ({ dueBy, grace }: SourceRow, date: string): string => {
  const days = Decimals.figureOf(dueBy.daysAfter) ?? "0"
  const plainTime = Temporal.PlainTime.from(dueBy.time)
  const due = Temporal.PlainDate.from(date)
    .add(Temporal.Duration.from(`P${days}D`))
    .toZonedDateTime({ timeZone: dueBy.zone, plainTime })
  // A time that the clock skips is the instant of the skip.
  const at = due.toPlainTime().equals(plainTime)
    ? due
    : (due.getTimeZoneTransition("previous") ?? due)
  return at.toInstant().add(hoursOf(grace)).toString()
}

/** A duration whose days are of 24 hours, as an instant takes it. */
const hoursOf = (text: string) => {
  const { days, hours, minutes, seconds } = Temporal.Duration.from(text)
  return { hours: days * 24 + hours, minutes, seconds }
}

/** "06:00 UTC, 1 day after". */
export const dueWords = ({ daysAfter, time, zone }: SourceRow["dueBy"]): string => {
  const days = Decimals.figureOf(daysAfter) ?? "0"
  const when = days === "0" ? "on the day" : days === "1" ? "1 day after" : `${days} days after`
  return `${time} ${zone}, ${when}`
}

/** "monday to friday"; otherwise the days by name. */
export const calendarWords = (calendar: ReadonlyArray<string>): string => {
  const places = weekdays.flatMap((day, at) => (calendar.includes(day) ? [at] : []))
  const [first, last] = [places[0], places.at(-1)]
  if (first === undefined || last === undefined) return "no fixed days"
  return places.length > 2 && last - first === places.length - 1
    ? `${weekdays[first]} to ${weekdays[last]}`
    : places.map((at) => weekdays[at]).join(", ")
}

/** State of a business date of a source: `awaited` is neither there nor late. */
export type DateState = "received" | "late" | "missing" | "corrected" | "awaited"

export interface CalendarDay {
  readonly date: string
  readonly state: DateState
  /** Statements in force of the date. */
  readonly statements: ReadonlyArray<Row>
  /** Instruments of the source without a statement of the date. */
  readonly without: ReadonlyArray<string>
}

const isAfter = (left: string, right: string): boolean =>
  Temporal.Instant.compare(Temporal.Instant.from(left), Temporal.Instant.from(right)) > 0

/**
 * Business dates that a source owes from a first to a last day, newest first. A date on which it owes nothing
 * is among them where a statement of it came. Late is what came after the due time, missing what has not come
 * though it is past.
 */
export const calendarOf = (
  source: SourceRow,
  {
    first,
    last,
    now,
    statements
  }: {
    readonly first: string
    readonly last: string
    readonly now: string
    readonly statements: ReadonlyArray<Row>
  }
): ReadonlyArray<CalendarDay> => {
  const days: Array<CalendarDay> = []
  for (
    let day = Temporal.PlainDate.from(last);
    Temporal.PlainDate.compare(day, Temporal.PlainDate.from(first)) >= 0;
    day = day.subtract({ days: 1 })
  ) {
    const date = day.toString()
    const all = statements.filter(({ businessDate }) => businessDate === date)
    const inForce = all.filter(({ supersededBy }) => supersededBy === null)
    if (!isOwed(source, date) && all.length === 0) continue
    const without = source.instruments.filter(
      (instrumentId) => !inForce.some((statement) => statement["instrumentId"] === instrumentId)
    )
    const due = lateFrom(source, date)
    const isLate = (instrumentId: string): boolean => {
      const own = all
        .filter((statement) => statement["instrumentId"] === instrumentId)
        .map(({ receivedAt }) => String(receivedAt))
      return own.length > 0 && own.every((at) => isAfter(at, due))
    }
    const isOver = isAfter(now, due)
    const state: DateState =
      without.length > 0 && isOwed(source, date)
        ? isOver
          ? "missing"
          : "awaited"
        : source.instruments.some(isLate)
          ? "late"
          : inForce.some(({ corrects }) => corrects !== null)
            ? "corrected"
            : "received"
    days.push({ date, state, statements: inForce, without })
  }
  return days
}

/** Business dates after the last received one that are late now, oldest first; at most a number of days back. */
export const lateDates = (
  source: SourceRow & { readonly lastBusinessDate: string | null },
  { days, now, today }: { readonly now: string; readonly today: string; readonly days: string }
): ReadonlyArray<string> => {
  const earliest = Temporal.PlainDate.from(today).subtract(Temporal.Duration.from(days))
  const start =
    source.lastBusinessDate === null
      ? null
      : Temporal.PlainDate.from(source.lastBusinessDate).add({ days: 1 })
  // A source that never sent one owes from its first statement on.
  if (start === null) return []
  const dates: Array<string> = []
  const from = Temporal.PlainDate.compare(start, earliest) < 0 ? earliest : start
  for (
    let day = from;
    Temporal.PlainDate.compare(day, Temporal.PlainDate.from(today)) <= 0;
    day = day.add({ days: 1 })
  ) {
    const date = day.toString()
    if (isOwed(source, date) && isAfter(now, lateFrom(source, date))) dates.push(date)
  }
  return dates
}

/** How late a source is: `silent` never sent a statement, `open` cannot be told by its newest date. */
export type Lateness =
  | { readonly is: "silent" }
  | { readonly is: "open" }
  | { readonly is: "none" }
  | { readonly is: "late"; readonly dates: ReadonlyArray<string> }

/** The newest date of a source is that of any of its instruments: it clears no other instrument. */
export const latenessOf = (
  source: SourceRow & { readonly lastBusinessDate: string | null },
  at: { readonly now: string; readonly today: string; readonly days: string }
): Lateness => {
  if (source.lastBusinessDate === null) return { is: "silent" }
  const dates = lateDates(source, at)
  if (dates.length > 0) return { is: "late", dates }
  return { is: source.instruments.length > 1 && source.calendar.length > 0 ? "open" : "none" }
}

/** Filters of a source's statements from a first to a last business date, both among them. */
export const datesWhere = (
  externalSourceId: string,
  { first, last }: { readonly first: string; readonly last: string }
) => ({
  externalSourceId,
  from: first,
  // The interface's `to` is the first day that is out.
  to: Temporal.PlainDate.from(last).add({ days: 1 }).toString()
})

/** A day before another. */
export const daysBefore = (date: string, days: string): string =>
  Temporal.PlainDate.from(date).subtract(Temporal.Duration.from(days)).toString()

/** Day of an instant in a zone. */
export const dayOf = (at: string, zone: string): string =>
  Temporal.Instant.from(at).toZonedDateTimeISO(zone).toPlainDate().toString()

/** Recomputed balance of a cash statement. */
export interface Balance {
  readonly opening: string
  readonly entries: string
  readonly closing: string
  readonly isSame: boolean
}

/**
 * Opening and entries against the closing; null: a balance is missing, an entry is in another currency, or
 * retention deleted the lines.
 */
export const balanceOf = (statement: Row, lines: ReadonlyArray<Row> | null): Balance | null => {
  if (lines === null) return null
  const opening = Decimals.figureOf(statement["opening"])
  const closing = Decimals.figureOf(statement["closing"])
  if (opening === null || closing === null) return null
  const signed = lines.map(({ amount, currency, direction }) => {
    const figure = Decimals.figureOf(amount)
    return figure === null || currency !== statement["currency"]
      ? null
      : direction === "debit"
        ? Decimals.negated(figure)
        : direction === "credit"
          ? figure
          : null
  })
  if (signed.some((figure) => figure === null)) return null
  const entries = Decimals.sum(["0", ...signed.filter((figure) => figure !== null)])
  return {
    opening,
    entries,
    closing,
    isSame: Decimals.same(Decimals.sum([opening, entries]), closing)
  }
}

/** What a NAV that is suspended stops, as a sentence. */
export const ripcordSentence =
  "The administrator has suspended this valuation: it prices no order and confirms no price of its date."

/** Amount of a cash line that no order has taken. */
export const leftOf = ({ amount, taken }: Row): string | null => {
  const [all, part] = [Decimals.figureOf(amount), Decimals.figureOf(taken)]
  return all === null || part === null ? null : Decimals.less(all, part)
}

/** Media type of a source's files by their form. */
export const mediaTypeOf = (adapter: string): string =>
  adapter === "csv" ? "text/csv" : adapter === "json" ? "application/json" : "application/xml"

/** Name of a downloaded file, by its media type. */
export const fileNameOf = ({ externalStatementId, rawFormat }: Row): string => {
  const type = String(rawFormat)
  const ending = /xml/u.test(type)
    ? "xml"
    : /csv/u.test(type)
      ? "csv"
      : /json/u.test(type)
        ? "json"
        : "txt"
  return `${String(externalStatementId)}.${ending}`
}

/** Bytes of a file as they came. */
export const bytesOf = (raw: string, encoding: string): Uint8Array<ArrayBuffer> =>
  encoding === "base64"
    ? Uint8Array.from(atob(raw), (letter) => letter.charCodeAt(0))
    : new TextEncoder().encode(raw)

/** What came of handing in a file, as a sentence. */
export const receiptSentence = (statement: Row): string => {
  const parts = (statement["statements"] ?? []) as ReadonlyArray<Row>
  const recorded = parts.filter((part) => part["recorded"] === true)
  return parts.length > 0 && recorded.length === 0
    ? "These bytes were here already: nothing was recorded."
    : parts.length > 1
      ? `The file was recorded: ${recorded.length} of its ${parts.length} statements are new.`
      : "The file was recorded."
}

/** Direction of an entry by mark and word. */
export const directionWords = (direction: string): string =>
  direction === "credit" ? "↓ credit" : direction === "debit" ? "↑ debit" : direction
