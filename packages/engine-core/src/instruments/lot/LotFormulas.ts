/** Declarations of the formulas of lots (docs/domain/lots.md#cost). */
import * as Formula from "../../kernel/Formula.ts"

export const lotCost = Formula.declare({
  name: "lot-cost",
  doc: "Cost of units that were not bought for an amount of cash: their number at a price.",
  inputs: { units: "amount", price: "amount", cashDecimals: "places" },
  figures: { cost: "figure" },
  work: ({ amount, multiply, round }) => {
    round({
      figure: "cost",
      term: multiply(amount("units"), amount("price")),
      places: "cashDecimals",
      rounding: "half-up"
    })
  }
})

/** The whole of the units has the whole amount, so that the parts of an amount add up to it. */
export const lotPart = Formula.declare({
  name: "lot-part",
  doc: "Share of an amount of cash that belongs to a part of the units.",
  inputs: { amount: "amount", part: "amount", units: "amount", cashDecimals: "places" },
  figures: { share: "figure" },
  work: ({ amount, multiply, divide, round }) => {
    round({
      figure: "share",
      term: divide(multiply(amount("amount"), amount("part")), amount("units")),
      places: "cashDecimals",
      rounding: "half-up"
    })
  }
})

/** Every formula of lots. */
export const formulas: ReadonlyArray<Formula.AnyFormula> = [lotCost, lotPart]
