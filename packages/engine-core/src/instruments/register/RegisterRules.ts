/** Pure rules of the register: sums, shares, free units, values, conversion of base units. */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Rational from "../../kernel/Rational.ts"
import type { ValuationMode } from "../../vocabulary/sets.ts"

/** Share of units in a total, rounded down to `Decimal.places`; 0 where the total is 0. */
export const shareOf = (units: Decimal.Decimal, total: Decimal.Decimal): Decimal.Decimal =>
  Decimal.isZero(total)
    ? Decimal.zero
    : Decimal.divideRounded(units, total, { places: Decimal.places, rounding: "floor" })

export interface Head {
  readonly totalUnits: Decimal.Decimal
  readonly supplyOnLedger: Decimal.Decimal
  /** Units of the lines less the supply on the ledger; 0 by the law of the register. */
  readonly difference: Decimal.Decimal
  readonly holders: number
}

/**
 * Head of a register, from the sums of its lines. The total sums the converted lines, so that
 * rounding a rebasing register adds no difference.
 */
export const headOf = (of: {
  /** Number of lines. */
  readonly holders: number
  /** Sum of the stored units of the lines. */
  readonly units: Decimal.Decimal
  /** Sum of the converted units of the lines, each rounded. */
  readonly totalUnits: Decimal.Decimal
  /** Stored units of the supply. */
  readonly supply: Decimal.Decimal
  readonly show: (units: Decimal.Decimal) => Decimal.Decimal
}): Head => {
  const { holders, totalUnits } = of
  const difference = of.show(Decimal.subtract(of.units, of.supply))
  return {
    totalUnits,
    supplyOnLedger: Decimal.subtract(totalUnits, difference),
    difference,
    holders
  }
}

/**
 * Units that a party may still order (docs/domain/instruments.md#free-units): units held, less
 * those locked, less those that its open orders name and have not locked. Never below 0.
 */
export const freeUnits = (of: {
  readonly units: Decimal.Decimal
  readonly locked: Decimal.Decimal
  readonly pledged: Decimal.Decimal
}): Decimal.Decimal =>
  Decimal.max(Decimal.zero, Decimal.subtract(of.units, Decimal.add(of.locked, of.pledged)))

/**
 * Value of units in currency, rounded down to the currency's places; null where no decimal holds it,
 * since an oracle may publish any price.
 */
export const valueOf = (of: {
  readonly units: Decimal.Decimal
  readonly price: Decimal.Decimal
  readonly cashDecimals: number
}): Decimal.Decimal | null => {
  const worth = Rational.multiply(Rational.of(of.units), Rational.of(of.price))
  return Rational.fits(worth)
    ? Rational.round(worth, { places: of.cashDecimals, rounding: "floor" })
    : null
}

/**
 * Units that are shown: base units of a rebasing instrument times its index, rounded half up to the
 * unit's places (formula rebase-show); others as stored.
 */
export const shownUnits = (of: {
  readonly units: Decimal.Decimal
  readonly valuation: ValuationMode
  readonly index: Decimal.Decimal | null
  readonly unitDecimals: number
}): Decimal.Decimal =>
  of.valuation === "rebasing" && of.index !== null
    ? Decimal.multiplyRounded(of.units, of.index, {
        places: of.unitDecimals,
        rounding: "half-up"
      })
    : of.units
