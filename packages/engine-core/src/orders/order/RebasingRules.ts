/**
 * Pure conversions of orders of rebasing instruments: holders order shown units, each at a price of 1,
 * and the ledger moves base units (docs/domain/orders.md#rebasing).
 */
import type { ValuationMode } from "../../vocabulary/sets.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Rational from "../../kernel/Rational.ts"
import * as OrderRules from "./OrderRules.ts"

/** Price of an ordered unit, and the index by which it becomes base units. */
export interface DealtPrice {
  readonly price: Decimal.Decimal
  /** Null where units are ordered as the ledger moves them: the instrument does not rebase. */
  readonly index: Decimal.Decimal | null
}

/** Returns the price and the index at which orders deal, from the figure that a point publishes. */
export const dealtAt = (isRebasing: boolean, published: Decimal.Decimal): DealtPrice =>
  isRebasing ? { price: Decimal.one, index: published } : { price: published, index: null }

export const isRebasing = ({ valuation }: { readonly valuation: ValuationMode }): boolean =>
  valuation === "rebasing"

/**
 * Computes the units that the ledger moves for units ordered: base units, half up at 10 places, or the
 * units themselves where there is no index. Zero: too few to move any.
 */
export const baseOf = (units: Decimal.Decimal, index: Decimal.Decimal | null): Decimal.Decimal =>
  index === null ? units : (OrderRules.rebaseTake({ units, index }) ?? Decimal.zero)

/**
 * Computes the units that are shown for those of the ledger, half up at the places of the instrument: the
 * largest whole decimal where no decimal holds them, which is more than any order is for.
 */
export const shownOf = (
  baseUnits: Decimal.Decimal,
  { index, unitDecimals }: { readonly index: Decimal.Decimal | null; readonly unitDecimals: number }
): Decimal.Decimal => {
  if (index === null) return baseUnits
  const shown = Rational.multiply(Rational.of(baseUnits), Rational.of(index))
  return Rational.fits(shown)
    ? OrderRules.rebaseShow({ baseUnits, index, unitDecimals })
    : Rational.roundAtMost(shown, { places: unitDecimals, rounding: "half-up" })
}
