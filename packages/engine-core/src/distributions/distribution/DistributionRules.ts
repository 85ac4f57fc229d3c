/**
 * Pure figures of a distribution's lines: entitlement, equalisation, withholding, carry and payout
 * of one holder (docs/domain/figures.md#distribution-figures).
 */
import type { Attribute } from "../../holders/attribute/Attribute.ts"
import type { EqualisationLot } from "../../instruments/lot/Lot.ts"
import { counts } from "../../holders/attribute/AttributeRules.ts"
import { isRate } from "../../kernel/Amount.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Formula from "../../kernel/Formula.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Rational from "../../kernel/Rational.ts"
import type { ValuationMode } from "../../vocabulary/sets.ts"
import { Result } from "effect"
import * as Formulas from "./DistributionFormulas.ts"

/** Prices of one distribution, the same for every line of it. */
export type PeriodPricing =
  | { readonly valuation: "par" }
  | {
      readonly valuation: "accumulating"
      /** Price of fromPoint, in currency per unit. */
      readonly exPrice: Decimal.Decimal
      /** Price of toPoint, in currency per unit. */
      readonly cumPrice: Decimal.Decimal
    }
  | {
      readonly valuation: "rebasing"
      readonly fromIndex: Decimal.Decimal
      readonly toIndex: Decimal.Decimal
    }

/** Terms of one distribution, the same for every line of it. */
export interface LineTerms {
  readonly pricing: PeriodPricing
  readonly payoutDecimals: number
  /** Null where cash is paid, and for rebasing instruments, which pay nothing. */
  readonly payout: {
    /** Par value, or the ex price of an accumulating instrument, in currency per unit. */
    readonly price: Decimal.Decimal
    readonly unitDecimals: number
  } | null
}

/** Income of a par point for a holder. */
export interface HolderAccrual {
  /** Contract of the point. */
  readonly id: string
  /** Units held at the end of the point's date. */
  readonly units: Decimal.Decimal
  /** Income of one unit for one day, in currency; it may be below 0. */
  readonly income: Decimal.Decimal
  readonly days: number
}

/** Position at the record date of one holder, or of a chain of successors together. */
export interface PayeePosition {
  /** Units on the register of record. */
  readonly units: Decimal.Decimal
  /** Base units on the register of record; of a rebasing instrument alone. */
  readonly baseUnits: Decimal.Decimal
  /** Of a par instrument alone. */
  readonly accruals: ReadonlyArray<HolderAccrual>
  /** Lots that equalisation counts (`LotRules.equalisationLots`); of an accumulating instrument alone. */
  readonly lots: ReadonlyArray<EqualisationLot>
  /** carryOut of the holder's latest earlier line of the instrument, whatever its state; else 0. */
  readonly carryIn: Decimal.Decimal
  /** Fraction of the gross that is withheld, from 0 to 1. */
  readonly rate: Decimal.Decimal
  /** True: an earlier line of the holder is due, suspended or delivered. */
  readonly isUnrolled: boolean
}

interface Entitlement {
  /** In currency, rounded down to 10 places; below 0 where the income was. */
  readonly entitlement: Decimal.Decimal
  /**
   * Exact amount that rounding the entitlement down to 10 places took: at least 0, less than 10^-10.
   */
  readonly cut: Rational.Rational
}

/** Figures of one line, in the currency of the instrument unless said. */
export interface LineFigures extends Entitlement {
  readonly units: Decimal.Decimal
  readonly carryIn: Decimal.Decimal
  readonly gross: Decimal.Decimal
  readonly equalisation: Decimal.Decimal
  readonly rate: Decimal.Decimal
  readonly withheld: Decimal.Decimal
  readonly net: Decimal.Decimal
  /** At 10 places; below 0 where more was lost than earned. */
  readonly carryOut: Decimal.Decimal
  /** Entitlement and carry of a holder who left the register that are neither paid nor carried. */
  readonly leaverRest: Decimal.Decimal
  /** Units of the instrument; null where none are paid. */
  readonly payoutUnits: Decimal.Decimal | null
  /** Net less what the payout's units are worth, exactly; 0 where none are paid. */
  readonly payoutRest: Rational.Rational
  /** Reason why the line is carried; null where it is paid. */
  readonly carried: "unrolled" | "below-smallest" | null
}

