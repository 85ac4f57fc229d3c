/** Declaration of the formula of the sums of a tax statement (docs/domain/figures.md#tax-figures). */
import * as Formula from "../../kernel/Formula.ts"

/** Amounts have at most ten places, so that their sums are exact. */
export const taxSum = Formula.declare({
  name: "tax-sum",
  doc: "Sums of the payments of a row, or of all payments in a currency, with all of their places.",
  inputs: { gross: "amounts", equalisation: "amounts", withheld: "amounts", net: "amounts" },
  figures: { gross: "figure", equalisation: "figure", withheld: "figure", net: "figure" },
  work: ({ total, round }) => {
    for (const figure of ["gross", "equalisation", "withheld", "net"] as const) {
      round({ figure, term: total(figure), places: 10, rounding: "floor" })
    }
  }
})

/** Every formula of tax statements. */
export const formulas: ReadonlyArray<Formula.AnyFormula> = [taxSum]
