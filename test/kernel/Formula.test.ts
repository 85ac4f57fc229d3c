/** Sums of products in formulas: exact, with the same ids in every list, and told by a basis. */
import { Basis, Decimal, Formula, Rational } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const d = Decimal.of

/** Worth of lots above a floor price, by a weight. */
const worth = Formula.declare({
  name: "worth",
  doc: "A sum of products of the test's own.",
  inputs: { units: "amounts", price: "amounts", weight: "amounts", floor: "amount" },
  figures: { plain: "figure", above: "figure" },
  work: ({ amount, dot, each, max, multiply, subtract, round }) => {
    const to = { places: 10, rounding: "floor" } as const
    round({ figure: "plain", term: dot("units", "price"), ...to })
    const floor = amount("floor")
    round({
      figure: "above",
      term: each({
        lists: ["units", "price", "weight"],
        term: (sumOf) =>
          multiply(
            multiply(sumOf("units"), subtract(max(sumOf("price"), floor), floor)),
            sumOf("weight")
          )
      }),
      ...to
    })
  }
})

const amount = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }).map(Decimal.fromAtoms)
const lots = fc.array(fc.record({ units: amount, price: amount, weight: amount }), { maxLength: 5 })
type Lots = ReadonlyArray<Record<"units" | "price" | "weight", Decimal.Decimal>>

const givenOf = (lots: Lots, floor: Decimal.Decimal) => {
  const list = (name: "units" | "price" | "weight") =>
    lots.map((lot, index) => ({ id: `lot-${index}`, amount: lot[name] }))
  return { units: list("units"), price: list("price"), weight: list("weight"), floor }
}

const basisOf = (lots: Lots, floor: Decimal.Decimal) =>
  Basis.of(worth, {
    values: givenOf(lots, floor),
    fields: { plain: "plain", above: "above" },
    source: (name, id) => ({ resourceKind: "lot", id: id ?? name, offset: null })
  })

const scale = 10n ** 10n
const floorDivide = (a: bigint, b: bigint) => (a >= 0n ? a / b : -((-a + b - 1n) / b))

describe("a sum of products", () => {
  it("never is rounded before its sum, and is told by a basis that verifies", () => {
    fc.assert(
      fc.property(lots, amount, (lots, floor) => {
        let [plain, above] = [0n, 0n]
        for (const { units, price, weight } of lots) {
          plain += units * price
          above += units * ((price > floor ? price : floor) - floor) * weight
        }
        const { figures, terms } = Formula.computeExact(worth, givenOf(lots, floor))
        expect(Decimal.atoms(figures.plain)).toBe(floorDivide(plain, scale))
        expect(Decimal.atoms(figures.above)).toBe(floorDivide(above, scale * scale))
        const exact = { numerator: plain, denominator: scale * scale }
        expect(Rational.equals(terms.plain ?? Rational.zero, exact)).toBe(true)
        const verified = basisOf(lots, floor).map((basis) =>
          Result.getOrThrow(Basis.verify(basis, [worth]))
        )
        expect(verified).toEqual([Decimal.format(figures.plain), Decimal.format(figures.above)])
      })
    )
  })

  const two = [
    { units: d("2"), price: d("3"), weight: d("1") },
    { units: d("0.5"), price: d("-1"), weight: d("4") }
  ]

  it("is written in names and in numbers, the replaced amounts with their term", () => {
    expect(basisOf(two, d("1")).map(({ steps }) => steps[0]?.op)).toEqual([
      "plain = sum(units * price) = sum(2 * 3, 0.5 * -1)",
      "above = sum(units * (max(price, floor) - floor) * weight) = sum(2 * (max(3, 1) - 1) * 1, 0.5 * (max(-1, 1) - 1) * 4)"
    ])
    expect(basisOf([], d("1")).map(({ inputs, steps }) => [inputs, steps[0]?.value])).toEqual([
      [[], "0.0000000000"],
      [[], "0.0000000000"]
    ])
  })

  it("never is computed or verified where a list lacks an id or has another one", () => {
    const given = givenOf(two, d("1"))
    for (const price of [given.price.slice(1), given.price.toReversed(), []]) {
      expect(() => Formula.compute(worth, { ...given, price })).toThrow("other ids")
    }
    const [plain] = basisOf(two, d("1"))
    if (plain === undefined) throw new Error("a figure has a basis")
    for (const [index] of plain.inputs.entries()) {
      const without = { ...plain, inputs: plain.inputs.toSpliced(index, 1) }
      const renamed = plain.inputs.map((input, at) =>
        at === index ? { ...input, id: "other" } : input
      )
      for (const other of [without, { ...plain, inputs: renamed }]) {
        expect(Basis.verify(other, [worth])).toEqual(
          Result.fail("plain cannot be computed from these inputs.")
        )
      }
    }
  })
})
