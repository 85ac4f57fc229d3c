/** Pure formulas of a subscription: fee, units, cash due, residual and refund. */
import type { RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Formula from "../../kernel/Formula.ts"
import type * as Party from "../../kernel/Party.ts"
import * as Rational from "../../kernel/Rational.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import * as Formulas from "../order/OrderFormulas.ts"
import type { ResidualRule } from "../../vocabulary/sets.ts"

/** Price and terms that the figures of an order are computed from. */
export interface DealingTerms {
  readonly price: Decimal.Decimal
  /** The order's own fee rate, a fraction of its cash. */
  readonly feeRate: Decimal.Decimal
  readonly unitDecimals: number
  readonly cashDecimals: number
  readonly residual: ResidualRule
}

export interface Figures {
  readonly units: Decimal.Decimal
  readonly fee: Decimal.Decimal
  /** All the cash the holder pays, fee included. */
  readonly due: Decimal.Decimal
  /** Cash that bought no unit: exact, rounded down to ten places. */
  readonly residual: Decimal.Decimal
  /** Part of the residual that is refunded to the holder; the rest stays in the fund. */
  readonly refund: Decimal.Decimal
}

/** Computes the formula subscribe-amount: the fee is taken from the amount, the rest buys units. */
export const byAmount = (amount: Decimal.Decimal, dealing: DealingTerms): Figures => {
  const { price, feeRate, unitDecimals, cashDecimals, residual: residualRule } = dealing
  const inputs = { amount, price, feeRate, unitDecimals, cashDecimals, residualRule }
  return { ...Formula.compute(Formulas.subscribeAmount, inputs), due: amount }
}

/** Computes the figures of an amount for units that the attestors signed; too many leave a negative residual. */
export const byAmountFor = (
  amount: Decimal.Decimal,
  units: Decimal.Decimal,
  dealing: DealingTerms
): Figures => {
  const fee = feeOf(amount, dealing)
  const invested = Rational.subtract(Rational.of(amount), Rational.of(fee))
  const residual = Rational.subtract(invested, cost(units, dealing.price))
  const refunded =
    dealing.residual === "refund" ? Rational.max(residual, Rational.zero) : Rational.zero
  return {
    units,
    fee,
    due: amount,
    residual: Rational.round(residual, { places: 10, rounding: "floor" }),
    refund: Rational.round(refunded, { places: dealing.cashDecimals, rounding: "floor" })
  }
}

/** Computes the formula subscribe-units: the units' cash, and the fee on top. There is no refund. */
export const byUnits = (
  units: Decimal.Decimal,
  { price, feeRate, cashDecimals }: DealingTerms
): Figures => {
  const inputs = { units, price, feeRate, cashDecimals }
  const { fee, expected, residual } = Formula.compute(Formulas.subscribeUnits, inputs)
  return { units, fee, due: expected, residual, refund: Decimal.zero }
}

/** Returns the fee of an amount, rounded up to the places of the currency. */
export const feeOf = (
  amount: Decimal.Decimal,
  { feeRate, cashDecimals }: Pick<DealingTerms, "feeRate" | "cashDecimals">
): Decimal.Decimal =>
  Rational.round(Rational.multiply(Rational.of(amount), Rational.of(feeRate)), {
    places: cashDecimals,
    rounding: "ceiling"
  })

const cost = (units: Decimal.Decimal, price: Decimal.Decimal): Rational.Rational =>
  Rational.multiply(Rational.of(units), Rational.of(price))

/**
 * Returns the parties that attest an order's price: those of the agreed market. Without a market the
 * instrument's oracle attests its own price point, and the registrar mints on request.
 */
export const attestingOf = (
  { manifest }: RecordedInstrument,
  market: Pick<PrimaryMarket, "terms"> | null
): {
  readonly parties: ReadonlyArray<Party.Party>
  readonly required: number
  readonly oracle: Party.Party | null
} => {
  if (market !== null) {
    const { attestors: parties, required, oracle } = market.terms
    return { parties, required, oracle }
  }
  const { oracle } = manifest
  return { parties: oracle === null ? [] : [oracle], required: 1, oracle }
}
