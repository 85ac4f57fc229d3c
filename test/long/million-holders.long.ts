/** Figures of a month of a million holders, by its golden vector (docs/domain/figures.md#golden-vectors). */
import { Decimal } from "@bursar/engine-core/kernel"
import { expect, test } from "vitest"
import * as Rules from "#core/distributions/distribution/DistributionRules.ts"
import * as Totals from "#core/distributions/distribution/TotalsRules.ts"
import { hangs } from "../waiting.ts"

const d = Decimal.of
const ten = (decimal: Decimal.Decimal) => Decimal.format(decimal)
const cents = (decimal: Decimal.Decimal) => Decimal.formatPlaces(decimal, 2)

const par: Rules.LineTerms = { pricing: { valuation: "par" }, payoutDecimals: 2, payout: null }
const income = d("0.000103333")

/** Line of a holder of 1000 units and as many thousandths as its number. */
const lineOf = (holder: number) => {
  const units = Decimal.fromAtoms(BigInt(1_000_000 + holder) * 10n ** 7n)
  return Rules.lineOf(par, {
    units,
    baseUnits: Decimal.zero,
    accruals: [{ id: "001", units, income, days: 31 }],
    lots: [],
    carryIn: Decimal.zero,
    rate: d("0.15"),
    isUnrolled: false
  })
}

const shown = ({ entitlement, gross, carryOut, withheld }: Rules.LineFigures) =>
  [ten(entitlement), cents(gross), ten(carryOut), cents(withheld)].join(" ")

test("G40: the totals of a million holders lose no part to rounding", {
  timeout: 3 * hangs
}, () => {
  let totals = Totals.empty
  for (let holder = 1; holder <= 1_000_000; holder++) totals = Totals.add(totals, lineOf(holder))
  expect([
    ten(totals.entitlement),
    cents(totals.gross),
    ten(totals.carryOut),
    cents(totals.withheld),
    cents(totals.net),
    ten(Totals.residualOf(totals))
  ]).toEqual([
    "4804986.1016120000",
    "4799986.11",
    "4999.9916120000",
    "720247.65",
    "4079738.46",
    "0.0000495000"
  ])
  expect([lineOf(1), lineOf(1_000_000)].map(shown)).toEqual([
    "3.2033262033 3.20 0.0033262033 0.48",
    "6.4066460000 6.40 0.0066460000 0.96"
  ])
})
