/** Look-up of the points and the terms that the price of an order is compared with. */
import { Effect, Option, Stream } from "effect"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import { pricePoints } from "../../instruments/price/PricePoint.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import { dayPriceOf } from "./DayPriceLookups.ts"
import { hasCome } from "../../instruments/price/QuoteOrder.ts"
import { isEligible, type PriceTiming } from "../../instruments/price/PriceRules.ts"
import type { PricedOrder, Pricing } from "./OrderPricing.ts"

/** Loads the candidate prices of an order that was priced by this point. */
export const pricingOf = Effect.fnUntraced(function* (
  self: PricedOrder,
  pointCid: string,
  now: Instant.Instant
) {
  const records = yield* Records
  const points = yield* pointsFor(self, { pointCid, now })
  const named = points.find(({ contractId }) => contractId === pointCid)
  const instrument = yield* records.find(instruments, self.instrumentId)
  if (Option.isNone(instrument) || !isRecorded(instrument.value)) {
    return yield* Effect.die(new Error("an order is claimed for a recorded instrument"))
  }
  const { grace } = yield* inForce(instrument.value, self.claimedAt)
  const at = { instrument: instrument.value, now }
  return {
    points,
    at: now,
    dayPrice: named === undefined ? null : yield* dayPriceOf(self, named.price, at),
    staleAfter: grace["nav-usable"] ?? null
  } satisfies Pricing
})

/** Largest number of points in one page of the list. */
const pointsMax = 100

/**
 * Loads the candidate points of an order's price, with the named point. If the named point may price
 * the order, the candidates are all points that the rules could prefer to it: valued from the cut-off
 * to the named point, or from the named point to the claim. If it may not, the latest points show the
 * right one. The list is of committed points, so the named point is found by its id, and the listed
 * ones are read again, since this transaction may have corrected one.
 */
const pointsFor = Effect.fnUntraced(function* (
  order: PricedOrder,
  { pointCid, now }: { readonly pointCid: string; readonly now: Instant.Instant }
) {
  const records = yield* Records
  const named = Option.getOrNull(yield* records.find(pricePoints, pointCid))
  const where = {
    instrumentId: [order.instrumentId],
    ...(order.oracle === null ? {} : { source: [order.oracle] })
  }
  const mayPrice =
    named !== null &&
    named.correctedBy === null &&
    named.isLive &&
    hasCome(named, now) &&
    isEligible(named, order)
  const query = {
    where,
    direction: "desc" as const,
    ...(mayPrice ? { ranges: { valuationTime: rivalsOf(named, order) } } : {})
  }
  const listed = yield* records.list(pricePoints, { ...query, limit: pointsMax })
  const rows =
    mayPrice && listed.length === pointsMax
      ? yield* Stream.runCollect(records.stream(pricePoints, query))
      : listed
  const current = yield* records.many(
    pricePoints,
    rows.map(({ record }) => record.contractId)
  )
  const points = new Map(current.map((point) => [point.contractId, point]))
  if (named !== null) points.set(pointCid, named)
  return [...points.values()]
})

/** Range of valuation times of the points that the rules could prefer to this one, itself included. */
const rivalsOf = (
  { valuationTime }: { readonly valuationTime: Instant.Instant },
  { claimedAt, cutOffAt, pricing }: PriceTiming
) => {
  const justAfter = Instant.sortable(Instant.fromNanos(valuationTime + 1n))
  return pricing === "forward"
    ? { from: Instant.sortable(cutOffAt), to: justAfter }
    : { from: Instant.sortable(valuationTime), to: Instant.sortable(claimedAt) }
}
