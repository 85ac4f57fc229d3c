/** Pure rules of the price choice: which official point prices an order, and which is stale. */
import { Result } from "effect"
import type * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { PricingRule } from "../../vocabulary/sets.ts"
import type { PricePoint } from "./PricePoint.ts"

type Choosable = Pick<PricePoint, "valuationTime" | "source" | "correctedBy" | "isLive">

/** Official points: of the instrument's own oracle, neither corrected nor taken back. */
export const official = <P extends Choosable>(
  points: ReadonlyArray<P>,
  oracle: string
): ReadonlyArray<P> =>
  points.filter((point) => point.source === oracle && point.correctedBy === null && point.isLive)

export interface Choosing extends Ordered {
  readonly oracle: string
  /** How old a price may be that was there before its order; null: however old. */
  readonly staleAfter: Duration.Duration | null
}

/** Whether a historic price is too old: valued so long before the claim that it says nothing of it. */
export const isStale = (
  { valuationTime }: Pick<Choosable, "valuationTime">,
  { pricing, claimedAt, staleAfter }: Pick<Choosing, "pricing" | "claimedAt" | "staleAfter">
): boolean =>
  pricing === "historic" &&
  staleAfter !== null &&
  Instant.isAfter(claimedAt, Instant.add(valuationTime, staleAfter))

/**
 * The point that prices an order: forward the first official one valued at the cut-off or later,
 * historic the last one before the claim, unless it is stale.
 */
export const choose = <P extends Choosable>(
  points: ReadonlyArray<P>,
  choosing: Choosing
): Result.Result<P, "missing" | "stale"> => {
  const point = choosePoint(official(points, choosing.oracle), choosing)
  if (point === undefined) return Result.fail("missing")
  return isStale(point, choosing) ? Result.fail("stale") : Result.succeed(point)
}

/** What the choice of a price depends on in an order. */
export interface Ordered {
  readonly pricing: PricingRule
  readonly cutOffAt: Instant.Instant
  readonly claimedAt: Instant.Instant
}

interface Valued {
  readonly valuationTime: Instant.Instant
}

/**
 * The point that prices an order: forward the first valued at the cut-off or later, historic the
 * last one valued before the claim; undefined while there is none.
 */
export const choosePoint = <P extends Valued>(
  points: ReadonlyArray<P>,
  ordered: Ordered
): P | undefined => {
  const eligible = points
    .filter((point) => isEligible(point, ordered))
    .toSorted((a, b) => Instant.compare(a.valuationTime, b.valuationTime))
  return ordered.pricing === "forward" ? eligible[0] : eligible.at(-1)
}

/** Whether a point valued then may price the order at all. */
export const isEligible = ({ valuationTime }: Valued, ordered: Ordered): boolean =>
  ordered.pricing === "forward"
    ? Instant.atOrAfter(valuationTime, ordered.cutOffAt)
    : Instant.isBefore(valuationTime, ordered.claimedAt)
