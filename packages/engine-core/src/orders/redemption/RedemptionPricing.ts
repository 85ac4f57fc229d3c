/** Pure check of a redemption's pricing: the oracle's figures against those of the formulas. */
import * as Amount from "../../kernel/Amount.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Rational from "../../kernel/Rational.ts"
import * as OrderRules from "../order/OrderRules.ts"
import { isPriceSized } from "../order/OrderSize.ts"
import * as Rebasing from "../order/RebasingRules.ts"
import { breachesOfPoint, pointNotKnown, type Pricing } from "../order/OrderPricing.ts"
import type { Redemption } from "./Redemption.ts"

/**
 * Price point, price, units and proceeds that the oracle signed: of a rebasing instrument the index and
 * base units.
 */
interface SignedFigures {
  readonly pointCid: string
  readonly price: Decimal.Decimal
  readonly units: Decimal.Decimal
  readonly proceeds: Decimal.Decimal
}

interface Figures extends Rebasing.DealtPrice {
  readonly units: Decimal.Decimal
  /** Base units that are burned; null unless the instrument rebases. */
  readonly baseUnits: Decimal.Decimal | null
  /** True if all base units go that the holder had free at the claim. */
  readonly isWhole: boolean
  readonly proceeds: Decimal.Decimal
  /** The fund's fee, rounded up to the places of the currency. */
  readonly fee: Decimal.Decimal
}

type OrderTerms = Pick<
  Redemption,
  | "amount"
  | "units"
  | "feeRate"
  | "unitDecimals"
  | "cashDecimals"
  | "orderedAs"
  | "isRebasing"
  | "freeUnits"
>

/**
 * Computes the formulas redeem-units and redeem-amount (docs/domain/figures.md#formulas-of-orders) at a
 * published price or index: the proceeds of units are rounded down, the units for a fixed amount are
 * rounded up. An order of a rebasing instrument for exactly the units that are free, or for all that they
 * are worth, takes their base units whole, so that rounding leaves nothing behind
 * (docs/domain/orders.md#rebasing).
 */
export const figuresAt = (self: OrderTerms, published: Decimal.Decimal): Figures => {
  const { amount, units, feeRate, unitDecimals, cashDecimals } = self
  const dealt = Rebasing.dealtAt(self.isRebasing, published)
  const { index, price } = dealt
  const whole = wholeOf(self, dealt)
  if (whole !== null) return { ...dealt, ...whole, isWhole: true }
  const figures =
    amount === null
      ? paidFor(units, { price, feeRate, cashDecimals })
      : OrderRules.redeemAmount({ amount, price, feeRate, unitDecimals, cashDecimals })
  const baseUnits = index === null ? null : Rebasing.baseOf(figures.units, index)
  return { ...dealt, ...figures, baseUnits, isWhole: false }
}

/**
 * Checks that an order takes fewer units at a published price or index than the limit of one order, and
 * fewer base units: beyond it no figure is computed of the order, since no decimal may hold it, and no
 * oracle can price it (docs/domain/orders.md#prices-beyond-an-order).
 */
export const isTakenWithinLimit = (
  { amount, feeRate, isRebasing, units }: OrderTerms,
  published: Decimal.Decimal
): boolean => {
  const { index, price } = Rebasing.dealtAt(isRebasing, published)
  const netRate = Rational.subtract(Rational.one, Rational.of(feeRate))
  const net = Rational.multiply(Rational.of(price), netRate)
  if (!Rational.isPositive(net)) return amount === null
  const taken =
    amount === null ? Rational.of(units ?? Decimal.zero) : Rational.divide(Rational.of(amount), net)
  const base = index === null ? taken : Rational.divide(taken, Rational.of(index))
  const limit = Rational.of(Amount.orderBelow)
  return Rational.lessThan(taken, limit) && Rational.lessThan(base, limit)
}

