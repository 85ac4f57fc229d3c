/** Days of statements, and the moment that a file means which states a date alone. */
import { Date, type Instant, Zone } from "@bursar/engine-core/kernel"

/** Years of statements; an instant and the life of a NAV after it stay within those of the calendar. */
const years = { from: 1900, to: 2999 }

export const isOfYears = (day: Date.Date): boolean => {
  const { year } = Date.parts(day)
  return year >= years.from && year <= years.to
}

/** Sentence of a date of other years, without its subject. */
export const otherYears = `is not of the years ${years.from} to ${years.to}`

/** The end of a day in a zone: the start of the next day there. */
export const endOfDay = (day: Date.Date, zone: Zone.Zone): Instant.Instant =>
  Zone.startOfDay(zone, Date.next(day))
