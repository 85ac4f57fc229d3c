/** Figures that outside parties sign as the price of an order: what is computed of them is a decimal, or nothing is. */
import { Decimal, Rational } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isPriceSized } from "#core/orders/order/OrderSize.ts"
import { shownOf } from "#core/orders/order/RebasingRules.ts"
import * as RedemptionOpening from "#core/orders/redemption/RedemptionOpening.ts"
import * as RedemptionPricing from "#core/orders/redemption/RedemptionPricing.ts"
import * as SubscriptionOpening from "#core/orders/subscription/SubscriptionOpening.ts"
import * as SubscriptionPricing from "#core/orders/subscription/SubscriptionPricing.ts"
import { claimed as redeems } from "../machines/redemptions.ts"
import { at, claimed as subscribes } from "../machines/subscriptions.ts"

const d = Decimal.of
const most = "9999999999999999999999999999.9999999999"
const least = "0.0000000001"
const pricing = { points: [], at, dayPrice: null, staleAfter: null }

type Row = readonly [is: string, price: string, units: string, proceeds: string]
const beyond: ReadonlyArray<Row> = [
  ["as many units as a decimal holds, at the least price", least, most, "1000"],
  ["units at the limit of an order", "1", "1000000000000000", "1000"],
  ["a price at the limit of a point", "10000000000", least, "1"],
  ["the largest price", most, least, "1"],
  ["proceeds that no order is worth", "1", "1", most],
  ["a price of nothing", "0", "1", "1"],
  ["a price below nothing", "-1", "1", "1"],
  ["no units", "1", "0", "1"],
  ["fewer units than none", "1", `-${most}`, "1"],
  ["proceeds below nothing", "1", "1", `-${most}`]
]

const orders = [
  { orderedAs: "amount", amount: d("1000"), units: null },
  { orderedAs: "units", amount: null, units: d("1000") }
] as const
const kinds = orders.flatMap((order) => [
  { ...order, isRebasing: false },
  { ...order, isRebasing: true, freeUnits: d("1000") }
])

describe.each(beyond)("a price is beyond every order by %s", (_, price, units, proceeds) => {
  const signed = { price: d(price), units: d(units), proceeds: d(proceeds), pointCid: "00aa" }
  const contract = { contractId: "00bb", createdAt: at }

  test.each(kinds)("and prices no redemption: $orderedAs, rebasing $isRebasing", (order) => {
    const self = redeems(order)
    expect(RedemptionPricing.isWithinOrder(self, signed)).toBe(false)
    const payload = { ...signed } as never
    const beside = RedemptionOpening.alone
    // A snapshot that shows it opens the order as claimed.
    expect(
      RedemptionOpening.recoveredAs(self, { as: "priced", payload }, { ...contract, beside })
    ).toEqual({ ...self, recovered: true, claimCid: null, mispricedCid: "00bb" })
  })

  if (Decimal.isPositive(signed.proceeds) && proceeds !== most) {
    test.each(kinds)("and prices no subscription: $orderedAs, rebasing $isRebasing", (order) => {
      const self = subscribes({ ...order })
      expect(isPriceSized({ price: signed.price, units: signed.units })).toBe(false)
      const payload = { ...signed, shownDecimals: order.isRebasing ? 6 : null } as never
      const beside = { request: null, mintRequestCid: null, allocation: null, basePrice: null }
      const shown = { as: "lot", payload } as const
      expect(SubscriptionOpening.recoveredAs(self, shown, { ...contract, beside })).toEqual({
        ...self,
        recovered: true,
        claimCid: null,
        mispricedCid: "00bb"
      })
      // Without cash in the lot nobody knows what was ordered.
      const lot = { ...signed, cash: null, shownDecimals: 6, attestors: [] } as never
      expect(SubscriptionOpening.claimOf({ as: "lot", payload: lot })).toBeNull()
    })
  }
})

