/**
 * Verdict on a price by the administrator's NAV: tolerance, guardrail, and the chain of accepted
 * points.
 */
import { Date, Decimal } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  acceptedBefore,
  type Bounds,
  type PointVerdict,
  verdictOf
} from "#core/statements/nav-feed/PointVerdict.ts"

const d = Decimal.of
const date = Date.of("2026-07-31")
const bounds: Bounds = {
  tolerance: d("0.0020"),
  guardrail: { up: d("0.05"), down: d("0.05") }
}
const nav = (official: string, ripcord = false) => ({
  statementId: "nav-1",
  businessDate: date,
  official: d(official),
  ripcord
})

interface Row {
  readonly nav: ReturnType<typeof nav> | null
  readonly price?: string
  readonly accepted?: string
  readonly bounds?: Bounds
}

const rows: ReadonlyArray<readonly [PointVerdict, string, Row]> = [
  ["usable", "an equal price", { nav: nav("1.0000") }],
  ["usable", "a price at the tolerance", { nav: nav("1.0000"), price: "1.0020" }],
  ["off-price", "a price one atom beyond it", { nav: nav("1.0000"), price: "1.0020000001" }],
  ["usable", "a lower price at the tolerance", { nav: nav("1.0000"), price: "0.9980" }],
  ["off-price", "a lower price beyond it", { nav: nav("1.0000"), price: "0.9979999999" }],
  ["missing", "no statement of the date", { nav: null }],
  ["ripcord", "a suspended NAV, whatever it says", { nav: nav("1", true) }],
  ["off-price", "a NAV of 0 with any other price", { nav: nav("0"), price: "0.0000000001" }],
  ["usable", "a NAV of 0 with a price of 0", { nav: nav("0"), price: "0" }],
  ["usable", "a move to the guardrail", { nav: nav("1.05"), price: "1.05", accepted: "1" }],
  [
    "deviating",
    "a move beyond it",
    { nav: nav("1.0500000001"), price: "1.0500000001", accepted: "1" }
  ],
  ["deviating", "a fall beyond it", { nav: nav("0.9499"), price: "0.9499", accepted: "1" }],
  [
    "usable",
    "any move without a guardrail",
    { nav: nav("9"), price: "9", accepted: "1", bounds: { ...bounds, guardrail: null } }
  ]
]

describe("a price is judged by the NAV of its business date", () => {
  it.each(rows)("as %s: %s", (verdict, _, row) => {
    const { accepted, price = "1.0000" } = row
    const input = { nav: row.nav, price: d(price), accepted: accepted ? d(accepted) : null }
    expect(verdictOf(input, row.bounds ?? bounds)).toBe(verdict)
  })
})

describe("the last accepted point", () => {
  const days = fc.array(
    fc.record({
      nav: fc.option(fc.integer({ min: 80, max: 130 })),
      price: fc.option(fc.integer({ min: 80, max: 130 })),
      ripcord: fc.boolean()
    }),
    { maxLength: 12 }
  )
  const dayAt = (nth: number) => Date.addDays(date, nth)

  it("is the one that a walk by hand over the days accepts, in plain integers", () => {
    fc.assert(
      fc.property(days, (given) => {
        let accepted: number | null = null
        for (const day of given) {
          const { nav: stated, price } = day
          if (stated === null || price === null || day.ripcord) continue
          // 0.0020 of a NAV in whole hundredths is less than one: only an equal price is within.
          if (stated !== price) continue
          const move: number = accepted === null ? 0 : (stated - accepted) * 100
          if (accepted !== null && Math.abs(move) > 5 * accepted) continue
          accepted = price
        }
        const hundredth = (value: number) => Decimal.of((value / 100).toFixed(2))
        const navs = given.flatMap((day, nth) =>
          day.nav === null
            ? []
            : [{ ...nav("1", day.ripcord), businessDate: dayAt(nth), official: hundredth(day.nav) }]
        )
        const prices = given.flatMap((day, nth) =>
          day.price === null ? [] : [{ businessDate: dayAt(nth), price: hundredth(day.price) }]
        )
        const found = acceptedBefore(dayAt(given.length), { navs, prices }, bounds)
        expect(found).toEqual(accepted === null ? null : hundredth(accepted))
        // In any order of what was read.
        const reversed = { navs: navs.toReversed(), prices: prices.toReversed() }
        expect(acceptedBefore(dayAt(given.length), reversed, bounds)).toEqual(found)
      }),
      { seed: 15, numRuns: 500 }
    )
  })

  it("is never of the date itself, or of a later one", () => {
    const nextDate = Date.addDays(date, 1)
    const navs = [nav("1"), { ...nav("2"), businessDate: nextDate }]
    const prices = [
      { businessDate: date, price: d("1") },
      { businessDate: nextDate, price: d("2") }
    ]
    expect(acceptedBefore(date, { navs, prices }, bounds)).toBe(null)
    expect(acceptedBefore(nextDate, { navs, prices }, bounds)).toEqual(d("1"))
  })
})
