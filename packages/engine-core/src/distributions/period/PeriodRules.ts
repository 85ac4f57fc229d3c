/**
 * Pure rules of distribution periods: the first and each following period, the points that price
 * it, its place in the order, and whether the price went ex (docs/domain/distributions.md#periods).
 */
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import * as Zone from "../../kernel/Zone.ts"
import {
  type PeriodPoints,
  type DatedPoint,
  datedPoints,
  officialPoints,
  type PeriodPoint
} from "./PeriodPointRules.ts"
import { datesOf, type MonthDates, type Version } from "./PeriodTermsRules.ts"

/** The instrument's last executed month, with the points that its figures were computed from. */
export interface ExecutedMonth<P> {
  readonly month: Month.Month
  readonly recordDate: Date.Date
  readonly fromPoint: P | null
  readonly toPoint: P
}

/** Facts of one instrument at the pin of an execution or of a read. */
export interface MonthFacts<P, V> {
  /** Oldest first, without withdrawn ones. */
  readonly versions: ReadonlyArray<V>
  /** In any order, official or not. */
  readonly points: ReadonlyArray<P>
  /** Null before the first distribution. */
  readonly executed: ExecutedMonth<P> | null
}

/** A month that has a point of its own and no distribution yet. */
export interface Period<P, V> extends MonthDates<V>, PeriodPoints<P> {
  /**
   * Point from which the income is counted: for par the last before the period, for accumulating
   * the one of the ex price, for rebasing the one of the last index paid. Null where par has none.
   */
  readonly fromPoint: P | null
  /** Last point dated in the period. */
  readonly toPoint: P
}

/**
 * Returns the periods without a distribution, by month, up to and with `through`: the first is the
 * next to execute, and each waits for those before it. A period begins on the day after the record
 * date of the period before it, the first on the day on which the schedule came into force. A month
 * without a point is no period and leaves its days to the next; a point that comes late for an
 * executed month makes none.
 */
export const openPeriods = <P extends PeriodPoint, V extends Version>(
  facts: MonthFacts<P, V>,
  through: Month.Month
): ReadonlyArray<Period<P, V>> => {
  const { versions, executed } = facts
  const [oldest] = versions
  const last = lastValued(facts.points)
  if (oldest === undefined || last === undefined) return []
  // Bounds the loop: a month in the far future costs no more than the next one.
  const mayHavePoint = (month: Month.Month): boolean =>
    !Month.isAfter(month, through) &&
    Month.monthsBetween({ from: last, to: month }) <= monthsAfterPoint
  const datedOf = datedByTerms(officialPoints(facts.points, versions))
  const periods: Array<Period<P, V>> = []
  let previous: PreviousPeriod<P> | null = executed
  const first =
    executed === null
      ? Month.previous(Month.fromDate(Instant.date(oldest.effectiveFrom)))
      : Month.next(executed.month)
  for (let month = first; mayHavePoint(month); month = Month.next(month)) {
    const dates = datesOf(versions, month)
    const period = dates && periodOf(dates, { dated: datedOf(dates), previous })
    if (period === undefined) continue
    periods.push(period)
    previous = period
  }
  return periods
}

/** Days of the present period that have ended, and the points that accrue on them. */
interface EndedDays<P> extends PeriodPoints<P> {
  /** Business zone whose days these are. */
  readonly zone: Zone.Zone
}

/**
 * Returns the days that have ended since the last record date of a period, by the rules of
 * `openPeriods`: `recordDate` is the last of them, and may lie before `firstDay`, when none has.
 * Undefined where the instrument does not distribute monthly at the instant, or not at par.
 */
export const endedDaysOf = <P extends PeriodPoint, V extends Version>(
  facts: MonthFacts<P, V>,
  now: Instant.Instant
): EndedDays<P> | undefined => {
  const dates = presentDates(facts.versions, now)
  if (dates === undefined || dates.terms.manifest.valuation !== "par") return undefined
  const previous = openPeriods(facts, Month.previous(dates.month)).at(-1) ?? facts.executed
  const { zone } = dates
  const firstDay = firstDayOf(dates, previous)
  const dated = datedByTerms(officialPoints(facts.points, facts.versions))(dates)
  const recordDate = Date.addDays(Zone.dateAt(zone, now), -1)
  return { zone, firstDay, recordDate, ...reachingInto(dated, { firstDay, recordDate }) }
}

/** Dates of the month whose record date is the next to end; undefined where none is scheduled. */
const presentDates = <V extends Version>(
  versions: ReadonlyArray<V>,
  now: Instant.Instant
): MonthDates<V> | undefined => {
  const first = Month.previous(Month.fromDate(Instant.date(now)))
  // In its zone the day may differ from the day in UTC, and the month's record date may have
  // passed.
  const months = [0, 1, 2, 3].map((later) => Month.add(first, later))
  return months
    .map((month) => datesOf(versions, month))
    .find((dates) => dates !== undefined && Instant.isAfter(dates.recordEndsAt, now))
}

/**
 * Months after the one of the last point's valuation, in UTC, in which the point may still be dated:
 * in its zone it may be dated in the next month, and there after that month's record date.
 */
const monthsAfterPoint = 2

/** Returns the month in which the last of the points is valued, in UTC; undefined where there is none. */
const lastValued = (points: ReadonlyArray<PeriodPoint>): Month.Month | undefined => {
  const [first, ...others] = points.map(({ valuationTime }) => valuationTime)
  if (first === undefined) return undefined
  return Month.fromDate(Instant.date(others.reduce(Instant.max, first)))
}

