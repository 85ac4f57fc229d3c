/** Every gate around settling a dealing cycle, and which of two faults answers. */
import { Decimal, Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Result, Schema } from "effect"
import { describe, expect, test } from "vitest"
import { Body } from "#core/instruments/instrument/Manifest.ts"
import { termsOf } from "#core/instruments/policy/Policy.ts"
import { defaults } from "#core/instruments/policy/PolicyTerms.ts"
import { judge, gateChecksOf } from "#core/kernel/Gates.ts"
import { gates } from "#core/kernel/Refusal.ts"
import * as Gates from "#core/orders/dealing-cycle/DealingCycleGates.ts"
import { nothing } from "#core/orders/dealing-cycle/DealingCycle.ts"
import {
  beyondRoom,
  inputsOf,
  inputsOfIteration
} from "#core/orders/dealing-cycle/TransactionSize.ts"
import { opened, settleBy } from "../machines/dealing-cycles.ts"
import * as redeemed from "../machines/redemptions.ts"
import { claimed, id, party } from "../machines/subscriptions.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

type Standing = Parameters<typeof Gates.againstSettling>[0]

const d = Decimal.of
const now = Instant.of("2026-08-01T00:00:00Z")
const kept = { version: 1, createdAt: now, updatedAt: now }

const instrument = (): Standing["instrument"] => {
  const plain = Result.getOrThrow(PlainJson.parse(JSON.stringify(bodyOf())))
  const { instrumentId, registrar, ...manifest } = Schema.decodeUnknownSync(Body)(plain)
  return {
    instrumentId,
    registrar,
    manifest: { ...manifest, ...defaults },
    policyVersion: 1,
    termsSince: null,
    next: null,
    backedBy: null,
    configurations: ["00aa"]
  }
}

const cycle: Standing["cycle"] = {
  ...opened,
  acceptsOrders: false,
  members: { subscriptions: 1, redemptions: 0 },
  openedAt: now
}

const order = {
  ...claimed({
    state: "priced",
    payment: "ledger",
    cycleId: "c1",
    price: d("1"),
    pointCid: "0009",
    units: d("100"),
    lot: { lotId: "sub-1", cid: "0002", basePrice: d("1"), units: d("100"), remaining: d("100") },
    allocation: { cid: "0003", amount: d("100"), settleBefore: settleBy }
  }),
  ...kept
}
const other = { ...order, subscriptionId: id<"SubscriptionId">("sub-2"), pointCid: "0008" }
const sold = {
  ...redeemed.claimedOnLedger({
    state: "priced",
    cycleId: "c1",
    price: d("1"),
    pointCid: "0009",
    units: d("50"),
    proceeds: d("50"),
    pricedCid: "0004",
    unitsAllocation: { cid: "0005", amount: d("50"), settleBefore: settleBy }
  }),
  ...kept
}
const holder = { state: "active" as const, screening: null, party: party("holder") }
const screening = { state: "review" as const, screenedAt: now, listVersion: "1", validUntil: null }

const sound: Standing = {
  holds: [],
  restrictions: [],
  cycle,
  instrument: instrument(),
  terms: termsOf(instrument()),
  orders: { subscriptions: [order], redemptions: [] },
  tooSmall: { subscriptions: [], redemptions: [] },
  holders: new Map([["holder-1", holder]]),
  admissions: new Map([["holder-1", { validFrom: null, credentialCid: "00bb" }]]),
  market: { marketCid: "00cc" },
  point: null,
  feed: "none",
  dealingPrice: d("1"),
  settlement: {
    fills: new Map(),
    gross: nothing,
    fundNet: { cash: Decimal.zero, units: Decimal.zero },
    gate: null
  },
  shortfall: Decimal.zero,
  unpaid: null,
  provision: null,
  earlier: null,
  nextCutOffAt: Instant.of("2026-08-04T20:00:00Z"),
  next: null,
  inputsMax: 2_000,
  now
}
const withOrder = (change: Partial<typeof order>): Partial<Standing> => ({
  orders: { subscriptions: [{ ...order, ...change }], redemptions: [] }
})

const exactly = inputsOf({ subscriptions: 1, redemptions: 0 })

/** The fund is short, and drawn on for it from so many of its holdings. */
const drawnOn = (count: number): Partial<Standing> => ({
  shortfall: d("1"),
  provision: {
    provisionCid: "00dd",
    holdingCids: Array.from({ length: count }, (_, nth) => `00ee${nth}`),
    amount: d("1")
  }
})

