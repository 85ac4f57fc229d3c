/** Pure rules of the price of an order: choice of the official point, and staleness. */
import { Result } from "effect"
import type * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { PricingRule } from "../../vocabulary/sets.ts"
import type { PricePoint } from "./PricePoint.ts"

type Choosable = Pick<PricePoint, "valuationTime" | "source" | "correctedBy" | "isLive">

/** Official points: of the instrument's oracle, neither corrected nor withdrawn. */
export const official = <P extends Choosable>(
  points: ReadonlyArray<P>,
  oracle: string
): ReadonlyArray<P> =>
  points.filter((point) => point.source === oracle && point.correctedBy === null && point.isLive)

interface PriceQuestion extends PriceTiming {
  readonly oracle: string
  /** Largest age of a historic price at the claim; null: any. */
  readonly staleAfter: Duration.Duration | null
}

/** Whether a historic price is older at the claim than `staleAfter`. */
const isStale = (
  { valuationTime }: Pick<Choosable, "valuationTime">,
  { pricing, claimedAt, staleAfter }: Pick<PriceQuestion, "pricing" | "claimedAt" | "staleAfter">
): boolean =>
  pricing === "historic" &&
  staleAfter !== null &&
  Instant.isAfter(claimedAt, Instant.add(valuationTime, staleAfter))

/**
 * Chooses the official point that prices an order: with forward pricing the first one valued at the
 * cut-off or later, with historic pricing the latest one before the claim. Fails with `missing`, or
 * with `stale` where the historic one is too old.
 */
export const choose = <P extends Choosable>(
  points: ReadonlyArray<P>,
  choosing: PriceQuestion
): Result.Result<P, "missing" | "stale"> => {
  const point = choosePoint(official(points, choosing.oracle), choosing)
  if (point === undefined) return Result.fail("missing")
  return isStale(point, choosing) ? Result.fail("stale") : Result.succeed(point)
}

/** Members of an order that decide its price. */
export interface PriceTiming {
  readonly pricing: PricingRule
  readonly cutOffAt: Instant.Instant
  readonly claimedAt: Instant.Instant
}

interface ValuedPoint {
  readonly valuationTime: Instant.Instant
}

/**
 * Chooses the point that prices an order, without asking whether points are official or stale;
 * undefined while there is none.
 */
export const choosePoint = <P extends ValuedPoint>(
  points: ReadonlyArray<P>,
  ordered: PriceTiming
): P | undefined => {
  const eligible = points
    .filter((point) => isEligible(point, ordered))
    .toSorted((a, b) => Instant.compare(a.valuationTime, b.valuationTime))
  return ordered.pricing === "forward" ? eligible[0] : eligible.at(-1)
}

/** Whether a point of this valuation time may price the order. */
export const isEligible = ({ valuationTime }: ValuedPoint, ordered: PriceTiming): boolean =>
  ordered.pricing === "forward"
    ? Instant.atOrAfter(valuationTime, ordered.cutOffAt)
    : Instant.isBefore(valuationTime, ordered.claimedAt)
