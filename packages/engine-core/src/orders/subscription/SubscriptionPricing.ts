/** Pure check of a subscription's pricing: the attestors' figures against those of the formulas. */
import * as Decimal from "../../kernel/Decimal.ts"
import { breachesOfPoint, pointNotKnown, type Pricing } from "../order/OrderPricing.ts"
import type { Subscription } from "./Subscription.ts"
import * as Rules from "./SubscriptionRules.ts"

/** Price point, price and units that the attestors signed in the lot. */
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

/** Lists the differences between the attested figures and the rules; empty: they agree. */
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

/** Unswung price of the named point; null where no such point was read, which is a breach. */
export const basePriceOf = (
  { pointCid }: Pick<Attested, "pointCid">,
  { points }: Pick<Pricing, "points">
): Decimal.Decimal | null => points.find(({ contractId }) => contractId === pointCid)?.price ?? null

const unitsOf = (self: Subscription, price: Decimal.Decimal): Decimal.Decimal | null =>
  self.amount === null ? self.units : Rules.byAmount(self.amount, dealingOf(self, price)).units

/** Lists the rules that the named point breaks; without an oracle in the claim any publisher's point counts. */
const ofPoint = (self: Subscription, attested: Attested, pricing: Pricing) => {
  const named = pricing.points.find(({ contractId }) => contractId === attested.pointCid)
  if (named === undefined) return [pointNotKnown]
  const oracle = self.attesting.oracle ?? named.source
  return breachesOfPoint({ ...self, oracle }, attested, pricing)
}
