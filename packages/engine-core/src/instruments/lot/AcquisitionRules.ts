/** Pure rules of acquisitions: base price and cost of minted units, by the act that minted them. */
import * as Currency from "../../kernel/Currency.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Formula from "../../kernel/Formula.ts"
import type { Acquisition } from "./Lot.ts"
import { lotCost } from "./LotFormulas.ts"

/**
 * The acquisition of a subscription's units. The base price is the unswung price of its point, which
 * the price that the order dealt at may differ from. The cost is the cash that the holder paid, fee
 * included, less the refund, at the currency's places, half up. The caller sees to it that one
 * movement alone delivers the subscription: the lot has the subscription's id.
 */
export const ofSubscription = (subscription: {
  readonly subscriptionId: string
  readonly pointPrice: Decimal.Decimal
  readonly cash: Decimal.Decimal
  readonly refund: Decimal.Decimal
  readonly currency: string
}): Acquisition => ({
  lotId: subscription.subscriptionId,
  origin: { resourceKind: "subscription", id: subscription.subscriptionId },
  basePrice: subscription.pointPrice,
  cost: Decimal.round(Decimal.subtract(subscription.cash, subscription.refund), {
    places: Currency.decimals(subscription.currency),
    rounding: "half-up"
  }),
  currency: subscription.currency
})

/**
 * The acquisition of units that a distribution paid out, at the payout price: the cost is the units
 * at that price, at the currency's places, half up (`lot-cost`).
 */
export const ofDistribution = (distribution: {
  readonly distributionId: string
  readonly payoutUnits: Decimal.Decimal
  readonly payoutPrice: Decimal.Decimal
  readonly currency: string
}): Acquisition => ({
  lotId: null,
  origin: { resourceKind: "distribution", id: distribution.distributionId },
  basePrice: distribution.payoutPrice,
  cost: costOf({
    units: distribution.payoutUnits,
    price: distribution.payoutPrice,
    currency: distribution.currency
  }),
  currency: distribution.currency
})

/**
 * The acquisition of units that a mint order of a reserve gave for a deposit. The base price is the
 * order's share price, of a par instrument its par value; the cost is the deposited asset at its
 * price, at the currency's places, half up (`lot-cost`).
 */
export const ofMint = (mint: {
  readonly mintId: string
  readonly sharePrice: Decimal.Decimal
  readonly deposit: Decimal.Decimal
  /** Price of one unit of the deposited asset in the instrument's currency. */
  readonly assetPrice: Decimal.Decimal
  readonly currency: string
}): Acquisition => ({
  lotId: null,
  origin: { resourceKind: "mint", id: mint.mintId },
  basePrice: mint.sharePrice,
  cost: costOf({ units: mint.deposit, price: mint.assetPrice, currency: mint.currency }),
  currency: mint.currency
})

const costOf = ({
  currency,
  ...inputs
}: {
  readonly units: Decimal.Decimal
  readonly price: Decimal.Decimal
  readonly currency: string
}): Decimal.Decimal =>
  Formula.compute(lotCost, { ...inputs, cashDecimals: Currency.decimals(currency) }).cost
