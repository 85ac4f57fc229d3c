/** Basis of a priced subscription's figures: the formula and the inputs of each. */
import * as Basis from "../../kernel/Basis.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Offset from "../../kernel/Offset.ts"
import * as Formulas from "../order/OrderFormulas.ts"
import * as Rebasing from "../order/RebasingRules.ts"
import type { Subscription } from "./Subscription.ts"
import { dealingOf } from "./SubscriptionPricing.ts"
import { byAmount } from "./SubscriptionRules.ts"

/**
 * Returns the basis of each figure that a formula gives (docs/domain/figures.md#basis); none before the
 * price. If the attestors signed other units than the amount buys, no formula gives the figures that
 * follow from them: only the fee has a basis, and the projection has kept the breach. The units of a
 * rebasing instrument also have the basis of their base units.
 */
export const basisOf = (
  self: Subscription,
  offset: Offset.Offset | null
): ReadonlyArray<Basis.Basis> => {
  if (self.price === null || self.lot === null) return []
  const source = sourceOf(self, offset)
  const { amount, units, feeRate, unitDecimals, cashDecimals, residualRule, price } = self
  const minted = ofBaseUnits(self, source)
  if (amount !== null) {
    const areBought = areUnitsBought(self, { amount, price })
    return [
      ...Basis.of(Formulas.subscribeAmount, {
        values: { amount, price, feeRate, unitDecimals, cashDecimals, residualRule },
        fields: areBought
          ? { fee: "fee", units: "units", residual: "residual", refund: "refund" }
          : { fee: "fee" },
        source
      }),
      ...(areBought ? minted : [])
    ]
  }
  if (units === null) throw new Error("a subscription names an amount or units")
  return [
    ...Basis.of(Formulas.subscribeUnits, {
      values: { units, price, feeRate, cashDecimals },
      fields: { fee: "fee", "cash.expected": "expected", residual: "residual" },
      source
    }),
    ...minted
  ]
}

/** Basis of the base units of a rebasing instrument; none for units that the attestors signed otherwise. */
const ofBaseUnits = (
  { baseUnits, index, units }: Subscription,
  source: (name: string) => Basis.Source
): ReadonlyArray<Basis.Basis> =>
  index === null || units === null || Rebasing.baseOf(units, index) !== baseUnits
    ? []
    : Basis.of(Formulas.rebaseTake, {
        values: { units, index },
        fields: { baseUnits: "baseUnits" },
        source
      })

const areUnitsBought = (
  self: Subscription,
  { amount, price }: { readonly amount: Decimal.Decimal; readonly price: Decimal.Decimal }
): boolean => byAmount(amount, dealingOf(self, price)).units === self.units

/**
 * Source of an input: the price, or the index of a rebasing instrument, is in the lot, which the
 * attestors signed, all else in the order.
 */
const sourceOf =
  ({ index, subscriptionId, lot }: Subscription, offset: Offset.Offset | null) =>
  (name: string): Basis.Source =>
    name === (index === null ? "price" : "index") && lot !== null
      ? { resourceKind: "contract", id: lot.cid, offset }
      : { resourceKind: "subscription", id: subscriptionId, offset }
