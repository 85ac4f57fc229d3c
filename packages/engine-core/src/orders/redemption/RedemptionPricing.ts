/** Pricing of a redemption: the oracle's figures, and the engine's own to compare them with. */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Rational from "../../kernel/Rational.ts"
import * as OrderRules from "../OrderRules.ts"
import { breachesOfPoint, pointNotKnown, type Pricing } from "../order/OrderPricing.ts"
import type { Redemption } from "./Redemption.ts"

/** What the priced redemption says. */
export interface Priced {
  readonly pointCid: string
  readonly price: Decimal.Decimal
  readonly units: Decimal.Decimal
  readonly proceeds: Decimal.Decimal
}

export interface Figures {
  readonly units: Decimal.Decimal
  readonly proceeds: Decimal.Decimal
  /** What the fund keeps of the units' price, rounded in its favour. */
  readonly fee: Decimal.Decimal
}

type Ordered = Pick<
  Redemption,
  "amount" | "units" | "feeRate" | "unitDecimals" | "cashDecimals" | "orderedAs"
>

/**
 * The formulas redeem-units and redeem-amount (docs/domain/figures.md#formulas-of-orders): units
 * given back are paid rounded down, units taken for a fixed amount are rounded up.
 */
export const figuresAt = (self: Ordered, price: Decimal.Decimal): Figures => {
  const { amount, units, feeRate, unitDecimals, cashDecimals } = self
  if (amount !== null) {
    return OrderRules.redeemAmount({ amount, price, feeRate, unitDecimals, cashDecimals })
  }
  if (units === null) throw new Error("a redemption names an amount or units")
  return { units, ...OrderRules.redeemUnits({ units, price, feeRate, cashDecimals }) }
}

/** The fee of a part of an order, at the order's own price and rate. */
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

/** In what the oracle did otherwise than the rules say; empty where they agree. */
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
