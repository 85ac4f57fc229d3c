/** Pricing of a subscription: the attestors' figures, and the engine's own to compare them with. */
import * as Decimal from "../../kernel/Decimal.ts"
import { breachesOfPoint, pointNotKnown, type Pricing } from "../order/OrderPricing.ts"
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

/** In what the attestors did otherwise than the rules say; empty where they agree. */
export const breaches = (
  self: Subscription,
  attested: Attested,
  pricing: Pricing
): ReadonlyArray<string> => [
  ...ofPoint(self, attested, pricing),
  ...(attested.units === unitsOf(self, attested.price)
    ? []
    : [`${Decimal.formatPlain(attested.units)} units are not what the order buys.`])
]

const unitsOf = (self: Subscription, price: Decimal.Decimal): Decimal.Decimal | null =>
  self.amount === null ? self.units : Rules.byAmount(self.amount, dealingOf(self, price)).units

/** An order without an oracle of its own is priced by whoever published the named point. */
const ofPoint = (self: Subscription, attested: Attested, pricing: Pricing) => {
  const named = pricing.points.find(({ contractId }) => contractId === attested.pointCid)
  if (named === undefined) return [pointNotKnown]
  const oracle = self.attesting.oracle ?? named.source
  return breachesOfPoint({ ...self, oracle }, attested, pricing)
}
