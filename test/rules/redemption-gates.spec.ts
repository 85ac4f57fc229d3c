/** Every gate around a redemption, and which of two faults answers. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { defaults } from "#core/instruments/policy/PolicyTerms.ts"
import { judge } from "#core/kernel/Gates.ts"
import { gates } from "#core/kernel/Refusal.ts"
import * as Gates from "#core/orders/redemption/RedemptionGates.ts"
import { figuresAt } from "#core/orders/redemption/RedemptionPricing.ts"
import { at, id, party } from "../machines/subscriptions.ts"
import { instrument, terms } from "./recorded.ts"

/** The instrument's terms in both places: as recorded, and as in force. */
const recorded = (change: object) => ({ instrument: instrument(change), terms: terms(change) })

const nextDay = Instant.of("2026-08-01T00:00:00Z")
const most = (maxRedemption: string) => ({
  limits: { ...defaults.limits, maxRedemption: Decimal.of(maxRedemption) }
})
const dealing = (opensAt: Instant.Instant | null, closesAt: Instant.Instant | null) => ({
  terms: terms({}, { window: { opensAt, closesAt } })
})
const amount = (text: string): Partial<Gates.ClaimContext> => ({
  units: null,
  amount: Decimal.of(text),
  lastPrice: Decimal.of("2")
})

const sound: Gates.ClaimContext = {
  holds: [],
  restrictions: [],
  instrument: instrument(),
  holder: { holderId: id("h1"), state: "active", screening: null, party: party("holder") },
  now: at,
  payment: "wire",
  amount: null,
  units: Decimal.of("100"),
  cashDecimals: 2,
  market: null,
  terms: terms(),
  oracle: party("oracle"),
  free: Decimal.of("1000"),
  heldUnits: Decimal.of("1000"),
  leaving: Decimal.zero,
  lastPrice: null
}

/** Units that no order is for. */
const tooMany = Decimal.of("1000000000000000")

/** A claim of a rebasing instrument at an index, of which 1000 base units are free. */
function rebasing(
  index: string | null,
  change: Partial<Gates.ClaimContext>,
  members: object = {}
): Partial<Gates.ClaimContext> {
  const lastPrice = index === null ? null : Decimal.of(index)
  return { ...recorded({ valuation: "rebasing", ...members }), lastPrice, ...change }
}

const review = { state: "review", screenedAt: at, listVersion: "1", validUntil: null } as const

const faults: ReadonlyArray<readonly [check: string, change: Partial<Gates.ClaimContext>]> = [
  ["admission holder-active", { holder: { ...sound.holder, state: "pending" } }],
  ["admission holder-active", { holder: { ...sound.holder, state: "closed" } }],
  ["screening screening-clear", { holder: { ...sound.holder, screening: review } }],
  [
    "policy payment",
    { ...recorded({ valuation: "rebasing" }), payment: "ledger", market: { state: "agreed" } }
  ],
  ["policy primary-market", { payment: "ledger", market: null }],
  ["policy primary-market", { payment: "ledger", market: { state: "ended" } }],
  ["policy oracle-named", { oracle: null }],
  ["policy maximum-redemption", { terms: terms({}, most("99.999999")) }],
  ["policy maximum-redemption", { ...amount("200.01"), terms: terms({}, most("100")) }],
  ["policy minimum-holding", { terms: terms({ minimumHolding: 900.000001 }) }],
  [
    "policy minimum-holding",
    { terms: terms({ minimumHolding: 900 }), leaving: Decimal.of("0.000001") }
  ],
  ["window window-open", dealing(nextDay, null)],
  ["window window-open", dealing(null, at)],
  ["units unit-decimals", { units: Decimal.of("1.0000001") }],
  ["units units-free", { units: Decimal.of("1000.000001") }],
  ["units units-free", amount("2000.01")],
  ["units units-free", rebasing("1.7", { units: Decimal.of("1700.000001") })],
  ["units units-free", rebasing(null, { free: Decimal.zero })],
  ["units too-large", { units: tooMany, free: tooMany, heldUnits: tooMany }],
  // No decimal holds the units for the amount, less a fee of nearly all of it.
  [
    "units too-large",
    {
      ...amount("999999999999999"),
      lastPrice: Decimal.fromAtoms(1n),
      terms: terms({ fees: { subscription: 0, redemption: 0.9999999999 } })
    }
  ],
  ["units base-units", rebasing("1000000", { units: Decimal.of("0.000001") })],
  [
    "policy minimum-holding",
    rebasing("1.7", { units: Decimal.of("1400.000001") }, { minimumHolding: 300 })
  ],
  ["cash currency-decimals", amount("1.001")],
  ["ledger on-registry", { instrument: { ...instrument(), configurations: [] } }]
]

const held = (claiming: Gates.ClaimContext): ReadonlyArray<string> =>
  Gates.againstClaim(claiming, [])
    .filter(({ refuses }) => refuses)
    .map(({ refusal: { gate, check } }) => `${gate} ${check}`)
const first = (claiming: Gates.ClaimContext): string => {
  const judged = judge(Gates.againstClaim(claiming, []))
  return Result.isSuccess(judged)
    ? ""
    : `${judged.failure.details.gate} ${judged.failure.details.check}`
}