/**
 * Returns the official points by date, as the terms of a month read them: in its zone, and for par
 * those that state an income, since one that states the price alone says nothing of it.
 */
const datedByTerms = <P extends PeriodPoint>(official: ReadonlyArray<P>) => {
  const incomes = official.filter(({ incomePerUnit }) => incomePerUnit !== null)
  const dated = new Map<string, ReadonlyArray<DatedPoint<P>>>()
  return ({ zone, terms }: MonthDates<Version>): ReadonlyArray<DatedPoint<P>> => {
    const isPar = terms.manifest.valuation === "par"
    const key = `${zone} ${isPar}`
    const computed = dated.get(key) ?? datedPoints(isPar ? incomes : official, zone)
    dated.set(key, computed)
    return computed
  }
}

/** The preceding period, executed or not. */
type PreviousPeriod<P> = Pick<ExecutedMonth<P>, "recordDate" | "fromPoint" | "toPoint">

interface PrecedingPoints<P> {
  readonly dated: ReadonlyArray<DatedPoint<P>>
  /** Null before the first period. */
  readonly previous: PreviousPeriod<P> | null
}

const periodOf = <P extends PeriodPoint, V extends Version>(
  dates: MonthDates<V>,
  { dated, previous }: PrecedingPoints<P>
): Period<P, V> | undefined => {
  const { recordDate, scheduledFrom, terms } = dates
  const firstDay = firstDayOf(dates, previous)
  const { before, points } = reachingInto(dated, { firstDay, recordDate })
  const last = points.at(-1)
  if (last === undefined) return undefined
  const precedingPeriod =
    previous !== null && !Date.isBefore(previous.recordDate, scheduledFrom) ? previous : null
  const fromPoint = {
    par: () => before?.point ?? null,
    accumulating: () => precedingPeriod?.fromPoint ?? startOf(dated, scheduledFrom),
    rebasing: () => precedingPeriod?.toPoint ?? startOf(dated, scheduledFrom)
  }[terms.manifest.valuation]()
  return { ...dates, firstDay, before, points, fromPoint, toPoint: last.point }
}

/** First day of a period under its schedule, which follows the record date of the one before. */
const firstDayOf = (
  { scheduledFrom }: Pick<MonthDates<unknown>, "scheduledFrom">,
  previous: { readonly recordDate: Date.Date } | null
): Date.Date =>
  previous === null ? scheduledFrom : Date.max(scheduledFrom, Date.next(previous.recordDate))

/** The points dated in these days, and the last one before them. */
const reachingInto = <P>(
  dated: ReadonlyArray<DatedPoint<P>>,
  { firstDay, recordDate }: Pick<PeriodPoints<P>, "firstDay" | "recordDate">
): Pick<PeriodPoints<P>, "before" | "points"> => ({
  before: dated.findLast(({ date }) => Date.isBefore(date, firstDay)) ?? null,
  points: dated.filter(
    ({ date }) => !Date.isBefore(date, firstDay) && !Date.isAfter(date, recordDate)
  )
})

/** The last point before the schedule's first period, else the first one of that period. */
const startOf = <P>(dated: ReadonlyArray<DatedPoint<P>>, scheduledFrom: Date.Date): P | null =>
  (dated.findLast(({ date }) => Date.isBefore(date, scheduledFrom)) ?? dated[0])?.point ?? null

/** Place of a month in the order of execution. */
export type PeriodPlace = "executed" | "before-executed" | "next" | "waits" | "no-point"

/**
 * Returns the place of a month: the next to execute, one that waits for an earlier period, the last
 * executed, one before that, or a month that is no period because no point is dated in it.
 */
export const placeOf = <P extends PeriodPoint, V extends Version>(
  facts: MonthFacts<P, V>,
  month: Month.Month
): PeriodPlace => {
  const { executed } = facts
  if (executed !== null && !Month.isAfter(month, executed.month)) {
    return month === executed.month ? "executed" : "before-executed"
  }
  const periods = openPeriods(facts, month)
  if (periods.at(-1)?.month !== month) return "no-point"
  return periods.length === 1 ? "next" : "waits"
}

/** Prices around a payout of an accumulating instrument, in currency per unit. */
export interface Payout {
  /** Price of the point from which the income is counted: what the price returns to. */
  readonly exPrice: Decimal.Decimal
  /** Price of the last point of the period that paid. */
  readonly cumPrice: Decimal.Decimal
  /** Price of the first official point after that period's record date. */
  readonly firstPrice: Decimal.Decimal
}

/**
 * Checks whether the price went ex after a payout: the first price afterwards is nearer to the ex
 * price than to the price that still held the income. A price that is equally near to both did not:
 * another payout would pay the same income again. A period whose price is not above the ex price had
 * no income, and went ex by definition.
 */
export const wentEx = ({ exPrice, cumPrice, firstPrice }: Payout): boolean => {
  if (Decimal.atMost(cumPrice, exPrice)) return true
  const distanceTo = (price: Decimal.Decimal) => Decimal.abs(Decimal.subtract(firstPrice, price))
  return Decimal.lessThan(distanceTo(exPrice), distanceTo(cumPrice))
}

/** Returns the first official point dated after the day; undefined while there is none. */
export const firstPointAfter = <P>(
  dated: ReadonlyArray<DatedPoint<P>>,
  date: Date.Date
): DatedPoint<P> | undefined => dated.find((point) => Date.isAfter(point.date, date))