/**
 * Computes the entitlement by entitlement-par, entitlement-accumulating or entitlement-rebasing.
 * A par position has one accrual for each point; equal ids in `units`, `income` and `days`.
 */
export const entitlementOf = (
  { pricing }: Pick<LineTerms, "pricing">,
  position: Pick<PayeePosition, "units" | "baseUnits" | "accruals">
): Entitlement => {
  const { figures, terms } = computed(pricing, position)
  const { entitlement } = figures
  const exact = terms.entitlement ?? Rational.of(entitlement)
  return { entitlement, cut: Rational.subtract(exact, Rational.of(entitlement)) }
}

const computed = (
  pricing: PeriodPricing,
  { units, baseUnits, accruals }: Pick<PayeePosition, "units" | "baseUnits" | "accruals">
) => {
  switch (pricing.valuation) {
    case "par":
      return Formula.computeExact(Formulas.entitlementPar, accrualsGiven(accruals))
    case "accumulating":
      return Formula.computeExact(Formulas.entitlementAccumulating, { ...pricing, units })
    case "rebasing":
      return Formula.computeExact(Formulas.entitlementRebasing, { ...pricing, baseUnits })
  }
}

/** Inputs of entitlement-par. */
export const accrualsGiven = (accruals: ReadonlyArray<HolderAccrual>) => ({
  units: accruals.map(({ id, units }) => ({ id, amount: units })),
  income: accruals.map(({ id, income }) => ({ id, amount: income })),
  days: accruals.map(({ id, days }) => ({ id, amount: Decimal.fromInteger(days) }))
})

/** Inputs of equalisation; undefined where the instrument has none. */
export const equalisationGiven = (
  { pricing, payoutDecimals }: LineTerms,
  lots: ReadonlyArray<EqualisationLot>,
  gross: Decimal.Decimal
) =>
  pricing.valuation === "accumulating"
    ? {
        remaining: lots.map(({ lotId, remaining }) => ({ id: lotId, amount: remaining })),
        basePrice: lots.map(({ lotId, basePrice }) => ({ id: lotId, amount: basePrice })),
        exPrice: pricing.exPrice,
        cumPrice: pricing.cumPrice,
        gross,
        payoutDecimals
      }
    : undefined

/** Checks whether a holder gets a line: it has an entitlement, or a carry from before. */
export const hasLine = ({
  entitlement,
  carryIn
}: Pick<LineFigures, "entitlement" | "carryIn">): boolean =>
  !Decimal.isZero(entitlement) || !Decimal.isZero(carryIn)

/**
 * Computes one holder's line. It is carried, with gross 0, where an earlier line of the holder is
 * not rolled, where its gross is 0, and where its net buys no atom of the payout's units.
 */
export const lineOf = (terms: LineTerms, position: PayeePosition): LineFigures => {
  const entitled = entitlementOf(terms, position)
  if (position.isUnrolled) return carriedLine("unrolled", { terms, position, entitled })
  const paid = paidLine({ terms, position, entitled })
  const buysNothing =
    paid.payoutUnits !== null && Decimal.isPositive(paid.net) && Decimal.isZero(paid.payoutUnits)
  return Decimal.isZero(paid.gross) || buysNothing
    ? carriedLine("below-smallest", { terms, position, entitled })
    : paid
}

interface EntitledPosition {
  readonly terms: LineTerms
  readonly position: PayeePosition
  readonly entitled: Entitlement
}

const carriedLine = (
  carried: "unrolled" | "below-smallest",
  entitlement: EntitledPosition
): LineFigures => figuresOf(entitlement, { equalisation: Decimal.zero, carried })

const paidLine = (entitlement: EntitledPosition): LineFigures => {
  const { terms, position } = entitlement
  const full = figuresOf(entitlement, { equalisation: Decimal.zero, carried: null })
  const inputs = equalisationGiven(terms, position.lots, full.gross)
  if (inputs === undefined || position.lots.length === 0) return full
  const { equalisation } = Formula.compute(Formulas.equalisation, inputs)
  return Decimal.isZero(equalisation)
    ? full
    : figuresOf(entitlement, { equalisation, carried: null })
}

