/**
 * Pure rules of tax statements: rows by instrument, income code, exemption and rate, totals, whole
 * units, and the basis of each figure (docs/domain/reports.md#tax-statements).
 */
import type { Distribution } from "../../distributions/distribution/Distribution.ts"
import { wholeUnits } from "../../distributions/distribution/DistributionFormulas.ts"
import { lotPart } from "../../instruments/lot/LotFormulas.ts"
import { idOf as versionIdOf, type PolicyVersion } from "../../instruments/policy/PolicyVersion.ts"
import * as Basis from "../../kernel/Basis.ts"
import * as Currency from "../../kernel/Currency.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Formula from "../../kernel/Formula.ts"
import type * as Offset from "../../kernel/Offset.ts"
import type { DisposedUnits } from "./DisposalRules.ts"
import { taxSum } from "./TaxFormulas.ts"
import type { Amounts, TaxCurrency, TaxPayment, TaxRow } from "./TaxStatement.ts"

/** A payment with what decides its row. */
export interface TaxedPayment
  extends Pick<TaxRow, "instrumentId" | "incomeCode" | "exemptionCode" | "rate"> {
  readonly currency: string
  readonly payment: TaxPayment
}

const figures = ["gross", "equalisation", "withheld", "net"] as const

type TaxSumInputs = Formula.GivenValues<typeof taxSum.inputs>

/** Amounts of payments as inputs of a sum, each with the id of its line. */
const givenOf = (payments: ReadonlyArray<TaxPayment>): TaxSumInputs => {
  const amountsOf = (figure: keyof Amounts) =>
    payments.map((payment) => ({ id: payment.lineId, amount: payment[figure] }))
  return {
    gross: amountsOf("gross"),
    equalisation: amountsOf("equalisation"),
    withheld: amountsOf("withheld"),
    net: amountsOf("net")
  }
}

const sumOf = (payments: ReadonlyArray<TaxPayment>): Amounts =>
  Formula.compute(taxSum, givenOf(payments))

/** Sums rounded to whole units, each by itself. */
const wholeOf = (payments: ReadonlyArray<TaxPayment>): Amounts => {
  const inputs = givenOf(payments)
  const wholeUnitsOf = (figure: keyof Amounts) =>
    Formula.compute(wholeUnits, { amount: inputs[figure] }).whole
  return {
    gross: wholeUnitsOf("gross"),
    equalisation: wholeUnitsOf("equalisation"),
    withheld: wholeUnitsOf("withheld"),
    net: wholeUnitsOf("net")
  }
}

const byDay = (a: TaxPayment, b: TaxPayment): number =>
  Date.compare(a.paidOn, b.paidOn) || (a.lineId < b.lineId ? -1 : a.lineId > b.lineId ? 1 : 0)

const rowKeyOf = ({ instrumentId, incomeCode, exemptionCode, rate }: TaxedPayment): string =>
  JSON.stringify([instrumentId, incomeCode, exemptionCode, Decimal.format(rate)])

/** Finds the income code of each distribution: that of the policy version that it paid by. */
export const incomeCodesOf = (
  distributions: ReadonlyArray<Distribution>,
  versions: ReadonlyArray<PolicyVersion>
): ReadonlyMap<string, string | null> => {
  const codes = new Map(
    versions.map((version) => [versionIdOf(version), version.manifest.distribution.incomeCode])
  )
  return new Map(
    distributions.map((distribution) => [
      distribution.distributionId,
      codes.get(versionIdOf(distribution)) ?? null
    ])
  )
}

/** Groups payments by currency, and by what decides their row; both in the order of their texts. */
export const currenciesOf = (paid: ReadonlyArray<TaxedPayment>): ReadonlyArray<TaxCurrency> =>
  sorted(Map.groupBy(paid, ({ currency }) => currency)).map(([currency, ofCurrency]) => {
    const payments = ofCurrency.map(({ payment }) => payment).toSorted(byDay)
    return {
      currency,
      rows: sorted(Map.groupBy(ofCurrency, rowKeyOf)).map(([, group]) => rowOf(group)),
      totals: { ...sumOf(payments), repaid: Decimal.zero },
      wholeUnits: wholeOf(payments)
    }
  })

const sorted = <A>(groups: ReadonlyMap<string, A>): ReadonlyArray<readonly [string, A]> =>
  [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))

const rowOf = (group: ReadonlyArray<TaxedPayment>): TaxRow => {
  const { instrumentId, incomeCode, exemptionCode, rate } = group[0]!
  const payments = group.map(({ payment }) => payment).toSorted(byDay)
  return {
    ...{ instrumentId, incomeCode, chapter: null, exemptionCode, rate },
    ...sumOf(payments),
    repaid: Decimal.zero,
    payments
  }
}

/** Basis of the sums: each names the lines that it adds up. */
export const basisOf = (
  currencies: ReadonlyArray<TaxCurrency>,
  offset: Offset.Offset
): ReadonlyArray<Basis.Basis> =>
  currencies.flatMap(({ rows }, nth) => {
    const at = `currencies.${nth}`
    const payments = rows.flatMap((row) => row.payments).toSorted(byDay)
    return [
      ...rows.flatMap((row, place) => summed(row.payments, { at: `${at}.rows.${place}`, offset })),
      ...summed(payments, { at: `${at}.totals`, offset }),
      ...figures.flatMap((figure) =>
        Basis.of(wholeUnits, {
          values: { amount: givenOf(payments)[figure] },
          fields: { [`${at}.wholeUnits.${figure}.whole`]: "whole" },
          source: ofLine(offset)
        })
      )
    ]
  })

const summed = (
  payments: ReadonlyArray<TaxPayment>,
  { at, offset }: { readonly at: string; readonly offset: Offset.Offset }
) =>
  Basis.of(taxSum, {
    values: givenOf(payments),
    fields: Object.fromEntries(figures.map((figure) => [`${at}.${figure}`, figure])),
    source: ofLine(offset)
  })

const ofLine =
  (offset: Offset.Offset) =>
  (_: string, id: string | null): Basis.Source => ({
    resourceKind: "distribution-line",
    id: id ?? "",
    offset
  })

/** Basis of the cost and of the proceeds of a lot that left; neither where it has none. */
export const leavingBasis = (
  { movement, part: { lot, units, cost }, shared }: Omit<DisposedUnits, "proceeds">,
  { at, currency }: { readonly at: string; readonly currency: string }
): ReadonlyArray<Basis.Basis> => {
  const { offset, reference } = movement
  const ofLot = { resourceKind: "lot", id: lot.lotId, offset } as const
  const ofAct = {
    resourceKind: reference?.resourceKind ?? "lot",
    id: reference?.id ?? lot.lotId,
    offset
  }
  const shareBasis = (
    field: string,
    lotFigures: Omit<Formula.GivenValues<typeof lotPart.inputs>, "cashDecimals"> & {
      readonly currency: string
    },
    source: Basis.Source
  ) => {
    const { currency, ...inputs } = lotFigures
    return Basis.of(lotPart, {
      values: { ...inputs, cashDecimals: Currency.decimals(currency) },
      fields: { [`${at}.${field}.share`]: "share" },
      source: (name) => (name === "amount" || name === "cashDecimals" ? source : ofLot)
    })
  }
  return [
    ...(cost === null || lot.costLeft === null || lot.currency === null
      ? []
      : shareBasis(
          "cost",
          { amount: lot.costLeft, part: units, units: lot.remaining, currency: lot.currency },
          ofLot
        )),
    ...(shared === null ? [] : shareBasis("proceeds", { ...shared, part: units, currency }, ofAct))
  ]
}
