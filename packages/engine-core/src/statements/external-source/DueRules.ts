/**
 * Pure rules of due times: the business dates of which a source owes a statement, and the instant by
 * which each is due (docs/domain/statements.md#due-times).
 */
import * as Date from "../../kernel/Date.ts"
import type * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as TimeOfDay from "../../kernel/TimeOfDay.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { ExternalSource } from "./ExternalSource.ts"

type DueTerms = Pick<ExternalSource, "dueBy">

/**
 * Instant by which the statement of a business date is due. A time that the clock of the zone skips
 * is the instant of the skip; of a time that it shows twice, the first.
 */
export const dueAt = ({ dueBy }: DueTerms, businessDate: Date.Date): Instant.Instant =>
  Zone.instantAt(Zone.of(dueBy.zone), {
    date: Date.addDays(businessDate, dueBy.daysAfter),
    time: TimeOfDay.of(dueBy.time)
  })

/** Checks whether a statement of the date that has not come is overdue: the grace time has passed. */
export const isOverdue = (
  source: DueTerms & { readonly grace: Duration.Duration },
  businessDate: Date.Date,
  now: Instant.Instant
): boolean => Instant.isAfter(now, Instant.add(dueAt(source, businessDate), source.grace))

/** The business dates of a calendar from one date to another, both included. */
export const businessDates = (
  { calendar }: Pick<ExternalSource, "calendar">,
  { from, to }: { readonly from: Date.Date; readonly to: Date.Date }
): ReadonlyArray<Date.Date> => {
  const dates: Array<Date.Date> = []
  for (let date = from; !Date.isAfter(date, to); date = Date.next(date)) {
    if (calendar.includes(Date.weekday(date))) dates.push(date)
  }
  return dates
}

/**
 * The business dates after the newest statement, or from the first day on where none has come, whose
 * statements are overdue; oldest first.
 */
export const overdueDates = (
  source: Pick<ExternalSource, "calendar" | "dueBy" | "grace">,
  {
    newest,
    firstDay,
    now
  }: {
    readonly newest: Date.Date | null
    readonly firstDay: Date.Date
    readonly now: Instant.Instant
  }
): ReadonlyArray<Date.Date> => {
  const from = newest === null ? firstDay : Date.next(newest)
  const to = Zone.dateAt(Zone.of(source.dueBy.zone), now)
  return businessDates(source, { from, to }).filter((date) => isOverdue(source, date, now))
}

/** The business dates between the first and the last statement of which no statement is in force. */
export const missingBetween = (
  source: Pick<ExternalSource, "calendar">,
  received: ReadonlyArray<Date.Date>
): ReadonlyArray<Date.Date> => {
  const sorted = received.toSorted(Date.order)
  const [from, to] = [sorted[0], sorted.at(-1)]
  if (from === undefined || to === undefined) return []
  const found = new Set(received)
  return businessDates(source, { from, to }).filter((date) => !found.has(date))
}
