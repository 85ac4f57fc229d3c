/** Look-up of whether an order that is priced historically deals at the point of the cycle that it joins. */
import { Effect, Option } from "effect"
import { quoteIdOf, quotes } from "../../instruments/price/PricePoint.ts"
import * as QuoteOrder from "../../instruments/price/QuoteOrder.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import type { PricingRule } from "../../vocabulary/sets.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import { none, type Orders } from "./DealingCycleOrders.ts"
import { ordersOf } from "./CycleOrderLookups.ts"

/** Members of a claim that decide its point. */
interface PricedClaim {
  readonly instrumentId: string
  /** The oracle that prices the order; null: none is named, which other conditions refuse. */
  readonly oracle: string | null
  readonly pricing: PricingRule
  readonly now: Instant.Instant
}

/**
 * Checks that a claim which is priced historically deals at the point of the other orders of its cycle, which
 * settles at one point alone: the latest official point before the claim, published before all of them were
 * claimed. Remainders of partial fills deal at a point that is still to come
 * (docs/domain/dealing-cycles.md#one-point).
 */
export const againstOtherPoint = Effect.fnUntraced(function* (
  cycle: DealingCycle | null,
  { instrumentId, now, oracle, pricing }: PricedClaim
) {
  if (cycle === null || oracle === null || pricing !== "historic") return onePoint(null)
  const records = yield* Records
  const quote = Option.getOrNull(
    yield* records.find(quotes, quoteIdOf({ source: oracle, instrumentId }))
  )
  const point = quote === null ? undefined : QuoteOrder.latestAt(quote, now)
  // Without a point nothing prices the order: it waits, as the others do.
  if (point === undefined) return onePoint(null)
  const orders = (yield* ordersOf([cycle], { pin: null, holderId: null })).get(cycle.cycleId)
  return onePoint(hasOtherPoint(orders ?? none, point) ? cycle.cycleId : null)
})

const hasOtherPoint = (
  { redemptions, subscriptions }: Orders,
  point: { readonly contractId: string; readonly valuationTime: Instant.Instant }
): boolean =>
  redemptions.some(({ remainderOf }) => remainderOf !== null) ||
  [...subscriptions, ...redemptions].some(({ claimedAt, pointCid }) =>
    pointCid === null
      ? Instant.atOrBefore(claimedAt, point.valuationTime)
      : pointCid !== point.contractId
  )

const onePoint = (otherCycleId: string | null): Judgement =>
  condition("one-point", otherCycleId === null, {
    detail:
      otherCycleId === null
        ? null
        : `The orders of the cycle ${otherCycleId} deal at another point than the last one before this claim.`,
    recovery: "Claim the order after the cut-off, or release the cycle."
  })
