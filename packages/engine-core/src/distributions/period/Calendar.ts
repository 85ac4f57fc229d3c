/**
 * Rows of the distribution calendar, computed from instrument and month: the record date and the
 * state of each period, past and to come (docs/domain/distributions.md#calendar).
 */
import { Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { Distribution } from "../distribution/Distribution.ts"
import { DistributionPeriod } from "./DistributionPeriod.ts"
import type { PeriodFacts, PeriodSettings } from "./PeriodLookups.ts"
import { ratesSeen } from "./PeriodPointRules.ts"
import { openPeriods } from "./PeriodRules.ts"
import { datesOf, type MonthDates } from "./PeriodTermsRules.ts"
import { mayHavePassed, recordDateIn } from "./RecordDateRules.ts"

const { NullOr, String: Text } = Schema

/** Zone of a reader that names none. */
export const { utc } = Zone

export const Refusal = Schema.Struct({
  operationId: Text,
  /** Slug of the refusal. */
  problem: Text,
  at: Instant.schema
}).annotate({
  identifier: "ScheduledRefusal",
  description: "The last refusal of an execution that the scheduler opened."
})

export const CalendarRow = Schema.Struct({
  scheduledDistributionId: Text,
  instrumentId: InstrumentId,
  month: Month.schema,
  periodState: DistributionPeriod.schema,
  /** Day in the business zone, whatever zone the reader names. */
  recordDate: Date.schema,
  businessZone: Zone.schema,
  /** The midnight in the business zone that ends the record date. */
  recordEndsAt: Instant.schema,
  /** Day in `zone` in which the last moment of the record date lies. */
  on: Date.schema,
  /** Null for an instrument at par, whose income accrues daily. */
  exDate: NullOr(Date.schema),
  paymentDate: Date.schema,
  /** Zone that the reader named; UTC where it named none. */
  zone: Zone.schema,
  /** The distribution of the month; null until one is executed. */
  distributionId: NullOr(Text),
  refused: NullOr(Refusal)
}).annotate({
  identifier: "ScheduledDistributionView",
  description: "A distribution date of an instrument: past, due or to come."
})
export type CalendarRow = typeof CalendarRow.Type

/** Id of an instrument's month in the calendar. */
export const idOf = ({
  instrumentId,
  month
}: Pick<CalendarRow, "instrumentId" | "month">): string => `${instrumentId}:${month}`

/** Rows of the calendar, which are computed and never stored. */
export const calendarRows = Collection.define<CalendarRow, never>("calendar-row", {
  doc: "A distribution date of an instrument: past, due or to come.",
  id: (self) => self.scheduledDistributionId,
  record: CalendarRow,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "own"
})

/** Facts of one instrument at the pin of the read. */
export interface Subject {
  readonly instrumentId: InstrumentId
  readonly facts: PeriodFacts
  /** Distributions by month. */
  readonly distributions: ReadonlyMap<Month.Month, Distribution>
  /** Last refusal of an execution by the scheduler, by month. */
  readonly refusals: ReadonlyMap<Month.Month, typeof Refusal.Type | null>
  /** Number of open holds. */
  readonly holds: number
  /** True: a line of an executed month is due, suspended or delivered. */
  readonly hasUnrolled: boolean
  readonly settingsOf: (version: PeriodFacts["versions"][number]) => PeriodSettings
}

interface CalendarClock {
  /** Instant at which states are judged. */
  readonly now: Instant.Instant
  readonly zone: Zone.Zone
}

/** Versions of an instrument's policy, and its last executed month. */
interface DistributionHistory {
  readonly versions: ReadonlyArray<{ readonly effectiveFrom: Instant.Instant }>
  readonly executed: { readonly month: Month.Month } | null
}

/**
 * First month of an instrument that may have a row: in the version's zone it may begin a day
 * earlier.
 */
export const earliestOf = ({
  versions
}: Pick<DistributionHistory, "versions">): Month.Month | null => {
  const [oldest] = versions
  return oldest === undefined
    ? null
    : Month.previous(Month.fromDate(Instant.date(oldest.effectiveFrom)))
}

/** First month of an instrument that is not executed; null without a policy. */
export const firstOpenOf = ({ versions, executed }: DistributionHistory): Month.Month | null =>
  executed === null ? earliestOf({ versions }) : Month.next(executed.month)

/**
 * Returns the rows of an instrument by month, as a function of the month: null for a month that
 * distributes nothing, such as a past one without a point.
 */
export const rowsOf = (subject: Subject, { now, zone }: CalendarClock) => {
  const { facts, instrumentId, distributions } = subject
  // Periods up to and with the month after the present one in UTC: in every zone they include each
  // month whose record date has passed.
  const open = openPeriods(facts, Month.next(Month.fromDate(Instant.date(now))))
  const row = (
    dates: Pick<MonthDates<unknown>, "month" | "recordDate" | "recordEndsAt" | "exDate"> &
      Pick<MonthDates<unknown>, "paymentDate" | "zone">,
    { periodState, distributionId }: Pick<CalendarRow, "periodState" | "distributionId">
  ): CalendarRow => ({
    scheduledDistributionId: idOf({ instrumentId, month: dates.month }),
    instrumentId,
    month: dates.month,
    periodState,
    recordDate: dates.recordDate,
    businessZone: dates.zone,
    recordEndsAt: dates.recordEndsAt,
    on: recordDateIn(zone, dates.recordEndsAt),
    exDate: dates.exDate,
    paymentDate: dates.paymentDate,
    zone,
    distributionId,
    refused: null
  })
  return (month: Month.Month): CalendarRow | null => {
    const distribution = distributions.get(month)
    if (distribution !== undefined) {
      const isPositive = Decimal.isPositive(distribution.totals.gross)
      return row(distribution, {
        periodState: isPositive ? "executed" : "nil",
        distributionId: distribution.distributionId
      })
    }
    if (facts.executed !== null && !Month.isAfter(month, facts.executed.month)) return null
    const dates = datesOf(facts.versions, month)
    if (dates === undefined) return null
    const { recordEndsAt } = dates
    if (!mayHavePassed({ recordEndsAt, now })) {
      return row(dates, { periodState: "accruing", distributionId: null })
    }
    const earlier = open.findIndex((period) => period.month === month)
    const period = open[earlier]
    if (period === undefined) return null
    const periodState = DistributionPeriod.judge({
      executed: null,
      recordDatePassed: true,
      earlierUnexecuted: earlier,
      ratesSeen: ratesSeen(period.points),
      acknowledgedRate: null,
      ...subject.settingsOf(period.terms),
      linesUnrolled: subject.hasUnrolled ? 1 : 0,
      holds: subject.holds,
      scheduledBy: period.scheduledBy
    })
    return {
      ...row(period, { periodState, distributionId: null }),
      refused: subject.refusals.get(month) ?? null
    }
  }
}

/**
 * The row for investors and apps: a blocked period has the state that it would have if it were not
 * blocked, and no refusal.
 */
export const concealed = (
  self: CalendarRow,
  { isByCalendar }: { readonly isByCalendar: boolean }
): CalendarRow => ({
  ...self,
  refused: null,
  periodState: self.periodState !== "blocked" ? self.periodState : isByCalendar ? "due" : "ready"
})
