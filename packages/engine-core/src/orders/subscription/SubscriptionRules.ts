/** The figures of a subscription: fee, units, cash due and residual, and the cut-off it deals at. */
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Formula from "../../kernel/Formula.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Rational from "../../kernel/Rational.ts"
import type * as TimeOfDay from "../../kernel/TimeOfDay.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Formulas from "../OrderFormulas.ts"
import type { ResidualRule } from "../../vocabulary/sets.ts"

/** What the figures of an order depend on besides what was ordered. */
export interface Dealing {
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
  /** Cash that bought no unit: exact, cut to the places a figure has. */
  readonly residual: Decimal.Decimal
  /** What of the residual goes back to the holder; the rest stays in the fund. */
  readonly refund: Decimal.Decimal
}

/** The formula subscribe-amount: the fee comes out of the amount, the rest buys units. */
export const byAmount = (amount: Decimal.Decimal, dealing: Dealing): Figures => {
  const { price, feeRate, unitDecimals, cashDecimals, residual: residualRule } = dealing
  const given = { amount, price, feeRate, unitDecimals, cashDecimals, residualRule }
  return { ...Formula.compute(Formulas.subscribeAmount, given), due: amount }
}

/** The same for units that somebody else counted; too many leave a residual below zero. */
export const byAmountFor = (
  amount: Decimal.Decimal,
  units: Decimal.Decimal,
  dealing: Dealing
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

/** The formula subscribe-units: the units' cash, and the fee on top. Nothing goes back. */
export const byUnits = (
  units: Decimal.Decimal,
  { price, feeRate, cashDecimals }: Dealing
): Figures => {
  const given = { units, price, feeRate, cashDecimals }
  const { fee, expected, residual } = Formula.compute(Formulas.subscribeUnits, given)
  return { units, fee, due: expected, residual, refund: Decimal.zero }
}

/** The fee of an amount, in the fund's favour. */
export const feeOf = (
  amount: Decimal.Decimal,
  { feeRate, cashDecimals }: Pick<Dealing, "feeRate" | "cashDecimals">
): Decimal.Decimal =>
  Rational.round(Rational.multiply(Rational.of(amount), Rational.of(feeRate)), {
    places: cashDecimals,
    rounding: "ceiling"
  })

const cost = (units: Decimal.Decimal, price: Decimal.Decimal): Rational.Rational =>
  Rational.multiply(Rational.of(units), Rational.of(price))

export interface CutOffRule {
  readonly time: TimeOfDay.TimeOfDay
  readonly days: ReadonlyArray<Date.Weekday>
  readonly zone: Zone.Zone
}

/** A week, and a day on either side for zones whose clock jumps over a midnight. */
const daysLookedAt = 9

/** The next cut-off strictly after the claim, and the day it falls on in its zone. */
export const nextCutOff = (
  rule: CutOffRule,
  claimedAt: Instant.Instant
): { readonly at: Instant.Instant; readonly date: Date.Date } => {
  let date = Date.previous(Zone.dateAt(rule.zone, claimedAt))
  for (let looked = 0; looked < daysLookedAt; looked++, date = Date.next(date)) {
    if (!rule.days.includes(Date.weekday(date))) continue
    const at = Zone.instantAt(rule.zone, { date, time: rule.time })
    if (Instant.isAfter(at, claimedAt)) return { at, date }
  }
  throw new Error("a cut-off names at least one day of the week")
}

/** How long after its cut-off a ledger-paid order's cash is waited for. */
const settleWithin = Duration.days(5)

/**
 * Until when a ledger-paid order must settle. Cash that is allocated on the ledger is locked, so the
 * wait has an end; a bank's has none, and a wire-paid order is released by the venue alone.
 */
export const settleBy = (cutOffAt: Instant.Instant): Instant.Instant =>
  Instant.add(cutOffAt, settleWithin)
