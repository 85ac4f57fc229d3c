/**
 * Pure rules of the policy versions behind a distribution period: the version that sets a month's
 * record date, the one whose terms its distribution pays under, and the first day of the schedule
 * (docs/domain/distributions.md#policy-versions).
 */
import type { Manifest } from "../../instruments/instrument/Manifest.ts"
import * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import * as Zone from "../../kernel/Zone.ts"
import { endOfDay, exDateOf, paymentDateOf, recordDateOf } from "./RecordDateRules.ts"

/** Version of the policy that was, is or will come into force, with the terms that periods read. */
export interface Version {
  readonly effectiveFrom: Instant.Instant
  readonly manifest: Pick<
    Manifest,
    "oracle" | "businessZone" | "valuation" | "distribution" | "cutOff"
  >
}

/** Dates of a month, and the version whose terms its distribution pays under. */
export interface MonthDates<V> {
  readonly month: Month.Month
  /** Business zone of the instrument when the month begins. */
  readonly zone: Zone.Zone
  readonly scheduledBy: "calendar" | "month-end"
  /** First day of the first period under the schedule that the month belongs to. */
  readonly scheduledFrom: Date.Date
  readonly recordDate: Date.Date
  /** The midnight in `zone` that ends the record date; an update at this instant is too late. */
  readonly recordEndsAt: Instant.Instant
  /** Null where income accrues daily (par): no price goes ex. */
  readonly exDate: Date.Date | null
  readonly paymentDate: Date.Date
  /** Start of the payment date in `zone`. */
  readonly payableFrom: Instant.Instant
  /** Version in force at the end of the record date. */
  readonly terms: V
}

const zoneOf = ({ manifest }: Version): Zone.Zone => manifest.businessZone ?? Zone.utc

const isMonthly = (version: Version | undefined): boolean =>
  version?.manifest.distribution.schedule === "monthly"

const firstDayOf = (version: Version): Date.Date =>
  Zone.dateAt(zoneOf(version), version.effectiveFrom)

/** Versions, oldest first, without one that was replaced at the instant it came into force. */
const everInForce = <V extends Version>(versions: ReadonlyArray<V>): ReadonlyArray<V> =>
  versions.filter(({ effectiveFrom }, index) => {
    const next = versions[index + 1]
    return next === undefined || Instant.isAfter(next.effectiveFrom, effectiveFrom)
  })

/**
 * Returns the version in force at an instant; before the first version that version, and none where
 * there are no versions. Versions are given oldest first, without withdrawn ones.
 */
export const inForceAt = <V extends Version>(
  versions: ReadonlyArray<V>,
  instant: Instant.Instant
): V | undefined =>
  versions.findLast(({ effectiveFrom }) => Instant.atOrBefore(effectiveFrom, instant)) ??
  versions[0]

/** Checks whether the schedule becomes monthly with this version. */
const beginsSchedule = (versions: ReadonlyArray<Version>, index: number): boolean =>
  isMonthly(versions[index]) && !isMonthly(versions[index - 1])

/**
 * Returns the version that sets the record date of a month: the one in force when the month begins
 * in the version's own zone, or, in the month in which the schedule begins, the version that begins
 * it.
 */
const calendarVersionOf = <V extends Version>(
  versions: ReadonlyArray<V>,
  month: Month.Month
): V | undefined =>
  versions.findLast(
    (version, index) =>
      beginsSchedule(versions, index) && Month.contains(month, firstDayOf(version))
  ) ??
  versions.findLast((version) =>
    Instant.atOrBefore(version.effectiveFrom, Zone.startOfMonth(zoneOf(version), month))
  )

/** Returns the first of the unbroken run of monthly versions that leads to this one. */
const firstOfRun = <V extends Version>(versions: ReadonlyArray<V>, terms: V): V => {
  let index = versions.indexOf(terms)
  while (!beginsSchedule(versions, index)) index--
  return versions[index] ?? terms
}

/** Last month whose payment date is a date: dates end with the year 9999. */
const latest = Month.of("9998-12")

/**
 * Returns the dates of a month; undefined where the instrument does not distribute monthly at the
 * end of its record date, or the schedule began after it. Versions are given oldest first, without
 * withdrawn ones; scheduled ones count for months to come.
 */
export const datesOf = <V extends Version>(
  versions: ReadonlyArray<V>,
  month: Month.Month
): MonthDates<V> | undefined => {
  if (Month.isAfter(month, latest)) return undefined
  const inForce = everInForce(versions)
  const calendarVersion = calendarVersionOf(inForce, month)
  if (calendarVersion === undefined) return undefined
  const { calendar } = calendarVersion.manifest.distribution
  const zone = zoneOf(calendarVersion)
  const recordDate = recordDateOf(month, calendar)
  const recordEndsAt = endOfDay(zone, recordDate)
  const terms = inForce.findLast(({ effectiveFrom }) =>
    Instant.isBefore(effectiveFrom, recordEndsAt)
  )
  if (terms === undefined || !isMonthly(terms)) return undefined
  const scheduledFrom = firstDayOf(firstOfRun(inForce, terms))
  if (Date.isBefore(recordDate, scheduledFrom)) return undefined
  const { days } = terms.manifest.cutOff
  const paymentDate = paymentDateOf(recordDate, { lagDays: calendar?.paymentLagDays ?? 0, days })
  return {
    month,
    zone,
    scheduledBy: calendar === null ? "month-end" : "calendar",
    scheduledFrom,
    recordDate,
    recordEndsAt,
    exDate: terms.manifest.valuation === "par" ? null : exDateOf(recordDate, days),
    paymentDate,
    payableFrom: Zone.startOfDay(zone, paymentDate),
    terms
  }
}
