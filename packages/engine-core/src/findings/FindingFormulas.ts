/** Declarations of the formulas of findings (docs/domain/reconciliation.md#basis-of-a-finding). */
import * as Decimal from "../kernel/Decimal.ts"
import * as Formula from "../kernel/Formula.ts"

/** Amounts of a finding are exact: the places of every amount hold them, so that no rounding changes one. */
const exactly = { places: Decimal.places, rounding: "floor" } as const

export const findingDifference = Formula.declare({
  name: "finding-difference",
  doc: "Difference of two amounts that a check compared: what is actual less what is expected.",
  inputs: { actual: "amount", expected: "amount" },
  figures: { difference: "figure" },
  work: ({ amount, round, subtract }) => {
    round({
      figure: "difference",
      term: subtract(amount("actual"), amount("expected")),
      ...exactly
    })
  }
})

export const findingUnexplained = Formula.declare({
  name: "finding-unexplained",
  doc: "Part of a difference that items in flight explain, and the rest, by which the severity is judged.",
  inputs: { difference: "amount", items: "amounts" },
  figures: { amount: "figure", unexplained: "figure" },
  work: ({ amount, round, subtract, total }) => {
    const explained = round({ figure: "amount", term: total("items"), ...exactly })
    round({
      figure: "unexplained",
      term: subtract(amount("difference"), explained),
      ...exactly
    })
  }
})

/** Every formula of findings. */
export const formulas: ReadonlyArray<Formula.AnyFormula> = [findingDifference, findingUnexplained]
