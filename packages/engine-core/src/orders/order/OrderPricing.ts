/** Pure check of an order's price: the point that priced it against the point that the rules choose. */
import { Result } from "effect"
import type { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import type { PricePoint } from "../../instruments/price/PricePoint.ts"
import { hasCome } from "../../instruments/price/QuoteOrder.ts"
import * as PriceRules from "../../instruments/price/PriceRules.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Duration from "../../kernel/Duration.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import type { PriceTiming } from "../../instruments/price/PriceRules.ts"

/** Members of an order that choose its price point; the oracle is null where its claim names none. */
export interface PricedOrder extends PriceTiming {
  readonly instrumentId: InstrumentId
  readonly registrar: Party.Party
  readonly oracle: Party.Party | null
}

/** Candidate prices of an order, by the terms of its claim and the sums of its dealing day. */
export interface Pricing {
  readonly points: ReadonlyArray<PricePoint>
  /** Instant at which the named point priced the order: a point of a later time prices nothing yet. */
  readonly at: Instant.Instant
  /** Price of the day's orders by the named point, swung or not; null: the point is not recorded. */
  readonly dayPrice: Decimal.Decimal | null
  /** Greatest age of a historic price; null: no limit. */
  readonly staleAfter: Duration.Duration | null
}

/** Lists the rules that the named point breaks; empty: it breaks none. */
export const breachesOfPoint = (
  {
    pricing,
    cutOffAt,
    claimedAt,
    instrumentId,
    oracle
  }: PricedOrder & { readonly oracle: Party.Party },
  { pointCid, price }: { readonly pointCid: string; readonly price: Decimal.Decimal },
  { points, at, dayPrice, staleAfter }: Pricing
): ReadonlyArray<string> => {
  const chosen = PriceRules.choose(
    points.filter((point) => point.instrumentId === instrumentId && hasCome(point, at)),
    { pricing, cutOffAt, claimedAt, oracle, staleAfter }
  )
  const other = Result.isFailure(chosen)
    ? [unpricedBecause[chosen.failure]]
    : chosen.success.contractId === pointCid
      ? []
      : [`The point ${chosen.success.contractId} prices the order.`]
  return dayPrice === null || dayPrice === price ? other : [...other, "The price is not its day's."]
}

export const pointNotKnown = "The point it names is not known."

const unpricedBecause = {
  missing: "No point prices the order yet.",
  stale: "The point that would price the order is stale."
} as const