const paidFor = (
  units: Decimal.Decimal | null,
  at: {
    readonly price: Decimal.Decimal
    readonly feeRate: Decimal.Decimal
    readonly cashDecimals: number
  }
) => {
  if (units === null) throw new Error("a redemption names an amount or units")
  return { units, ...OrderRules.redeemUnits({ units, ...at }) }
}

/** Figures of an order for all free units of a rebasing instrument; null: it is for another number. */
const wholeOf = (
  { amount, cashDecimals, feeRate, freeUnits, unitDecimals, units: ordered }: OrderTerms,
  { index, price }: Rebasing.DealtPrice
) => {
  if (index === null || freeUnits === null) return null
  const units = Rebasing.shownOf(freeUnits, { index, unitDecimals })
  const figures = paidFor(units, { price, feeRate, cashDecimals })
  const isAll = amount === null ? ordered === units : figures.proceeds === amount
  return isAll ? { ...figures, baseUnits: freeUnits } : null
}

/** Figures of the order for the price and the units that the oracle signed. */
export const pricedAs = (
  self: OrderTerms,
  signed: Pick<SignedFigures, "price" | "units">
): Rebasing.DealtPrice & Pick<Figures, "units" | "baseUnits" | "fee"> => {
  const dealt = Rebasing.dealtAt(self.isRebasing, signed.price)
  const units = unitsOf(self, signed)
  return {
    ...dealt,
    units,
    baseUnits: dealt.index === null ? null : signed.units,
    fee: feeOf(self, { units, price: dealt.price })
  }
}

/**
 * Checks whether an order can be priced by the figures that the oracle signed: they are within the limits
 * of one, and so are the units that the formula gives at the price.
 */
export const isWithinOrder = (
  { amount, feeRate }: Pick<OrderTerms, "amount" | "feeRate">,
  signed: Pick<SignedFigures, "price" | "units" | "proceeds">
): boolean => {
  if (!isPriceSized(signed)) return false
  if (amount === null) return true
  const netRate = Rational.subtract(Rational.one, Rational.of(feeRate))
  const net = Rational.multiply(Rational.of(signed.price), netRate)
  return Rational.isPositive(net) && Rational.fits(Rational.divide(Rational.of(amount), net))
}

/** Units of a priced order: those whose burned units were signed, else those that the signed ones show. */
const unitsOf = (
  self: OrderTerms,
  { price, units }: Pick<SignedFigures, "price" | "units">
): Decimal.Decimal => {
  const { index } = Rebasing.dealtAt(self.isRebasing, price)
  if (index === null) return units
  const { baseUnits, units: ordered } = figuresAt(self, price)
  return baseUnits === units ? ordered : Rebasing.shownOf(units, { ...self, index })
}

/** Returns the fee of a number of units at a price and the order's fee rate, rounded up. */
export const feeOf = (
  self: Pick<Redemption, "feeRate" | "cashDecimals">,
  { units, price }: { readonly units: Decimal.Decimal; readonly price: Decimal.Decimal }
): Decimal.Decimal =>
  Rational.round(
    Rational.multiply(
      Rational.multiply(Rational.of(units), Rational.of(price)),
      Rational.of(self.feeRate)
    ),
    { places: self.cashDecimals, rounding: "ceiling" }
  )

/** Lists the differences between the oracle's figures and the rules; empty: they agree. */
export const breaches = (
  self: Redemption,
  priced: SignedFigures,
  pricing: Pricing
): ReadonlyArray<string> => {
  const figures = figuresAt(self, priced.price)
  return [
    ...(pricing.points.some(({ contractId }) => contractId === priced.pointCid)
      ? []
      : [pointNotKnown]),
    ...breachesOfPoint(self, priced, pricing),
    ...((figures.baseUnits ?? figures.units) === priced.units
      ? []
      : [`${Decimal.formatPlain(priced.units)} units are not what the order takes.`]),
    ...(figures.proceeds === priced.proceeds
      ? []
      : [`${Decimal.formatPlain(priced.proceeds)} is not what the order pays.`])
  ]
}
