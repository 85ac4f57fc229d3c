/** Items in flight: which states of orders explain a difference of a statement, and by how much. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { describe, expect, it } from "vitest"
import type { Subscription } from "#core/orders/subscription/Subscription.ts"
import * as InFlight from "#core/reconciliation/checks/InFlightRules.ts"
import { claimed as redeems } from "../machines/redemptions.ts"
import { id, claimed as subscribes } from "../machines/subscriptions.ts"

const d = Decimal.of
const pricedAt = Instant.of("2026-08-03T09:00:00Z")
const movedAt = Instant.of("2026-08-04T09:00:00Z")
const settleBy = Instant.of("2026-08-05T16:00:00Z")
const lot: NonNullable<Subscription["lot"]> = {
  ...{ lotId: "lot-1", cid: id("00aa"), basePrice: d("1") },
  ...{ units: d("95.5"), remaining: d("95.5") }
}

const instants = new Map([
  [pricedAt, "since its pricing"],
  [movedAt, "since its move"]
])

const shown = (found: ReadonlyArray<InFlight.InFlight>) =>
  found.map(
    ({ isUnmoved, item: { amount, id, resourceKind, since } }) =>
      `${resourceKind} ${id} ${Decimal.formatPlain(amount)} ${isUnmoved ? "unmoved" : "moved"} ${instants.get(since)}`
  )

describe("an order at the moment of a statement", () => {
  it.each([
    ["claimed", []],
    ["priced", ["subscription sub-1 95.5 unmoved since its pricing"]],
    ["delivered", ["subscription sub-1 -95.5 moved since its move"]],
    ["closed", []],
    ["released", []]
  ] as const)("of a subscription that is %s explains %j", (state, expected) => {
    const self = subscribes({ state, pricedAt, deliveredAt: movedAt, lot })
    expect(shown(InFlight.ofSubscription(self))).toEqual(expected)
    expect(InFlight.ofSubscription({ ...self, lot: null })).toEqual([])
  })

  it.each([
    ["claimed", []],
    ["priced", ["redemption red-1 -1234.567891 unmoved since its pricing"]],
    ["funded", ["redemption red-1 -1234.567891 unmoved since its pricing"]],
    ["burned", ["redemption red-1 1234.567891 moved since its move"]],
    ["settled", []],
    ["released", []]
  ] as const)("of a redemption that is %s explains %j", (state, expected) => {
    const self = redeems({ state, pricedAt, burnedAt: movedAt })
    expect(shown(InFlight.ofRedemption(self))).toEqual(expected)
    expect(InFlight.ofRedemption({ ...self, pricedAt: null })).toEqual([])
  })
})

describe("an order that is priced after the moment of a statement", () => {
  const moment = Instant.of("2026-08-03T08:59:59Z")
  it.each([
    ["after it", moment, null, true],
    ["at it", pricedAt, null, false],
    ["before it", movedAt, null, false],
    ["after it, and closed since", moment, "closed", true],
    ["after it, and released since", moment, "released", false],
    ["after it, and withdrawn since", moment, "withdrawn", false]
  ] as const)("%s", (_, at, endedAs, isItem) => {
    const bought = subscribes({ pricedAt, lot, endedAs })
    expect(shown(InFlight.ofLaterSubscription(bought, at))).toEqual(
      isItem ? ["subscription sub-1 95.5 moved since its pricing"] : []
    )
    if (endedAs === "closed") return
    const sold = redeems({ pricedAt, endedAs })
    expect(shown(InFlight.ofLaterRedemption(sold, at))).toEqual(
      isItem ? ["redemption red-1 -1234.567891 moved since its pricing"] : []
    )
  })
})

describe("the basis of a statement", () => {
  const dayEnd = settleBy
  const later = Instant.of("2026-08-05T16:00:00.000000001Z")
  it.each([
    ["trade", true, null, true],
    ["trade", false, settleBy, false],
    ["settled", true, settleBy, false],
    ["contractual", true, settleBy, true],
    ["contractual", true, later, false],
    ["contractual", true, null, false],
    ["contractual", false, settleBy, false]
  ] as const)("%s must count an order (unmoved: %s, by %s): %s", (basis, isUnmoved, by, isMust) => {
    const [one] = InFlight.ofRedemption(redeems({ state: "priced", pricedAt, settleBy: by }))
    if (one === undefined) throw new Error("a priced redemption is in flight")
    const { may, must } = InFlight.split([{ ...one, isUnmoved }], { basis, dayEnd })
    expect([must.length, may.length]).toEqual(isMust ? [1, 0] : [0, 1])
  })
})
