/** Basis of a priced redemption's figures: the formula and the inputs of each. */
import * as Basis from "../../kernel/Basis.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Offset from "../../kernel/Offset.ts"
import * as Formulas from "../order/OrderFormulas.ts"
import * as OrderRules from "../order/OrderRules.ts"
import type { Redemption } from "./Redemption.ts"
import * as Pricing from "./RedemptionPricing.ts"

type Source = (name: string) => Basis.Source

/** Redemption with its price. */
interface PricedRedemption extends Redemption {
  readonly price: Decimal.Decimal
  readonly units: Decimal.Decimal
}

/**
 * Returns the basis of each figure that a formula gives (docs/domain/figures.md#basis); none before the
 * price. A partially filled order is paid for its units, also if it was ordered by amount. Figures that
 * the oracle signed and no formula gives have no basis, and the projection has kept the breach.
 */
export const basisOf = (
  self: Redemption,
  offset: Offset.Offset | null
): ReadonlyArray<Basis.Basis> => {
  const { price, units } = self
  if (price === null || units === null) return []
  const priced = { ...self, price, units }
  const source = sourceOf(self, offset)
  if (self.index === null) return ofCash(priced, source)
  // Ordered units are those of the claim; the figures are computed from it again.
  const claimed = { ...self, units: self.orderedAs === "units" ? units : null }
  const { baseUnits, isWhole } = Pricing.figuresAt(claimed, self.index)
  if (baseUnits !== self.baseUnits) return ofCash(priced, source)
  return isWhole
    ? [...ofWhole(priced, { baseUnits, index: self.index }, source), ...ofUnits(priced, source)]
    : [...ofCash(priced, source), ...ofBaseUnits(priced, self.index, source)]
}

/** Basis of units and proceeds at the price: of a fixed amount, or of units. */
const ofCash = (self: PricedRedemption, source: Source): ReadonlyArray<Basis.Basis> => {
  const { amount, units, price, proceeds, fee } = self
  const { feeRate, unitDecimals, cashDecimals } = self
  if (amount === null || proceeds !== amount) return ofUnits(self, source)
  const inputs = { amount, price, feeRate, unitDecimals, cashDecimals }
  const figures = OrderRules.redeemAmount(inputs)
  return figures.units === units && figures.fee === fee
    ? Basis.of(Formulas.redeemAmount, {
        values: inputs,
        fields: { units: "units", fee: "fee" },
        source
      })
    : []
}

const ofUnits = (self: PricedRedemption, source: Source): ReadonlyArray<Basis.Basis> => {
  const { units, price, proceeds, fee, feeRate, cashDecimals } = self
  const inputs = { units, price, feeRate, cashDecimals }
  const figures = OrderRules.redeemUnits(inputs)
  return figures.proceeds === proceeds && figures.fee === fee
    ? Basis.of(Formulas.redeemUnits, {
        values: inputs,
        fields: { proceeds: "proceeds", fee: "fee" },
        source
      })
    : []
}

/** Basis of the base units of the ordered units. */
const ofBaseUnits = (
  { units }: PricedRedemption,
  index: Decimal.Decimal,
  source: Source
): ReadonlyArray<Basis.Basis> =>
  Basis.of(Formulas.rebaseTake, {
    values: { units, index },
    fields: { baseUnits: "baseUnits" },
    source
  })

/** Basis of the units that a whole holding shows: its base units are burned as they are. */
const ofWhole = (
  { unitDecimals }: PricedRedemption,
  {
    baseUnits,
    index
  }: { readonly baseUnits: Decimal.Decimal | null; readonly index: Decimal.Decimal },
  source: Source
): ReadonlyArray<Basis.Basis> =>
  baseUnits === null
    ? []
    : Basis.of(Formulas.rebaseShow, {
        values: { baseUnits, index, unitDecimals },
        fields: { units: "units" },
        source
      })

/**
 * Source of an input: the price, or the index of a rebasing instrument, is in the oracle's contract while
 * it is live, all else in the order.
 */
const sourceOf =
  ({ index, redemptionId, pricedCid }: Redemption, offset: Offset.Offset | null) =>
  (name: string): Basis.Source =>
    name === (index === null ? "price" : "index") && pricedCid !== null
      ? { resourceKind: "contract", id: pricedCid, offset }
      : { resourceKind: "redemption", id: redemptionId, offset }
