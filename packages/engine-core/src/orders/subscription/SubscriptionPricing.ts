/** Pricing of a subscription: the attestors' figures, and the engine's own to compare them with. */
import { Result } from "effect"
import type { PricePoint } from "../../instruments/price/PricePoint.ts"
import * as PriceRules from "../../instruments/price/PriceRules.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Duration from "../../kernel/Duration.ts"
import type { Subscription } from "./Subscription.ts"
import * as Rules from "./SubscriptionRules.ts"

/** What the lot says. */
export interface Attested {
  readonly pointCid: string
  readonly price: Decimal.Decimal
  readonly units: Decimal.Decimal
}

export const dealingOf = (self: Subscription, price: Decimal.Decimal): Rules.Dealing => ({
  price,
  feeRate: self.feeRate,
  unitDecimals: self.unitDecimals,
  cashDecimals: self.cashDecimals,
  residual: self.residualRule
})

/** The order's figures at the price and for the units that the attestors signed. */
export const figuresOf = (self: Subscription, { price, units }: Attested): Rules.Figures =>
  self.amount === null
    ? Rules.byUnits(units, dealingOf(self, price))
    : Rules.byAmountFor(self.amount, units, dealingOf(self, price))

/** What is known of the prices that could be an order's. */
export interface Known {
  readonly points: ReadonlyArray<PricePoint>
  /** What the orders of its day deal at by the named point, swung or not; null: it is not known. */
  readonly dayPrice: Decimal.Decimal | null
  /** How old a historic price may be; null: however old. */
  readonly staleAfter: Duration.Duration | null
}

/** In what the attestors did otherwise than the rules say; empty where they agree. */
export const breaches = (
  self: Subscription,
  attested: Attested,
  known: Known
): ReadonlyArray<string> => [
  ...ofPoint(self, attested, known),
  ...(attested.units === unitsOf(self, attested.price)
    ? []
    : [`${Decimal.formatPlain(attested.units)} units are not what the order buys.`])
]

const unitsOf = (self: Subscription, price: Decimal.Decimal): Decimal.Decimal | null =>
  self.amount === null ? self.units : Rules.byAmount(self.amount, dealingOf(self, price)).units

const ofPoint = (
  self: Subscription,
  { pointCid, price }: Attested,
  { points, dayPrice, staleAfter }: Known
): ReadonlyArray<string> => {
  const named = points.find(({ contractId }) => contractId === pointCid)
  if (named === undefined) return ["The point it names is not known."]
  const { pricing, cutOffAt, claimedAt, attesting } = self
  const oracle = attesting.oracle ?? named.source
  const chosen = PriceRules.choose(
    points.filter(({ instrumentId }) => instrumentId === self.instrumentId),
    { pricing, cutOffAt, claimedAt, oracle, staleAfter }
  )
  const other = Result.isFailure(chosen)
    ? [unpricedBecause[chosen.failure]]
    : chosen.success.contractId === pointCid
      ? []
      : [`The point ${chosen.success.contractId} prices the order.`]
  return dayPrice === null || dayPrice === price ? other : [...other, "The price is not its day's."]
}

const unpricedBecause = {
  missing: "No point prices the order yet.",
  stale: "The point that would price the order is stale."
} as const
