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
export const headOf = (sums: {
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
  const { holders, totalUnits } = sums
  const difference = sums.show(Decimal.subtract(sums.units, sums.supply))
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
export const freeUnits = ({
  units,
  locked,
  pledged
}: {
  readonly units: Decimal.Decimal
  readonly locked: Decimal.Decimal
  readonly pledged: Decimal.Decimal
}): Decimal.Decimal =>
  Decimal.max(Decimal.zero, Decimal.subtract(units, Decimal.add(locked, pledged)))

/**
 * Value of units in currency, rounded down to the currency's places; null where no decimal holds it,
 * since an oracle may publish any price.
 */
export const valueOf = ({
  units,
  price,
  cashDecimals
}: {
  readonly units: Decimal.Decimal
  readonly price: Decimal.Decimal
  readonly cashDecimals: number
}): Decimal.Decimal | null => {
  const worth = Rational.multiply(Rational.of(units), Rational.of(price))
  return Rational.fits(worth)
    ? Rational.round(worth, { places: cashDecimals, rounding: "floor" })
    : null
}

/**
 * Units that are shown: base units of a rebasing instrument times its index, rounded half up to the
 * unit's places (formula rebase-show); others as stored.
 */
export const shownUnits = ({
  units,
  valuation,
  index,
  unitDecimals
}: {
  readonly units: Decimal.Decimal
  readonly valuation: ValuationMode
  readonly index: Decimal.Decimal | null
  readonly unitDecimals: number
}): Decimal.Decimal =>
  valuation === "rebasing" && index !== null
    ? Decimal.multiplyRounded(units, index, {
        places: unitDecimals,
        rounding: "half-up"
      })
    : units
