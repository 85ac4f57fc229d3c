/** Checks of a NAV feed, fact by fact: what is found, how severe, and at which edge. */
import { Decimal } from "@bursar/engine-core/kernel"
import { describe, expect, it } from "vitest"
import {
  type FeedState,
  navMovement,
  navPrice,
  navUsable
} from "#core/reconciliation/checks/NavChecks.ts"

const d = Decimal.of
const plain = (decimal: Decimal.Decimal | null) =>
  decimal === null ? null : Decimal.formatPlain(decimal)
const statement = {
  instrumentId: "fund-a",
  externalSourceId: "nav-1",
  statementId: "nav-9"
} as const

describe("nav-price", () => {
  // G71: docs/domain/reconciliation.md#nav-against-the-price
  const rows: ReadonlyArray<readonly [string, string, string | null]> = [
    ["1.0000", "1.0000", null],
    ["1.0000", "1.0020", "warning"],
    ["1.0000", "1.0020000001", "blocking"],
    ["1.0000", "0.9980", "warning"],
    ["1.0000", "0.9979999999", "blocking"],
    ["1.0000", "1.0000000001", "warning"]
  ]

  it.each(rows)("finds of a NAV of %s and a price of %s: %s", (nav, price, severity) => {
    const fact = {
      ...statement,
      businessDate: "2026-07-31",
      currency: "USD",
      nav: d(nav),
      price: d(price)
    }
    const found = navPrice.differences(fact, d("0.0020"))
    expect(found.map((difference) => difference.severity)).toEqual(severity ? [severity] : [])
    for (const { actual, expected, difference, subject, tolerance, unexplained } of found) {
      expect([actual, expected].map(plain)).toEqual([plain(d(nav)), plain(d(price))])
      expect(plain(difference)).toBe(plain(Decimal.subtract(d(nav), d(price))))
      expect(unexplained).toEqual(difference)
      expect(plain(tolerance)).toBe("0.002")
      expect(subject).toEqual({ resourceKind: "external-source", id: "nav-1:2026-07-31" })
    }
  })
})

describe("nav-movement", () => {
  const guardrail = { up: d("0.05"), down: d("0.02") }
  const rows: ReadonlyArray<readonly [string, string | null]> = [
    ["1.05", null],
    ["1.0500000001", "0.05"],
    ["0.98", null],
    ["0.9799999999", "0.02"]
  ]

  it.each(rows)("warns of a move from 1 to %s with the bound %s", (nav, tolerance) => {
    const fact = { ...statement, currency: "USD", nav: d(nav), accepted: d("1"), guardrail }
    const found = navMovement.differences(fact, null)
    expect(found.map((one) => [one.severity, plain(one.tolerance), one.subject.id])).toEqual(
      tolerance === null ? [] : [["warning", tolerance, "nav-1"]]
    )
  })
})

describe("nav-usable", () => {
  const rows: ReadonlyArray<readonly [FeedState["state"], hasUnpriced: boolean, isFound: boolean]> =
    [
      ["ripcord", true, true],
      ["missing", true, true],
      ["stale", true, true],
      ["deviating", true, false],
      ["usable", true, false],
      ["none", true, false],
      ["ripcord", false, false],
      ["missing", false, false],
      ["stale", false, false]
    ]

  it.each(rows)(
    "of a feed that is %s, an order waiting: %s, warns: %s",
    (state, hasUnpriced, is) => {
      const found = navUsable.differences({ ...statement, state, hasUnpriced }, d("0"))
      expect(found.map(({ severity, unit }) => [severity, unit])).toEqual(
        is ? [["warning", state]] : []
      )
    }
  )
})
