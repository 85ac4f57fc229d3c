/** Every gate around a subscription, and which of two faults answers. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { describe, expect, test } from "vitest"
import { defaults } from "#core/instruments/policy/PolicyTerms.ts"
import * as Gates from "#core/orders/subscription/SubscriptionGates.ts"
import { condition, judge } from "#core/kernel/Gates.ts"
import { gates } from "#core/kernel/Refusal.ts"
import { at, id, party } from "../machines/subscriptions.ts"
import { instrument, terms } from "./recorded.ts"

const nextDay = Instant.of("2026-08-01T00:00:00Z")
const screening = (state: "clear" | "review") => ({
  state,
  screenedAt: at,
  listVersion: "1",
  validUntil: null
})

const sound: Gates.ClaimContext = {
  holds: [],
  restrictions: [],
  instrument: instrument(),
  holder: { holderId: id("h1"), state: "active", screening: null, party: party("holder") },
  admission: { state: "admitted", validFrom: null, credentialCid: "00bb" },
  now: at,
  payment: "wire",
  amount: Decimal.of("100"),
  units: null,
  terms: terms(),
  worth: Decimal.of("100"),
  buys: Decimal.of("100"),
  moves: Decimal.of("100"),
  cashDecimals: 2,
  market: null,
  attestors: [party("attestor")]
}

const faults: ReadonlyArray<readonly [check: string, change: Partial<Gates.ClaimContext>]> = [
  ["admission holder-active", { holder: { ...sound.holder, state: "lapsed" } }],
  ["admission admitted", { admission: null }],
  [
    "admission admitted",
    { admission: { state: "expired", validFrom: null, credentialCid: "00bb" } }
  ],
  [
    "admission credential-in-force",
    { admission: { state: "admitted", validFrom: nextDay, credentialCid: "00bb" } }
  ],
  ["screening screening-clear", { holder: { ...sound.holder, screening: screening("review") } }],
  [
    "policy payment",
    { payment: "ledger", market: { state: "agreed" }, terms: terms({ valuation: "rebasing" }) }
  ],
  ["policy primary-market", { payment: "ledger", market: null }],
  ["policy primary-market", { payment: "ledger", market: { state: "proposed" } }],
  ["policy attestor-named", { attestors: [] }],
  ["policy minimum-subscription", { terms: terms({ minimumSubscription: 100.01 }) }],
  [
    "policy maximum-subscription",
    { terms: terms({}, { limits: { ...defaults.limits, maxSubscription: Decimal.of("99.99") } }) }
  ],
  ["window window-open", { terms: terms({}, { window: { opensAt: nextDay, closesAt: null } }) }],
  ["window window-open", { terms: terms({}, { window: { opensAt: null, closesAt: at } }) }],
  ["units unit-decimals", { amount: null, units: Decimal.of("1.0000001") }],
  ["units too-small", { buys: Decimal.zero }],
  ["units base-units", { moves: Decimal.zero }],
  ["units too-large", { buys: Decimal.of("1000000000000000") }],
  ["units too-large", { moves: Decimal.of("1000000000000000") }],
  ["cash currency-decimals", { amount: Decimal.of("100.001") }],
  ["ledger on-registry", { instrument: { ...instrument(), configurations: [] } }]
]

const first = (claiming: Gates.ClaimContext): string => {
  const judged = judge(Gates.againstClaim(claiming, []))
  return Result.isSuccess(judged)
    ? ""
    : `${judged.failure.details.gate} ${judged.failure.details.check}`
}

const held = (claiming: Gates.ClaimContext): ReadonlyArray<string> =>
  Gates.againstClaim(claiming, [])
    .filter(({ refuses }) => refuses)
    .map(({ refusal: { gate, check } }) => `${gate} ${check}`)

describe("a claim", () => {
  test.each<[string, Partial<Gates.ClaimContext>]>([
    ["as it should be", {}],
    ["of units", { amount: null, units: Decimal.of("1.000001") }],
    ["by a screened holder", { holder: { ...sound.holder, screening: screening("clear") } }],
    ["on an agreed market", { payment: "ledger", market: { state: "agreed" } }],
    [
      "of units on an agreed market",
      { payment: "ledger", market: { state: "agreed" }, amount: null, units: Decimal.one }
    ],
    ["of an amount that no price tells the units of", { buys: null, moves: null }],
    ["of a rebasing instrument, by wire", { terms: terms({ valuation: "rebasing" }) }],
    [
      "of units that no price tells the worth of",
      {
        worth: null,
        amount: null,
        units: Decimal.one,
        terms: terms({ minimumSubscription: 100.01 })
      }
    ],
    ["of exactly the minimum", { terms: terms({ minimumSubscription: 100 }) }],
    [
      "of exactly the maximum",
      { terms: terms({}, { limits: { ...defaults.limits, maxSubscription: Decimal.of("100") } }) }
    ],
    [
      "just as the window opens",
      { terms: terms({}, { window: { opensAt: at, closesAt: nextDay } }) }
    ],
    [
      "under a credential just in force",
      { admission: { state: "admitted", validFrom: at, credentialCid: "00bb" } }
    ]
  ])("%s is refused", (_, change) => {
    expect(first({ ...sound, ...change })).toBe("")
  })

  test.each(faults)("%s refuses it", (check, change) => {
    expect(first({ ...sound, ...change })).toBe(check)
  })

  test("of two faults the earlier gate answers", () => {
    let pairs = 0
    const rank = (check: string) => gates.findIndex((gate) => gate === check.split(" ")[0])
    for (const [one, change] of faults) {
      for (const [other, second] of faults) {
        const both = { ...sound, ...change, ...second }
        // One change may undo the other's fault: only where both stand is there a choice.
        const refusals = held(both)
        if (!refusals.includes(one) || !refusals.includes(other)) continue
        const answer = first(both)
        pairs += 1
        expect(rank(answer)).toBe(Math.min(rank(one), rank(other)))
      }
    }
    expect(pairs).toBeGreaterThan(80)
  })

  test("what the order itself objects stands in its gate's place", () => {
    const own = [condition("order-signed", false)]
    const refusedChecks = (change: Partial<Gates.ClaimContext>) =>
      Gates.againstClaim({ ...sound, ...change }, own)
        .filter(({ refuses }) => refuses)
        .map(({ refusal: { check } }) => check)
    expect(refusedChecks({ attestors: [], admission: null })).toEqual([
      "admitted",
      "order-signed",
      "attestor-named"
    ])
  })
})
