/**
 * Pure rules of the price points of a closed month: which were official when the month's price was
 * settled, so that what is final never changes (docs/domain/reports.md#price).
 */
import {
  byPlace,
  byValuation,
  type PeriodPoint
} from "../../distributions/period/PeriodPointRules.ts"
import { inForceAt } from "../../distributions/period/PeriodTermsRules.ts"
import type { PolicyVersion } from "../../instruments/policy/PolicyVersion.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Offset from "../../kernel/Offset.ts"

/** Points of one instrument, and what ended those that are no longer official. */
export interface Points {
  readonly versions: ReadonlyArray<Pick<PolicyVersion, "effectiveFrom" | "manifest">>
  /** In the order of their publication on the ledger. */
  readonly points: ReadonlyArray<PeriodPoint>
  /** The correction or withdrawal of a point, by the contract that it ended. */
  readonly ends: ReadonlyMap<string, End>
}

/** Place and time of a correction or withdrawal on the ledger. */
export interface End {
  readonly offset: Offset.Offset
  readonly at: Instant.Instant
}

/** Instants that settle the price of a month. */
export interface SettlingInstants {
  /** End of the month. */
  readonly end: Instant.Instant
  /** Instant before which a point must be published at the latest. */
  readonly graceEnd: Instant.Instant
}

/** Official points that price a month, by valuation time. */
export interface MonthPoints {
  readonly points: ReadonlyArray<PeriodPoint>
  /** True: a point valued after the month is published, which settles the month's price. */
  readonly isSettled: boolean
}

export const inOrder = (points: ReadonlyArray<PeriodPoint>): ReadonlyArray<PeriodPoint> =>
  points.toSorted(byPlace)

/**
 * Returns the points that price a month: of the oracle that the policy named when they were published,
 * valued before its end, published before the first point that is valued after it, and at the latest
 * before the end of the grace. A point that was corrected or withdrawn by then is left out.
 */
export const monthPointsOf = (
  { versions, points, ends }: Points,
  { end, graceEnd }: SettlingInstants
): MonthPoints => {
  const inTime = points.filter(
    ({ publishedAt, source }) =>
      Instant.isBefore(publishedAt, graceEnd) &&
      inForceAt(versions, publishedAt)?.manifest.oracle === source
  )
  const settling = inTime.find(({ valuationTime }) => Instant.atOrAfter(valuationTime, end))
  const isEnded = ({ contractId, correctedBy, isLive }: PeriodPoint): boolean => {
    if (correctedBy === null && isLive) return false
    const ended = ends.get(contractId)
    if (ended === undefined) return true
    return settling === undefined
      ? Instant.isBefore(ended.at, graceEnd)
      : ended.offset <= settling.offset
  }
  return {
    isSettled: settling !== undefined,
    points: inTime
      .filter((point) => Instant.isBefore(point.valuationTime, end))
      .filter((point) => settling === undefined || byPlace(point, settling) < 0)
      .filter((point) => !isEnded(point))
      .toSorted(byValuation)
  }
}

/** Returns the last of the points that is valued at an instant or earlier. */
export const lastAt = (
  { points }: Pick<MonthPoints, "points">,
  instant: Instant.Instant
): PeriodPoint | undefined =>
  points.findLast(({ valuationTime }) => Instant.atOrBefore(valuationTime, instant))