const figuresOf = (
  { terms, position, entitled }: EntitledPosition,
  { equalisation, carried }: Pick<LineFigures, "equalisation" | "carried">
): LineFigures => {
  const { units, carryIn, rate } = position
  const inputs = lineGiven(terms, { ...entitled, units, carryIn, rate, equalisation, carried })
  const { gross, carryOut, withheld, net } = Formula.compute(Formulas.line, inputs)
  const due = Decimal.add(entitled.entitlement, carryIn)
  return {
    ...entitled,
    units,
    carryIn,
    gross,
    equalisation,
    rate,
    withheld,
    net,
    carryOut,
    leaverRest: Decimal.subtract(due, Decimal.add(gross, carryOut)),
    ...payoutOf(terms, net),
    carried
  }
}

/** Inputs of the formula of a line. */
export const lineGiven = (
  { payoutDecimals }: Pick<LineTerms, "payoutDecimals">,
  figures: Pick<
    LineFigures,
    "entitlement" | "carryIn" | "units" | "equalisation" | "rate" | "carried"
  >
) => ({
  entitlement: figures.entitlement,
  carryIn: figures.carryIn,
  units: figures.units,
  equalisation: figures.equalisation,
  rate: figures.rate,
  outcome: figures.carried === null ? "paid" : "carried",
  payoutDecimals
})

const payoutOf = (
  { payout }: Pick<LineTerms, "payout">,
  net: Decimal.Decimal
): Pick<LineFigures, "payoutUnits" | "payoutRest"> => {
  if (payout === null) return { payoutUnits: null, payoutRest: Rational.zero }
  const { figures, terms } = Formula.computeExact(Formulas.payoutUnits, {
    net,
    payoutPrice: payout.price,
    unitDecimals: payout.unitDecimals
  })
  return {
    payoutUnits: figures.payoutUnits,
    payoutRest: terms.rest ?? Rational.of(figures.rest)
  }
}

// ---- rates

export interface Withholding {
  readonly valuation: ValuationMode
  /** The holder's `tax-rate` as known at the execution; null: it has none. */
  readonly attribute: Pick<Attribute, "value" | "state" | "validFrom" | "validUntil"> | null
  readonly executedAt: Instant.Instant
  readonly recordEndsAt: Instant.Instant
  /** Distinct rates that the period's points state; the final one is the latest. */
  readonly ratesSeen: ReadonlyArray<Decimal.Decimal>
  /** Withholding of the instrument's terms. */
  readonly withholding: Decimal.Decimal
}

/** Rate of a line, and where it comes from. */
export interface LineRate {
  readonly rate: Decimal.Decimal
  readonly rateSource: "default" | "point" | "attribute"
}

/**
 * Returns the rate of a line: the holder's own, where it is valid both at the execution and at the
 * end of the record date, else the latest that a point of the period states, else the instrument's.
 * An own rate that is no decimal from 0 to 1 does not count. Rebasing instruments withhold nothing.
 */
export const rateOf = (inputs: Withholding): LineRate => {
  if (inputs.valuation === "rebasing") return { rate: Decimal.zero, rateSource: "default" }
  const own = ownRateOf(inputs)
  if (own !== undefined) return { rate: own, rateSource: "attribute" }
  const latest = inputs.ratesSeen.at(-1)
  return latest === undefined
    ? { rate: inputs.withholding, rateSource: "default" }
    : { rate: latest, rateSource: "point" }
}

const ownRateOf = ({
  attribute,
  executedAt,
  recordEndsAt
}: Withholding): Decimal.Decimal | undefined => {
  if (attribute === null || !counts(attribute, executedAt) || !counts(attribute, recordEndsAt)) {
    return undefined
  }
  const parsed = Decimal.parse(attribute.value)
  return Result.isSuccess(parsed) && isRate(parsed.success) ? parsed.success : undefined
}