test("a price just within the limits prices an order", () => {
  const signed = { price: d("9999999999.9999999999"), units: d("999999999999999.9999999999") }
  expect(isPriceSized(signed)).toBe(true)
  expect(isPriceSized({ ...signed, proceeds: d("9999999999999999999999999") })).toBe(true)
  expect(isPriceSized({ price: d(least), units: d(least), proceeds: d(least) })).toBe(true)
})

test("an amount whose units at the price are no decimal is not priced", () => {
  const self = redeems({ orderedAs: "amount", amount: d("999999999999999"), units: null })
  const signed = { price: d(least), units: d("1"), proceeds: d("999999999999999") }
  expect(RedemptionPricing.isWithinOrder(self, signed)).toBe(true)
  const almostAll = { ...self, feeRate: d("0.9999999999") }
  expect(RedemptionPricing.isWithinOrder(almostAll, signed)).toBe(false)
})

test("shown units that no decimal holds are the largest whole one", () => {
  const shown = shownOf(d(most), { index: d("2"), unitDecimals: 6 })
  expect(Decimal.formatPlain(shown)).toBe("9999999999999999999999999999")
  expect(shownOf(d("3"), { index: d("2"), unitDecimals: 6 })).toBe(d("6"))
})

const size = (digits: number) =>
  fc
    .integer({ min: 1, max: digits })
    .chain((length) => fc.bigInt({ min: 1n, max: 10n ** BigInt(length) - 1n }))
    .map(Decimal.fromAtoms)

test("whatever is signed, an order is left unpriced or has figures whose sums are decimals", () => {
  let priced = 0
  fc.assert(
    fc.property(
      fc.record({
        ordered: size(25),
        orderedAs: fc.constantFrom("amount" as const, "units" as const),
        isRebasing: fc.boolean(),
        freeUnits: size(38),
        feeRate: fc.bigInt({ min: 0n, max: 10n ** 10n - 1n }).map(Decimal.fromAtoms),
        unitDecimals: fc.integer({ min: 0, max: 10 })
      }),
      fc.record({ price: size(38), units: size(38), proceeds: size(38) }),
      fc.boolean(),
      ({ ordered, orderedAs, ...terms }, anything, isHonest) => {
        const amount = orderedAs === "amount" ? ordered : null
        const units = orderedAs === "units" ? ordered : null
        const signed = {
          ...anything,
          pointCid: "00aa",
          ...(isHonest
            ? { price: Decimal.fromAtoms((Decimal.atoms(anything.price) % 10n ** 20n) + 1n) }
            : {})
        }
        const redemption = redeems({ ...terms, orderedAs, amount, units })
        const figures: Array<Decimal.Decimal> = []
        if (RedemptionPricing.isWithinOrder(redemption, signed)) {
          const { baseUnits, fee, units } = RedemptionPricing.pricedAs(redemption, signed)
          RedemptionPricing.breaches(redemption, signed, pricing)
          figures.push(units, fee, baseUnits ?? units, signed.proceeds)
        }
        if (isPriceSized({ price: signed.price, units: signed.units })) {
          const subscription = subscribes({ ...terms, orderedAs, amount, units })
          const {
            baseUnits,
            due,
            fee,
            refund,
            residual,
            units: bought
          } = SubscriptionPricing.figuresOf(subscription, signed)
          SubscriptionPricing.breaches(subscription, signed, pricing)
          figures.push(bought, due, fee, refund, residual, baseUnits ?? bought)
        }
        priced += figures.length > 0 ? 1 : 0
        // A cycle has fewer orders: one transaction takes no more.
        for (const figure of figures) {
          expect(
            Rational.fits(Rational.multiply(Rational.of(figure), Rational.fromInteger(400)))
          ).toBe(true)
        }
      }
    ),
    { numRuns: 2000, seed: 20261130 }
  )
  expect(priced).toBeGreaterThan(200)
})
