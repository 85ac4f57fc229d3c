/**
 * Pure fold of a distribution's lines into its totals, and the conservation identities that they
 * keep (docs/domain/figures.md#conservation).
 */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Rational from "../../kernel/Rational.ts"
import { hasLine, type LineFigures } from "./DistributionRules.ts"

/** Sums over the lines of one distribution, in the currency of the instrument unless said. */
export interface Totals {
  /** Number of lines. */
  readonly holders: number
  readonly entitlement: Decimal.Decimal
  readonly carryIn: Decimal.Decimal
  readonly gross: Decimal.Decimal
  readonly equalisation: Decimal.Decimal
  readonly withheld: Decimal.Decimal
  readonly net: Decimal.Decimal
  readonly carryOut: Decimal.Decimal
  /** Rests of holders who left the register, which the fund keeps; below 0 where they had lost. */
  readonly leaverRest: Decimal.Decimal
  /** Units of the instrument; null where none are paid. */
  readonly payoutUnits: Decimal.Decimal | null
  /** Exact sum of the amounts that rounding entitlements down to 10 places took. */
  readonly cut: Rational.Rational
  /** Nets less what the units paid for them are worth, exactly. */
  readonly payoutRest: Rational.Rational
}

/** Totals before the first line. */
export const empty: Totals = {
  holders: 0,
  entitlement: Decimal.zero,
  carryIn: Decimal.zero,
  gross: Decimal.zero,
  equalisation: Decimal.zero,
  withheld: Decimal.zero,
  net: Decimal.zero,
  carryOut: Decimal.zero,
  leaverRest: Decimal.zero,
  payoutUnits: null,
  cut: Rational.zero,
  payoutRest: Rational.zero
}

type SummedTotals = Omit<Totals, "holders">

const plus = (self: SummedTotals, that: SummedTotals): SummedTotals => ({
  entitlement: Decimal.add(self.entitlement, that.entitlement),
  carryIn: Decimal.add(self.carryIn, that.carryIn),
  gross: Decimal.add(self.gross, that.gross),
  equalisation: Decimal.add(self.equalisation, that.equalisation),
  withheld: Decimal.add(self.withheld, that.withheld),
  net: Decimal.add(self.net, that.net),
  carryOut: Decimal.add(self.carryOut, that.carryOut),
  leaverRest: Decimal.add(self.leaverRest, that.leaverRest),
  payoutUnits:
    self.payoutUnits === null || that.payoutUnits === null
      ? (self.payoutUnits ?? that.payoutUnits)
      : Decimal.add(self.payoutUnits, that.payoutUnits),
  cut: Rational.add(self.cut, that.cut),
  payoutRest: Rational.add(self.payoutRest, that.payoutRest)
})

/**
 * Adds the figures of one payee. A payee without a line counts with the amount that rounding its
 * entitlement took, which stays with the fund like every other.
 */
export const add = (self: Totals, line: LineFigures): Totals => ({
  holders: self.holders + (hasLine(line) ? 1 : 0),
  ...plus(self, line)
})

/** Adds the totals of two parts of a distribution, such as two steps of its execution. */
export const combine = (self: Totals, that: Totals): Totals => ({
  holders: self.holders + that.holders,
  ...plus(self, that)
})

const toPlaces = (exact: Rational.Rational): Decimal.Decimal =>
  Rational.round(exact, { places: Decimal.places, rounding: "floor" })

/**
 * Residual of a distribution, which stays with the fund: the sum of the rests of leavers, of the
 * rests of entitlements, and of the nets that bought no whole payout unit. Each sum is exact, and
 * rounded down once to 10 places.
 */
export const residualOf = ({ leaverRest, cut, payoutRest }: Totals): Decimal.Decimal =>
  Decimal.sum([leaverRest, toPlaces(cut), toPlaces(payoutRest)])

/** An identity that the totals of a distribution do not keep. */
export interface Breach {
  readonly identity: "gross" | "due" | "accrued"
  readonly left: Decimal.Decimal
  readonly right: Decimal.Decimal
}

/**
 * Checks the conservation identities and returns those that are broken, none for sound totals:
 * - gross: Σ gross = Σ net + Σ withheld;
 * - due: Σ gross + Σ carryOut + rests of leavers = Σ entitlement + Σ carryIn;
 * - accrued, where `accrued` is given: Σ entitlement and what the cut took are the income of the
 *   register's units, which an accumulating instrument knows from its supply alone.
 */
export const breachesOf = (
  totals: Totals,
  accrued: Rational.Rational | null
): ReadonlyArray<Breach> => {
  const breaches: ReadonlyArray<Breach> = [
    { identity: "gross", left: totals.gross, right: Decimal.add(totals.net, totals.withheld) },
    {
      identity: "due",
      left: Decimal.sum([totals.gross, totals.carryOut, totals.leaverRest]),
      right: Decimal.add(totals.entitlement, totals.carryIn)
    },
    ...(accrued === null
      ? []
      : [
          {
            identity: "accrued" as const,
            left: Decimal.add(totals.entitlement, toPlaces(totals.cut)),
            right: toPlaces(accrued)
          }
        ])
  ]
  return breaches.filter(({ left, right }) => !Decimal.equals(left, right))
}

/** Exact income of a register's units by the rise of the price above the ex price. */
export const accruedOn = (
  units: Decimal.Decimal,
  { exPrice, cumPrice }: { readonly exPrice: Decimal.Decimal; readonly cumPrice: Decimal.Decimal }
): Rational.Rational =>
  Rational.multiply(
    Rational.of(units),
    Rational.max(Rational.zero, Rational.subtract(Rational.of(cumPrice), Rational.of(exPrice)))
  )
