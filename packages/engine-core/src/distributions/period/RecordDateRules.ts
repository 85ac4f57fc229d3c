/**
 * Pure rules of a distribution's dates: record date of a month, its end in the business zone, ex
 * date and payment date (docs/domain/distributions.md#dates).
 */
import * as Date from "../../kernel/Date.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import type * as Offset from "../../kernel/Offset.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { Weekday } from "../../vocabulary/sets.ts"

/** Record date of a month: the calendar's day, or the month's last day where it is shorter or without a calendar. */
export const recordDateOf = (
  month: Month.Month,
  calendar: { readonly recordDay: number } | null
): Date.Date =>
  calendar === null ? Month.lastDay(month) : Month.clampDay(month, calendar.recordDay)

/** Returns the instant at which a day ends in the zone: the start of the next day there. */
export const endOfDay = (zone: Zone.Zone, date: Date.Date): Instant.Instant =>
  Zone.startOfDay(zone, Date.next(date))

const instantBefore = (instant: Instant.Instant): Instant.Instant => Instant.fromNanos(instant - 1n)

/** Returns the day of a reader's zone in which the last moment of the record date lies. */
export const recordDateIn = (zone: Zone.Zone, recordEndsAt: Instant.Instant): Date.Date =>
  Zone.dateAt(zone, instantBefore(recordEndsAt))

/** Time after the record date's end within which an update of that day may still reach the ledger. */
const lateUpdates = Duration.seconds(60)

interface RecordDateFacts {
  readonly recordEndsAt: Instant.Instant
  readonly now: Instant.Instant
  /** End of the ledger as it was read last, and when; null before the first reading. */
  readonly ledgerEnd: { readonly offset: Offset.Offset; readonly readAt: Instant.Instant } | null
  /** Offset up to which the projection has read the ledger, and the ledger time there. */
  readonly projected: {
    readonly offset: Offset.Offset
    readonly ledgerTime: Instant.Instant | null
  }
}

/** Checks whether a record date may have passed by the clock alone: its end is 60 seconds ago. */
export const mayHavePassed = ({
  recordEndsAt,
  now
}: Pick<RecordDateFacts, "recordEndsAt" | "now">): boolean =>
  Instant.atOrAfter(now, Instant.add(recordEndsAt, lateUpdates))

/**
 * Checks whether a record date has passed: its end is 60 seconds ago, and the projection has
 * reached the ledger's end as it was then, or an update of that time or later. Before that a
 * movement of the day may still come.
 */
export const hasPassed = ({
  recordEndsAt,
  now,
  ledgerEnd,
  projected
}: RecordDateFacts): boolean => {
  const settledAt = Instant.add(recordEndsAt, lateUpdates)
  const { ledgerTime, offset } = projected
  return (
    mayHavePassed({ recordEndsAt, now }) &&
    ((ledgerTime !== null && Instant.atOrAfter(ledgerTime, settledAt)) ||
      (ledgerEnd !== null &&
        Instant.atOrAfter(ledgerEnd.readAt, settledAt) &&
        offset >= ledgerEnd.offset))
  )
}

/** Days of the week on which the instrument has cut-offs: its business days, at least one. */
type BusinessDays = ReadonlyArray<Weekday>

/** Returns the first business day on the date or after it. */
const businessDayFrom = (days: BusinessDays, date: Date.Date): Date.Date => {
  for (let added = 0; added < Date.weekdays.length; added++) {
    const day = Date.addDays(date, added)
    if (days.includes(Date.weekday(day))) return day
  }
  throw new Error("a cut-off names at least one day of the week")
}

/** Returns the day from which units are dealt without the income: the next business day. */
export const exDateOf = (recordDate: Date.Date, days: BusinessDays): Date.Date =>
  businessDayFrom(days, Date.next(recordDate))

/** Returns the calendar's lag after the record date, moved forward to a business day. */
export const paymentDateOf = (
  recordDate: Date.Date,
  { lagDays, days }: { readonly lagDays: number; readonly days: BusinessDays }
): Date.Date => businessDayFrom(days, Date.addDays(recordDate, lagDays))
