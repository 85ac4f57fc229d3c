/**
 * Pure rules of the price points behind a distribution: which are official, the date of each, and
 * the days for which the income of each accrues (docs/domain/distributions.md#points).
 */
import type { PricePoint } from "../../instruments/price/PricePoint.ts"
import * as Date from "../../kernel/Date.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Zone from "../../kernel/Zone.ts"
import { inForceAt, type Version } from "./PeriodTermsRules.ts"

/** Point as periods read it, at the pin of the execution. */
export type PeriodPoint = Pick<
  PricePoint,
  | "contractId"
  | "price"
  | "incomePerUnit"
  | "withholding"
  | "valuationTime"
  | "publishedAt"
  | "source"
  | "offset"
  | "nodeId"
  | "correctedBy"
  | "isLive"
>

/** The point of a date: the last valued, and among those the last on the ledger. */
export interface DatedPoint<P> {
  readonly date: Date.Date
  readonly point: P
}

/**
 * Official points as of their publication: published by the oracle that the policy in force at that
 * time named, and neither corrected nor withdrawn at the pin. Where a later policy names another
 * oracle, points that the former one published stay official.
 */
export const officialPoints = <P extends PeriodPoint>(
  points: ReadonlyArray<P>,
  versions: ReadonlyArray<Version>
): ReadonlyArray<P> =>
  points.filter(
    ({ source, publishedAt, correctedBy, isLive }) =>
      isLive && correctedBy === null && inForceAt(versions, publishedAt)?.manifest.oracle === source
  )

/** Sorts by place on the ledger: in the order of publication. */
export const byPlace = (a: PeriodPoint, b: PeriodPoint): number =>
  a.offset < b.offset ? -1 : a.offset > b.offset ? 1 : a.nodeId - b.nodeId

/**
 * Sorts by valuation time, then by place on the ledger. Times of publication give no order, because
 * the effective times of two transactions may contradict it by the skew that the ledger allows.
 */
export const byValuation = (a: PeriodPoint, b: PeriodPoint): number =>
  Instant.compare(a.valuationTime, b.valuationTime) || byPlace(a, b)

/** Returns the point of each date in the zone, by date; a date without a point has none. */
export const datedPoints = <P extends PeriodPoint>(
  official: ReadonlyArray<P>,
  zone: Zone.Zone
): ReadonlyArray<DatedPoint<P>> => {
  const byDate = new Map<Date.Date, P>()
  for (const point of official.toSorted(byValuation)) {
    byDate.set(Zone.dateAt(zone, point.valuationTime), point)
  }
  return [...byDate]
    .map(([date, point]) => ({ date, point }))
    .toSorted((a, b) => Date.compare(a.date, b.date))
}

/** Income of a point for a number of calendar days, on the units held at the end of its date. */
interface Accrual<P> extends DatedPoint<P> {
  readonly days: number
}

/** Days of a period and the points that reach into it. */
export interface PeriodPoints<P> {
  readonly firstDay: Date.Date
  readonly recordDate: Date.Date
  /** Last point dated before the period, whose income reaches up to the first point of it. */
  readonly before: DatedPoint<P> | null
  /** Points dated in the period, by date. */
  readonly points: ReadonlyArray<DatedPoint<P>>
}

/**
 * Returns the days for which each point accrues inside the period: from its date up to the date of
 * the next point, or through the record date. Days before the first point ever accrue nothing. The
 * days of a period and those of the next neither overlap nor leave a gap.
 */
export const accrualsOf = <P>({
  firstDay,
  recordDate,
  before,
  points
}: PeriodPoints<P>): ReadonlyArray<Accrual<P>> => {
  const reaching = before === null ? points : [before, ...points]
  return reaching.flatMap(({ date, point }, index) => {
    const from = Date.max(date, firstDay)
    const to = reaching[index + 1]?.date ?? Date.next(recordDate)
    const days = Date.daysBetween({ from, to })
    return days > 0 ? [{ date, point, days }] : []
  })
}

/**
 * Returns the distinct withholding rates that the points of a period state, in the order in which
 * each was stated last: the final one is the latest rate. A point that states no rate adds none.
 */
export const ratesSeen = (
  points: ReadonlyArray<DatedPoint<Pick<PeriodPoint, "withholding">>>
): ReadonlyArray<Decimal.Decimal> => {
  const rates = new Set<Decimal.Decimal>()
  for (const { point } of points) {
    if (point.withholding === null) continue
    rates.delete(point.withholding)
    rates.add(point.withholding)
  }
  return [...rates]
}