describe("a claim to redeem", () => {
  test.each<[string, Partial<Gates.ClaimContext>]>([
    ["as it should be", {}],
    ["of all there is", { units: Decimal.of("1000"), terms: terms({ minimumHolding: 900 }) }],
    ["that leaves exactly the minimum", { terms: terms({ minimumHolding: 900 }) }],
    ["of a rebasing instrument before its first index", rebasing(null, {})],
    [
      "of all that a rebasing instrument shows",
      rebasing("1.7", { units: Decimal.of("1700") }, { minimumHolding: 300 })
    ],
    [
      "of all that a rebasing instrument is worth",
      rebasing("1.7", { units: null, amount: Decimal.of("1700") }, { minimumHolding: 300 })
    ],
    ["of exactly the most", { terms: terms({}, most("100")) }],
    ["of an amount that takes all there is", amount("2000")],
    ["of an amount before any price", { ...amount("999999"), lastPrice: null }],
    ["by a holder whose registration ran out", { holder: { ...sound.holder, state: "lapsed" } }],
    ["on an agreed market", { payment: "ledger", market: { state: "agreed" } }],
    ["just as the window opens", dealing(at, nextDay)]
  ])("%s is refused", (_, change) => {
    expect(first({ ...sound, ...change })).toBe("")
  })

  test.each(faults)("%s refuses it", (check, change) => {
    expect(first({ ...sound, ...change })).toBe(check)
  })

  test("of two faults the earlier gate answers, and both are listed", () => {
    let pairs = 0
    const rank = (check: string) => gates.findIndex((gate) => gate === check.split(" ")[0])
    for (const [one, change] of faults) {
      for (const [other, second] of faults) {
        const both = { ...sound, ...change, ...second }
        // One change may undo the other's fault: only where both stand is there a choice.
        const refusals = held(both)
        if (!refusals.includes(one) || !refusals.includes(other)) continue
        pairs += 1
        expect(rank(first(both))).toBe(Math.min(rank(one), rank(other)))
      }
    }
    expect(pairs).toBeGreaterThan(120)
  })

  test("settling asks the holder and the registry alone", () => {
    const refusedChecks = (change: Partial<Gates.ClaimContext>) =>
      Gates.againstExchange({ ...sound, ...change }, [])
        .filter(({ refuses }) => refuses)
        .map(({ refusal: { check } }) => check)
    expect(refusedChecks({})).toEqual([])
    expect(refusedChecks({ holder: { ...sound.holder, state: "closed" } })).toEqual([
      "holder-active"
    ])
    expect(refusedChecks({ instrument: { ...instrument(), configurations: [] } })).toEqual([
      "on-registry"
    ])
    expect(refusedChecks({ terms: terms({}, most("1")) })).toEqual([])
  })
})

/** Atoms of the ten places that a figure has. */
const decimal = (range: { readonly min: bigint; readonly max: bigint; readonly places: number }) =>
  fc
    .bigInt({ min: range.min, max: range.max })
    .map((count) => Decimal.fromAtoms(count * 10n ** BigInt(Decimal.places - range.places)))

/** An instrument that does not rebase. */
const plain = { isRebasing: false, freeUnits: null } as const

describe("what a redemption comes to", () => {
  const orders = fc.integer({ min: 0, max: 8 }).chain((unitDecimals) =>
    fc.record({
      unitDecimals: fc.constant(unitDecimals),
      cashDecimals: fc.constantFrom(0, 2, 3),
      units: decimal({ min: 1n, max: 10n ** 12n, places: unitDecimals }),
      price: decimal({ min: 1n, max: 10n ** 9n, places: 6 }),
      feeRate: decimal({ min: 0n, max: 9_999n, places: 4 })
    })
  )

  test("never is better the day it deals than what it was shown before, at a price that is no better", () => {
    fc.assert(
      fc.property(orders, fc.bigInt({ min: 0n, max: 10n ** 6n }), (order, fall) => {
        const { price, ...given } = order
        const self = { ...given, amount: null, orderedAs: "units", ...plain } as const
        const preview = figuresAt(self, price)
        const lower = Decimal.max(
          Decimal.fromAtoms(1n),
          Decimal.fromAtoms(Decimal.atoms(price) - fall)
        )
        const dealt = figuresAt(self, lower)
        expect(Decimal.atMost(dealt.proceeds, preview.proceeds)).toBe(true)
      }),
      { numRuns: 500 }
    )
  })

  test("never pays more than the units are worth, or takes fewer units than the amount costs", () => {
    fc.assert(
      fc.property(orders, ({ price, units, ...terms }) => {
        const paid = figuresAt(
          { ...terms, units, amount: null, orderedAs: "units", ...plain },
          price
        )
        if (!Decimal.isPositive(paid.proceeds)) return
        const back = figuresAt(
          { ...terms, units: null, amount: paid.proceeds, orderedAs: "amount", ...plain },
          price
        )
        // Asking for exactly what the units paid never takes more units than those.
        expect(Decimal.atMost(back.units, units)).toBe(true)
        const again = figuresAt(
          { ...terms, units: back.units, amount: null, orderedAs: "units", ...plain },
          price
        )
        expect(Decimal.atLeast(again.proceeds, paid.proceeds)).toBe(true)
        expect(back.proceeds).toBe(paid.proceeds)
      }),
      { numRuns: 500 }
    )
  })
})