const faults: ReadonlyArray<readonly [check: string, change: Partial<Standing>]> = [
  ["admission holder-active", { holders: new Map([["holder-1", { ...holder, state: "lapsed" }]]) }],
  ["admission holder-active", { holders: new Map() }],
  ["admission admitted", { admissions: new Map() }],
  [
    "admission admitted",
    {
      admissions: new Map([
        ["holder-1", { validFrom: Instant.of("2027-01-01T00:00:00Z"), credentialCid: "00bb" }]
      ])
    }
  ],
  ["screening screening-clear", { holders: new Map([["holder-1", { ...holder, screening }]]) }],
  ["policy primary-market", { market: null }],
  ["window cut-off-passed", { now: Instant.of("2026-07-31T19:59:59Z") }],
  ["window settle-by", { now: settleBy }],
  [
    "window cycle-sequence",
    {
      earlier: {
        ...cycle,
        ...kept,
        cycleId: id("c0"),
        cutOffAt: Instant.of("2026-07-30T20:00:00Z")
      }
    }
  ],
  [
    "units cycle-has-orders",
    { cycle: { ...cycle, members: { subscriptions: 0, redemptions: 0 } } }
  ],
  ["cash cash-allocated", withOrder({ allocation: null })],
  ["cash fund-cash", { shortfall: d("0.01") }],
  ["cash fund-cash", { unpaid: { redemptionId: "red-1", amount: d("100") } }],
  ["nav-feed orders-priced", withOrder({ price: null })],
  ["nav-feed one-point", { orders: { subscriptions: [order, other], redemptions: [] } }],
  ["nav-feed price-of-cycle", { dealingPrice: d("1.0000000001") }],
  ["nav-feed price-of-cycle", { dealingPrice: null }],
  ["ledger on-registry", { instrument: { ...instrument(), configurations: [] } }],
  ["ledger transaction-size", { inputsMax: inputsOf({ subscriptions: 1, redemptions: 0 }) - 1 }],
  // The room for what the fund adds takes sixteen of its holdings; one more counts.
  ["ledger transaction-size", { ...drawnOn(17), inputsMax: exactly }]
]

const outcome = (facts: Standing): string => {
  const judged = judge(Gates.againstSettling(facts))
  if (Result.isSuccess(judged)) return "admitted"
  const { gate, check } = judged.failure.details
  return `${gate} ${check}`
}

test("a sound cycle is accepted", () => {
  expect(outcome(sound)).toBe("admitted")
  expect(outcome({ ...sound, ...drawnOn(1) })).toBe("admitted")
  expect(outcome({ ...sound, inputsMax: exactly })).toBe("admitted")
  expect(outcome({ ...sound, ...drawnOn(16), inputsMax: exactly })).toBe("admitted")
  expect(outcome({ ...sound, ...drawnOn(17), inputsMax: exactly + 1 })).toBe("admitted")
})

test.each(faults)("%s refuses its fault, and no other check does", (check, change) => {
  expect(outcome({ ...sound, ...change })).toBe(check)
})

const refusing = (facts: Standing): ReadonlyArray<string> =>
  gateChecksOf(Gates.againstSettling(facts)).flatMap(({ ok, gate, check }) =>
    ok ? [] : [`${gate} ${check}`]
  )

describe("orders that no point has priced", () => {
  test("a redemption without a price stops the cycle, alone and beside priced orders", () => {
    const unpriced = { ...sold, price: null, pointCid: null }
    const orders = { subscriptions: [order], redemptions: [sold, unpriced] }
    expect(outcome({ ...sound, orders: { ...orders, redemptions: [sold] } })).toBe("admitted")
    expect(refusing({ ...sound, orders })).toEqual(["nav-feed orders-priced"])
    expect(refusing({ ...sound, orders: { subscriptions: [], redemptions: [unpriced] } })).toEqual([
      "nav-feed orders-priced"
    ])
  })

  test("a cycle of which no order is priced yet is told of its orders, not of its price", () => {
    const unpriced = { ...sound, ...withOrder({ price: null, pointCid: null }) }
    expect(refusing({ ...unpriced, dealingPrice: null })).toEqual(["nav-feed orders-priced"])
    expect(refusing({ ...unpriced, dealingPrice: d("2") })).toEqual(["nav-feed orders-priced"])
  })
})

describe("of two faults the earlier gate answers", () => {
  const rank = (check: string) => gates.findIndex((gate) => gate === check.split(" ")[0])
  const pairs = faults.flatMap(([first, one], index) =>
    faults.slice(index + 1).flatMap(([second, two]) => {
      const shared = Object.keys(one).some((member) => member in two)
      return shared || rank(first) === rank(second) ? [] : [{ first, second, one, two }]
    })
  )
  test.each(pairs)("$first before $second", ({ first, second, one, two }) => {
    const expected = rank(first) < rank(second) ? first : second
    expect(outcome({ ...sound, ...one, ...two })).toBe(expected)
  })
})

describe("the contracts that one settling transaction uses at most", () => {
  test.each([
    // Contracts of every cycle; five more for a subscription and six for a redemption.
    [inputsOf({ subscriptions: 0, redemptions: 0 }), 48],
    [inputsOf({ subscriptions: 1, redemptions: 0 }), 53],
    [inputsOf({ subscriptions: 0, redemptions: 1 }), 54],
    // An iteration: four an order and three a commitment that it draws on.
    [inputsOfIteration({ orders: 0, commitments: 0 }), 48],
    [inputsOfIteration({ orders: 1, commitments: 0 }), 52],
    [inputsOfIteration({ orders: 0, commitments: 1 }), 51],
    // Sixteen holdings of a fund that is drawn on have room among what every cycle uses.
    [beyondRoom(16), 0],
    [beyondRoom(17), 1]
  ])("%i are %i", (counted, expected) => {
    expect(counted).toBe(expected)
  })
})
