/** Pure rules of the register: lines, shares, and the law that they sum to the supply. */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Rational from "../../kernel/Rational.ts"
import type { ValuationMode } from "../../vocabulary/sets.ts"

/** A part of the whole, cut to the places a figure has; 0 of nothing. */
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
 * The sums of a register from the units it is kept in, and how it shows them: the total is that of
 * the lines as they are shown, so that rounding a rebasing register makes no difference of its own.
 */
export const headOf = (of: {
  /** The units of each line. */
  readonly lines: ReadonlyArray<Decimal.Decimal>
  readonly supply: Decimal.Decimal
  readonly show: (units: Decimal.Decimal) => Decimal.Decimal
}): Head => {
  const totalUnits = Decimal.sum(of.lines.map(of.show))
  const difference = of.show(Decimal.subtract(Decimal.sum(of.lines), of.supply))
  return {
    totalUnits,
    supplyOnLedger: Decimal.subtract(totalUnits, difference),
    difference,
    holders: of.lines.length
  }
}

/**
 * The units a party may still order away (docs/domain/instruments.md#free-units): what it holds,
 * less what is locked and less what its open orders name without having locked it. Never below 0: a
 * ledger on which more was pledged than is held has nothing free.
 */
export const freeUnits = (of: {
  readonly units: Decimal.Decimal
  readonly locked: Decimal.Decimal
  readonly pledged: Decimal.Decimal
}): Decimal.Decimal =>
  Decimal.max(Decimal.zero, Decimal.subtract(of.units, Decimal.add(of.locked, of.pledged)))

/** Value of units, rounded down to the currency's places. */
export const valueOf = (of: {
  readonly units: Decimal.Decimal
  readonly price: Decimal.Decimal
  readonly cashDecimals: number
}): Decimal.Decimal =>
  Rational.round(Rational.multiply(Rational.of(of.units), Rational.of(of.price)), {
    places: of.cashDecimals,
    rounding: "floor"
  })

/** The formula rebase-show: a rebasing register is kept in base units, shown at its index. */
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
