/**
 * Declarations of the formulas of distributions: entitlement by valuation, equalisation, line,
 * payout in units (docs/domain/figures.md#distribution-figures).
 */
import * as Formula from "../../kernel/Formula.ts"

/** One item for each point whose days reach into the period. */
export const entitlementPar = Formula.declare({
  name: "entitlement-par",
  doc: "Income of a period that accrues daily: the units at the end of each point's date, by its income, by its days.",
  inputs: { units: "amounts", income: "amounts", days: "amounts" },
  figures: { entitlement: "figure" },
  work: ({ dot, round }) => {
    const term = dot("units", "income", "days")
    round({ figure: "entitlement", term, places: 10, rounding: "floor" })
  }
})

/**
 * Formula of an accumulating instrument: every unit earns the same, whenever and at whatever price
 * it was bought.
 */
export const entitlementAccumulating = Formula.declare({
  name: "entitlement-accumulating",
  doc: "Income of a period by the rise of the price above the ex price.",
  inputs: { units: "amount", exPrice: "amount", cumPrice: "amount" },
  figures: { entitlement: "figure" },
  work: ({ amount, number, max, multiply, subtract, round }) => {
    const rise = max(number(0), subtract(amount("cumPrice"), amount("exPrice")))
    const term = multiply(amount("units"), rise)
    round({ figure: "entitlement", term, places: 10, rounding: "floor" })
  }
})

/**
 * Formula of a rebasing instrument, for reporting alone: the units have grown by the index already,
 * and nothing is paid.
 */
export const entitlementRebasing = Formula.declare({
  name: "entitlement-rebasing",
  doc: "Income of a period by the change of the index, for base units.",
  inputs: { baseUnits: "amount", fromIndex: "amount", toIndex: "amount" },
  figures: { entitlement: "figure" },
  work: ({ amount, multiply, subtract, round }) => {
    const term = multiply(amount("baseUnits"), subtract(amount("toIndex"), amount("fromIndex")))
    round({ figure: "entitlement", term, places: 10, rounding: "floor" })
  }
})

/**
 * Formula of the income that was already in the price of units when their holder bought them. It is
 * never below 0: a price below the ex price has no such income.
 */
export const equalisation = Formula.declare({
  name: "equalisation",
  doc: "The part of a gross that the holder paid for when it bought units with the income in their price.",
  inputs: {
    remaining: "amounts",
    basePrice: "amounts",
    exPrice: "amount",
    cumPrice: "amount",
    gross: "amount",
    payoutDecimals: "places"
  },
  figures: { equalisation: "figure" },
  work: ({ amount, each, number, max, min, multiply, subtract, round }) => {
    const exPrice = amount("exPrice")
    const bought = each({
      lists: ["remaining", "basePrice"],
      term: (member) =>
        multiply(
          member("remaining"),
          subtract(min(max(member("basePrice"), exPrice), amount("cumPrice")), exPrice)
        )
    })
    round({
      figure: "equalisation",
      term: min(max(number(0), bought), amount("gross")),
      places: "payoutDecimals",
      rounding: "floor"
    })
  }
})

/**
 * Formula of a line. `outcome` is `paid`, or `carried` where nothing is paid and the whole amount
 * goes to the next period. A holder who left the register is paid its gross and leaves its rest to
 * the fund, unless the line is carried with at least one smallest amount of the payout.
 */
export const line = Formula.declare({
  name: "line",
  doc: "A holder's line: what is paid of its entitlement and its carry, what is withheld, what is carried on.",
  inputs: {
    entitlement: "amount",
    carryIn: "amount",
    units: "amount",
    equalisation: "amount",
    rate: "amount",
    outcome: "word",
    payoutDecimals: "places"
  },
  figures: {
    gross: "figure",
    payable: "figure",
    carryOut: "figure",
    withheld: "figure",
    net: "figure"
  },
  work: ({ amount, number, add, max, multiply, subtract, round, whenAbove, whenWord }) => {
    const paidOut = { places: "payoutDecimals", rounding: "floor" } as const
    const due = add(amount("entitlement"), amount("carryIn"))
    const gross = round({
      figure: "gross",
      term: whenWord({
        name: "outcome",
        is: "carried",
        then: () => number(0),
        otherwise: () => max(number(0), due)
      }),
      ...paidOut
    })
    const rest = subtract(due, gross)
    const ofLeaver = () =>
      whenAbove({
        left: round({ figure: "payable", term: rest, ...paidOut }),
        right: number(0),
        above: () => rest,
        otherwise: () => number(0)
      })
    round({
      figure: "carryOut",
      term: whenAbove({
        left: amount("units"),
        right: number(0),
        above: () => rest,
        otherwise: ofLeaver
      }),
      places: 10,
      rounding: "floor"
    })
    const withheld = round({
      figure: "withheld",
      term: multiply(subtract(gross, amount("equalisation")), amount("rate")),
      places: "payoutDecimals",
      rounding: "half-up"
    })
    round({ figure: "net", term: subtract(gross, withheld), ...paidOut })
  }
})

/**
 * Formula of a payout in units. The rest is shown rounded; a distribution's residual sums the exact
 * rests.
 */
export const payoutUnits = Formula.declare({
  name: "payout-units",
  doc: "Units that a net amount buys at the payout price, and what is left of it.",
  inputs: { net: "amount", payoutPrice: "amount", unitDecimals: "places" },
  figures: { payoutUnits: "figure", rest: "figure" },
  work: ({ amount, divide, multiply, subtract, round }) => {
    const price = amount("payoutPrice")
    const units = round({
      figure: "payoutUnits",
      term: divide(amount("net"), price),
      places: "unitDecimals",
      rounding: "floor"
    })
    const rest = subtract(amount("net"), multiply(units, price))
    round({ figure: "rest", term: rest, places: 10, rounding: "floor" })
  }
})

export const wholeUnits = Formula.declare({
  name: "whole-units",
  doc: "A sum of amounts in whole units of the currency, as tax forms ask for it: added with cents, then rounded once.",
  inputs: { amount: "amounts" },
  figures: { whole: "figure" },
  work: ({ total, round }) => {
    round({ figure: "whole", term: total("amount"), places: 0, rounding: "half-up" })
  }
})

/** Every formula of distributions. */
export const formulas: ReadonlyArray<Formula.AnyFormula> = [
  entitlementPar,
  entitlementAccumulating,
  entitlementRebasing,
  equalisation,
  line,
  payoutUnits,
  wholeUnits
]
