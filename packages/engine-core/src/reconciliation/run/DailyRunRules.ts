/**
 * Pure rule of the daily reconciliation run: the day whose run is due, and the instant of the next
 * one.
 */
import type { DailyAt } from "../../engine/Settings.ts"
import * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Zone from "../../kernel/Zone.ts"

/** The latest day whose time of the run has come, and the instant of the next run. */
interface Days {
  readonly latest: Date.Date
  readonly nextAt: Instant.Instant
}

/**
 * Returns the day of the latest run that is due by `now`, and the instant of the next. A time that a
 * clock change skips is the instant of the skip; of a time that comes twice, the first.
 */
export const daysOf = ({ time, zone }: DailyAt, now: Instant.Instant): Days => {
  const today = Zone.dateAt(zone, now)
  const todayAt = Zone.instantAt(zone, { date: today, time })
  return Instant.atOrBefore(todayAt, now)
    ? { latest: today, nextAt: Zone.instantAt(zone, { date: Date.addDays(today, 1), time }) }
    : { latest: Date.addDays(today, -1), nextAt: todayAt }
}

/**
 * Checks whether the run of the latest day is still to be queued. `queued` is the day of the newest run
 * that was queued; null where none was since the runs were switched on: the first one is the next
 * day's. One run is made for all days that passed while no host ran.
 */
export const isDue = (queued: string | null, { latest }: Pick<Days, "latest">): boolean =>
  queued !== null && queued < latest
