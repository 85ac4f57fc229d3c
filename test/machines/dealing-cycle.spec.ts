/** Commands on a dealing cycle in every state and at every time, and the record after each fact. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import * as Collection from "#core/kernel/Collection.ts"
import { judge } from "#core/kernel/Gates.ts"
import * as Invariant from "#core/kernel/Invariant.ts"
import {
  type DealingCycle,
  dealingCycles,
  admitted,
  againstSettling,
  evolve,
  type Fact,
  nothing
} from "#core/orders/dealing-cycle/DealingCycle.ts"
import * as Day from "#core/orders/dealing-cycle/DealingDay.ts"
import { cutOffAt as cutOff, opened, settleBy } from "./dealing-cycles.ts"
import { id } from "./subscriptions.ts"

const d = Decimal.of
const between = Instant.of("2026-08-01T00:00:00Z")

const count = (
  members: { readonly subscriptions: number; readonly redemptions: number },
  gross: Partial<typeof nothing> = {}
): Fact => ({ on: "count", orderId: "o", members, gross: { ...nothing, ...gross } })
const joined = count({ subscriptions: 1, redemptions: 0 }, { subscribed: d("100") })
const settled: Fact = {
  on: "settle",
  at: between,
  uid: "1220ff",
  orders: { subscriptions: ["s1"], redemptions: ["r1", "r2"] },
  policyVersion: 3,
  pointCid: "0009",
  price: d("1.0437"),
  swungPrice: null,
  gross: {
    subscribed: d("100"),
    refunded: d("3"),
    redeemed: d("30"),
    minted: d("95"),
    burned: d("28")
  },
  fundNet: { cash: d("67"), units: d("67") },
  gate: null,
  fills: []
}
const released: Fact = { on: "release", at: between, uid: "1220ff" }
const cycle = (...facts: ReadonlyArray<Fact>) => facts.reduce(evolve, opened)

const outcome = (self: DealingCycle, on: "settle" | "release", now: Instant.Instant): string => {
  const decided = Result.flatMap(admitted(self, on), () =>
    on === "release" ? Result.void : judge(againstSettling(self, now))
  )
  if (Result.isSuccess(decided)) return "admitted"
  const { slug, details } = decided.failure
  return slug === "state-conflict" ? `${slug} ${details.check}` : `${details.gate} ${details.check}`
}
const wrongState = "state-conflict DealingCycleState"
const tick = (instant: Instant.Instant, by: bigint) => Instant.fromNanos(instant + by)

describe("every state, command and time", () => {
  test.each<[string, DealingCycle, "settle" | "release", Instant.Instant, string]>([
    [
      "settles while it takes orders",
      cycle(joined),
      "settle",
      tick(cutOff, -1n),
      "window cut-off-passed"
    ],
    ["cannot settle at its cut-off", cycle(joined), "settle", cutOff, "admitted"],
    ["cannot settle just in time", cycle(joined), "settle", tick(settleBy, -1n), "admitted"],
    ["settles when its orders have run out", cycle(joined), "settle", settleBy, "window settle-by"],
    ["settles nothing", cycle(), "settle", cutOff, "units cycle-has-orders"],
    [
      "settles when everybody has left",
      cycle(joined, count({ subscriptions: -1, redemptions: 0 }, { subscribed: d("-100") })),
      "settle",
      cutOff,
      "units cycle-has-orders"
    ],
    [
      "cannot be released while it takes orders",
      cycle(joined),
      "release",
      tick(cutOff, -1n),
      "admitted"
    ],
    ["cannot be released empty", cycle(), "release", cutOff, "admitted"],
    ["cannot be released when it has run out", cycle(joined), "release", settleBy, "admitted"],
    ["settles twice", cycle(joined, settled), "settle", between, wrongState],
    ["is released after it settled", cycle(joined, settled), "release", between, wrongState],
    ["settles after it was released", cycle(joined, released), "settle", between, wrongState],
    ["is released twice", cycle(joined, released), "release", between, wrongState]
  ])("a cycle %s", (_, self, on, now, expected) => {
    expect(outcome(self, on, now)).toBe(expected)
  })
})

describe("what a fact leaves behind", () => {
  test("a settled cycle keeps its figures and its orders", () => {
    expect(cycle(joined, settled)).toMatchObject({
      state: "ended",
      endedAs: "settled",
      endedAt: between,
      uid: "1220ff",
      acceptsOrders: false,
      policyVersion: 3,
      members: { subscriptions: 1, redemptions: 2 },
      fundNet: { cash: d("67"), units: d("67") },
      cycleCid: null
    })
  })

  test("a released cycle drops its sums and keeps its count of orders", () => {
    expect(cycle(joined, released)).toMatchObject({
      endedAs: "released",
      gross: nothing,
      fundNet: { cash: Decimal.zero, units: Decimal.zero },
      members: { subscriptions: 1, redemptions: 0 }
    })
  })

  test("an allocation counts until it is taken back or has ended", () => {
    const allocate: Fact = { on: "allocate", cid: "0005", amount: d("7"), settleBefore: null }
    expect(cycle(allocate).allocations).toEqual([
      { cid: "0005", amount: d("7"), settleBefore: null }
    ])
    expect(cycle(allocate, { on: "unallocate", cid: "0005" }).allocations).toEqual([])
    expect(cycle(joined, allocate, settled).allocations).toEqual([])
  })

  test("every fact makes a record that keeps the invariants", () => {
    for (const self of [cycle(), cycle(joined), cycle(joined, settled), cycle(joined, released)]) {
      expect(Invariant.breaches(dealingCycles.invariants, self)).toEqual([])
    }
  })

  test("the clock ends the taking of orders at the cut-off", () => {
    const at = (now: Instant.Instant) => Collection.ripen(dealingCycles, opened, now).acceptsOrders
    expect([at(tick(cutOff, -1n)), at(cutOff)]).toEqual([true, false])
    expect(dealingCycles.due(cycle(joined, settled))).toBeUndefined()
  })
})

describe("what is told", () => {
  test("a cycle announces its end under that end's name, and announces no joining", () => {
    const announcedBy = (fact: Fact, ...before: ReadonlyArray<Fact>) =>
      dealingCycles
        .announce(evolve(cycle(...before), fact), fact)
        .map(({ type, holderIds, payload }) => ({ type, holderIds, payload }))
    expect(announcedBy(joined)).toEqual([])
    const [announcement] = announcedBy(settled, joined)
    expect(announcement).toMatchObject({ type: "dealing-cycle.settled", holderIds: [] })
    expect(JSON.stringify(announcedBy(released, joined))).toContain("dealing-cycle.released")
  })

  test("an open cycle waits on somebody, an ended one on nobody", () => {
    expect(dealingCycles.waitingOn(cycle(joined))).toEqual([
      { role: "operator", action: "dealing-cycle.settle", by: settleBy }
    ])
    expect(dealingCycles.waitingOn(cycle(joined, settled))).toEqual([])
    expect(dealingCycles.waitingOn(cycle(joined, released))).toEqual([])
  })
})

test("orders that join and leave, in any order, leave nothing in the sums", () => {
  const order = fc.record({
    kind: fc.constantFrom("subscriptions" as const, "redemptions" as const),
    cash: fc.bigInt({ min: 0n, max: 10n ** 20n }),
    units: fc.bigInt({ min: 0n, max: 10n ** 20n })
  })
  fc.assert(
    fc.property(
      fc.array(order, { maxLength: 20 }),
      fc.infiniteStream(fc.nat()),
      (orders, draws) => {
        const facts = orders.map(({ kind, cash, units }): [Fact, Fact] => {
          const sums =
            kind === "subscriptions"
              ? { subscribed: Decimal.fromAtoms(cash), minted: Decimal.fromAtoms(units) }
              : { redeemed: Decimal.fromAtoms(cash), burned: Decimal.fromAtoms(units) }
          const off = Object.fromEntries(
            Object.entries(sums).map(([side, figure]) => [side, Decimal.negate(figure)])
          )
          const one = { subscriptions: 0, redemptions: 0 }
          return [count({ ...one, [kind]: 1 }, sums), count({ ...one, [kind]: -1 }, off)]
        })
        // A random interleaving in which no member leaves before it has joined.
        const left: Array<Fact> = []
        const waiting = [...facts]
        let self = opened
        while (waiting.length + left.length > 0) {
          const draw = draws.next().value
          const comes = left.length === 0 || (waiting.length > 0 && draw % 2 === 0)
          const [next] = comes
            ? waiting.splice(draw % waiting.length, 1)
            : [left.splice(draw % left.length, 1)]
          const [fact, later] = next ?? []
          if (fact === undefined) break
          if (comes && later !== undefined) left.push(later)
          self = evolve(self, fact)
          expect(Invariant.breaches(dealingCycles.invariants, self)).toEqual([])
        }
        expect(self).toEqual(opened)
      }
    )
  )
})

test("a day's sums are those of its orders, and stay as they are once it was dealt", () => {
  const day = {
    instrumentId: id("fund-1") as never,
    cutOffAt: cutOff,
    orders: { subscriptions: 0, redemptions: 0 },
    ordered: Day.nothing,
    dealt: null
  }
  const ordered = { ...Day.nothing, subscribedCash: d("10"), redeemedUnits: d("3") }
  const came: Day.Fact = {
    on: "count",
    orderId: "o",
    orders: { subscriptions: 1, redemptions: 1 },
    ordered
  }
  const deal: Day.Fact = { on: "deal", pointCid: "0009", at: between, outstanding: d("5") }
  const left: Day.Fact = {
    on: "count",
    orderId: "o",
    orders: { subscriptions: -1, redemptions: -1 },
    ordered: Day.negated(ordered)
  }
  const after = [came, deal, left].reduce(Day.dealingDays.evolve, day)
  expect(after).toMatchObject({
    orders: { subscriptions: 0, redemptions: 0 },
    ordered: Day.nothing,
    dealt: { ordered, outstanding: d("5"), pointCid: "0009" }
  })
  expect(Invariant.breaches(Day.dealingDays.invariants, after)).toEqual([])
})
