/** Basis of a priced redemption's figures: the formula and the inputs of each. */
import * as Basis from "../../kernel/Basis.ts"
import type * as Offset from "../../kernel/Offset.ts"
import * as Formulas from "../OrderFormulas.ts"
import * as OrderRules from "../OrderRules.ts"
import type { Redemption } from "./Redemption.ts"

/**
 * Returns the basis of each figure that a formula gives (docs/domain/figures.md#basis); none before the
 * price. A partially filled order is paid for its units, also if it was ordered by amount. Figures that
 * the oracle signed and no formula gives have no basis, and the projection has kept the breach.
 */
export const basisOf = (
  self: Redemption,
  offset: Offset.Offset | null
): ReadonlyArray<Basis.Basis> => {
  const { amount, units, price, proceeds, fee } = self
  if (price === null || units === null) return []
  const { feeRate, unitDecimals, cashDecimals } = self
  const source = sourceOf(self, offset)
  if (amount !== null && proceeds === amount) {
    const given = { amount, price, feeRate, unitDecimals, cashDecimals }
    const figures = OrderRules.redeemAmount(given)
    return figures.units === units && figures.fee === fee
      ? Basis.of(Formulas.redeemAmount, { given, fields: { units: "units", fee: "fee" }, source })
      : []
  }
  const given = { units, price, feeRate, cashDecimals }
  const figures = OrderRules.redeemUnits(given)
  return figures.proceeds === proceeds && figures.fee === fee
    ? Basis.of(Formulas.redeemUnits, {
        given,
        fields: { proceeds: "proceeds", fee: "fee" },
        source
      })
    : []
}

/** Source of an input: the price is in the oracle's contract while it is live, all else in the order. */
const sourceOf =
  ({ redemptionId, pricedCid }: Redemption, offset: Offset.Offset | null) =>
  (name: string): Basis.Source =>
    name === "price" && pricedCid !== null
      ? { resourceKind: "contract", id: pricedCid, offset }
      : { resourceKind: "redemption", id: redemptionId, offset }
