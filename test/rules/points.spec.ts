/** Figure of a published value: an income read as a price would price units at nearly nothing. */
import { Decimal } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { figuresOf } from "#core/instruments/price/PointRules.ts"

type Terms = Parameters<typeof figuresOf>[1]

const par: Terms = { valuation: "par", parValue: Decimal.of("2") }
const plainPar: Terms = { valuation: "par", parValue: null }
const accumulating: Terms = { valuation: "accumulating", parValue: null }
const rebasing: Terms = { valuation: "rebasing", parValue: null }

const published = (metric: string, value: Decimal.Decimal, rate: string | null = null) => ({
  metric,
  value,
  withholdingRate: rate === null ? null : Decimal.of(rate)
})

const outcome = (metric: string, value: string, terms: Terms, rate: string | null = null) =>
  Result.match(figuresOf(published(metric, Decimal.of(value), rate), terms), {
    onSuccess: ({ price, incomePerUnit }) =>
      [price, incomePerUnit].map((one) => (one === null ? null : Decimal.formatPlain(one))),
    onFailure: () => "refused"
  })

describe("a published value", () => {
  it.each<[metric: string, value: string, terms: Terms, expected: unknown]>([
    ["income", "0.000096553", par, ["2", "0.000096553"]],
    ["income", "0.000096553", plainPar, ["1", "0.000096553"]],
    // A day may lose: the income of a unit is signed.
    ["income", "-0.01", par, ["2", "-0.01"]],
    ["price", "2", par, ["2", null]],
    ["price", "1.9999999999", par, "refused"],
    ["index", "1.7", par, "refused"],
    ["price", "1.0437", accumulating, ["1.0437", null]],
    ["income", "0.000096553", accumulating, "refused"],
    ["index", "1.7", accumulating, "refused"],
    ["index", "1.73222", rebasing, ["1.73222", null]],
    ["price", "1.7", rebasing, "refused"],
    ["price", "1", rebasing, "refused"],
    ["income", "0.01", rebasing, "refused"],
    ["price", "1.0437", null, ["1.0437", null]],
    ["index", "1.7", null, ["1.7", null]],
    ["income", "0.01", null, "refused"],
    ["nav", "1.0437", accumulating, "refused"],
    ["toString", "1", accumulating, "refused"],
    // A unit must be worth more than nothing, and an index above 0.
    ["price", "0", accumulating, "refused"],
    ["price", "-1", accumulating, "refused"],
    ["index", "0", rebasing, "refused"],
    // The worth of a holding at an absurd figure would be no decimal, and end each read as a defect.
    ["price", "9999999999.9999999999", accumulating, ["9999999999.9999999999", null]],
    ["price", "10000000000", accumulating, "refused"],
    ["price", "10000000000", null, "refused"],
    ["index", "9999999999.9999999999", rebasing, ["9999999999.9999999999", null]],
    ["index", "10000000000", rebasing, "refused"],
    ["index", "10000000000", null, "refused"],
    ["income", "-9999999999.9999999999", plainPar, ["1", "-9999999999.9999999999"]],
    ["income", "10000000000", plainPar, "refused"],
    ["income", "-10000000000", plainPar, "refused"]
  ])("of metric %s, %s, for %o", (metric, value, terms, expected) => {
    expect(outcome(metric, value, terms)).toEqual(expected)
  })

  it.each([
    ["-0.0000000001", "refused"],
    ["0", ["2", "0.01"]],
    ["1", ["2", "0.01"]],
    ["1.0000000001", "refused"],
    ["15", "refused"],
    ["9999999999999999999999999999", "refused"]
  ])("with the withholding rate %s withholds at most all", (rate, expected) => {
    expect(outcome("income", "0.01", par, rate)).toEqual(expected)
    for (const terms of [accumulating, null]) {
      const price = expected === "refused" ? expected : ["1.0437", null]
      expect(outcome("price", "1.0437", terms, rate)).toEqual(price)
    }
    expect(outcome("index", "1.7", rebasing, rate) === "refused").toBe(expected === "refused")
  })

  it("never gives a unit at par another price than its par value", () => {
    const decimal = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(Decimal.fromAtoms)
    const parValue = fc.bigInt({ min: 1n, max: 10n ** 14n }).map(Decimal.fromAtoms)
    const metric = fc.constantFrom("income", "price", "index", "nav")
    fc.assert(
      fc.property(metric, decimal, parValue, (metric, value, parValue) => {
        const figures = figuresOf(published(metric, value), { valuation: "par", parValue })
        if (Result.isSuccess(figures)) expect(figures.success.price).toBe(parValue)
      })
    )
  })
})
