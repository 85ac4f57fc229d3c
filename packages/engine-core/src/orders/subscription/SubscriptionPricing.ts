/** Pure check of a subscription's pricing: the attestors' figures against those of the formulas. */
import * as Decimal from "../../kernel/Decimal.ts"
import { breachesOfPoint, pointNotKnown, type Pricing } from "../order/OrderPricing.ts"
import type { Subscription } from "./Subscription.ts"
import * as Rebasing from "../order/RebasingRules.ts"
import * as Rules from "./SubscriptionRules.ts"

/**
 * Price point, price and units that the attestors signed in the lot: of a rebasing instrument the index
 * and base units.
 */
interface AttestedFigures {
  readonly pointCid: string
  readonly price: Decimal.Decimal
  readonly units: Decimal.Decimal
}

export const dealingOf = (self: Subscription, price: Decimal.Decimal): Rules.DealingTerms => ({
  price,
  feeRate: self.feeRate,
  unitDecimals: self.unitDecimals,
  cashDecimals: self.cashDecimals,
  residual: self.residualRule
})

export interface PricedFigures extends Rules.Figures, Rebasing.DealtPrice {
  /** Base units that the lot mints; null unless the instrument rebases. */
  readonly baseUnits: Decimal.Decimal | null
}

/** The order's figures at the price and for the units that the attestors signed. */
export const figuresOf = (
  self: Subscription,
  attested: Pick<AttestedFigures, "price" | "units">
): PricedFigures => {
  const dealt = Rebasing.dealtAt(self.isRebasing, attested.price)
  const dealing = dealingOf(self, dealt.price)
  const units = orderedBy(self, attested, dealt)
  const figures =
    self.amount === null
      ? Rules.byUnits(units, dealing)
      : Rules.byAmountFor(self.amount, units, dealing)
  return { ...figures, ...dealt, baseUnits: dealt.index === null ? null : attested.units }
}

/** The figures that the rules give at a published price or index. */
export const figuresAt = (self: Subscription, published: Decimal.Decimal): PricedFigures => {
  const { index } = Rebasing.dealtAt(self.isRebasing, published)
  const units = unitsOf(self, published)
  if (units === null) throw new Error("a subscription names an amount or units")
  return figuresOf(self, { price: published, units: Rebasing.baseOf(units, index) })
}

/** Units of the order: those whose base units were signed, else those that the signed ones show. */
const orderedBy = (
  self: Subscription,
  { price, units }: Pick<AttestedFigures, "price" | "units">,
  { index }: Rebasing.DealtPrice
): Decimal.Decimal => {
  if (index === null) return units
  const ordered = unitsOf(self, price)
  return ordered !== null && Rebasing.baseOf(ordered, index) === units
    ? ordered
    : Rebasing.shownOf(units, { ...self, index })
}

/** Lists the differences between the attested figures and the rules; empty: they agree. */
export const breaches = (
  self: Subscription,
  attested: AttestedFigures,
  pricing: Pricing
): ReadonlyArray<string> => [
  ...ofPoint(self, attested, pricing),
  ...(attested.units === movedOf(self, attested.price)
    ? []
    : [`${Decimal.formatPlain(attested.units)} units are not what the order buys.`])
]

/** Unswung price of the named point; null where no such point was read, which is a breach. */
export const basePriceOf = (
  { pointCid }: Pick<AttestedFigures, "pointCid">,
  { points }: Pick<Pricing, "points">
): Decimal.Decimal | null => points.find(({ contractId }) => contractId === pointCid)?.price ?? null

/** Units that the order buys at a published price or index. */
const unitsOf = (self: Subscription, published: Decimal.Decimal): Decimal.Decimal | null => {
  const { price } = Rebasing.dealtAt(self.isRebasing, published)
  return self.amount === null
    ? self.units
    : Rules.byAmount(self.amount, dealingOf(self, price)).units
}

/** Units that the ledger mints for them. */
const movedOf = (self: Subscription, published: Decimal.Decimal): Decimal.Decimal | null => {
  const units = unitsOf(self, published)
  const { index } = Rebasing.dealtAt(self.isRebasing, published)
  return units === null ? null : Rebasing.baseOf(units, index)
}

/** Lists the rules that the named point breaks; without an oracle in the claim any publisher's point counts. */
const ofPoint = (self: Subscription, attested: AttestedFigures, pricing: Pricing) => {
  const named = pricing.points.find(({ contractId }) => contractId === attested.pointCid)
  if (named === undefined) return [pointNotKnown]
  const oracle = self.attesting.oracle ?? named.source
  return breachesOfPoint({ ...self, oracle }, attested, pricing)
}
