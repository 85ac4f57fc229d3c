/** Pure check of a redemption's pricing: the oracle's figures against those of the formulas. */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Rational from "../../kernel/Rational.ts"
import * as OrderRules from "../OrderRules.ts"
import { breachesOfPoint, pointNotKnown, type Pricing } from "../order/OrderPricing.ts"
import type { Redemption } from "./Redemption.ts"

/** Price point, price, units and proceeds that the oracle signed. */
export interface Priced {
  readonly pointCid: string
  readonly price: Decimal.Decimal
  readonly units: Decimal.Decimal
  readonly proceeds: Decimal.Decimal
}

export interface Figures {
  readonly units: Decimal.Decimal
  readonly proceeds: Decimal.Decimal
  /** The fund's fee, rounded up to the places of the currency. */
  readonly fee: Decimal.Decimal
}

type Ordered = Pick<
  Redemption,
  "amount" | "units" | "feeRate" | "unitDecimals" | "cashDecimals" | "orderedAs"
>

/**
 * Computes the formulas redeem-units and redeem-amount (docs/domain/figures.md#formulas-of-orders): the
 * proceeds of units are rounded down, the units for a fixed amount are rounded up.
 */
export const figuresAt = (self: Ordered, price: Decimal.Decimal): Figures => {
  const { amount, units, feeRate, unitDecimals, cashDecimals } = self
  if (amount !== null) {
    return OrderRules.redeemAmount({ amount, price, feeRate, unitDecimals, cashDecimals })
  }
  if (units === null) throw new Error("a redemption names an amount or units")
  return { units, ...OrderRules.redeemUnits({ units, price, feeRate, cashDecimals }) }
}

/** Returns the fee of a number of units at a price and the order's fee rate, rounded up. */
export const feeOf = (
  self: Pick<Redemption, "feeRate" | "cashDecimals">,
  of: { readonly units: Decimal.Decimal; readonly price: Decimal.Decimal }
): Decimal.Decimal =>
  Rational.round(
    Rational.multiply(
      Rational.multiply(Rational.of(of.units), Rational.of(of.price)),
      Rational.of(self.feeRate)
    ),
    { places: self.cashDecimals, rounding: "ceiling" }
  )

/** Lists the differences between the oracle's figures and the rules; empty: they agree. */
export const breaches = (
  self: Redemption,
  priced: Priced,
  pricing: Pricing
): ReadonlyArray<string> => {
  const figures = figuresAt(self, priced.price)
  return [
    ...(pricing.points.some(({ contractId }) => contractId === priced.pointCid)
      ? []
      : [pointNotKnown]),
    ...breachesOfPoint(self, priced, pricing),
    ...(figures.units === priced.units
      ? []
      : [`${Decimal.formatPlain(priced.units)} units are not what the order takes.`]),
    ...(figures.proceeds === priced.proceeds
      ? []
      : [`${Decimal.formatPlain(priced.proceeds)} is not what the order pays.`])
  ]
}
