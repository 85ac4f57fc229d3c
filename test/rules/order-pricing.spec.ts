/** Faults of the price that was signed for an order, for both kinds of order. */
import { Decimal, Duration, Instant, Offset } from "@bursar/engine-core/kernel"
import { expect, test } from "vitest"
import type { PricePoint } from "#core/instruments/price/PricePoint.ts"
import type { Pricing } from "#core/orders/order/OrderPricing.ts"
import * as RedemptionPricing from "#core/orders/redemption/RedemptionPricing.ts"
import * as SubscriptionPricing from "#core/orders/subscription/SubscriptionPricing.ts"
import { claimed as redemption } from "../machines/redemptions.ts"
import { party, claimed as subscription } from "../machines/subscriptions.ts"

const point = (changes: Partial<PricePoint> = {}): PricePoint => ({
  contractId: "00aa",
  instrumentId: "fund-1",
  price: Decimal.of("100"),
  incomePerUnit: null,
  withholding: null,
  valuationTime: Instant.of("2026-07-31T16:00:00Z"),
  publishedAt: Instant.of("2026-07-31T17:00:00Z"),
  source: party("oracle"),
  offset: Offset.of(1),
  statementId: null,
  corrects: null,
  correctedBy: null,
  nodeId: 0,
  isLive: true,
  ...changes
})

const pricing = (changes: Partial<Pricing> = {}): Pricing => ({
  points: [point()],
  at: Instant.of("2026-08-02T00:00:00Z"),
  dayPrice: Decimal.of("100"),
  staleAfter: null,
  ...changes
})

const signed = {
  pointCid: "00aa",
  price: Decimal.of("100"),
  units: Decimal.of("10"),
  proceeds: Decimal.of("995")
}

type Row = readonly [said: string, pricing: Pricing, breaches: ReadonlyArray<string>]

/** Rows about the point, which both kinds of order share. */
const ofPoint: ReadonlyArray<Row> = [
  ["the point of its cut-off", pricing(), []],
  [
    "a point after an earlier one",
    pricing({
      points: [
        point({ valuationTime: Instant.of("2026-08-01T16:00:00Z") }),
        point({ contractId: "00bb" })
      ]
    }),
    ["The point 00bb prices the order."]
  ],
  [
    "a point whose time is still to come",
    pricing({ at: Instant.of("2026-07-31T15:59:59.999999Z") }),
    ["No point prices the order yet."]
  ],
  ["a point whose time has just come", pricing({ at: Instant.of("2026-07-31T16:00:00Z") }), []],
  [
    "a point before one that is still to come",
    pricing({
      at: Instant.of("2026-07-31T16:00:00Z"),
      points: [
        point(),
        point({ contractId: "00bb", valuationTime: Instant.of("2026-07-31T16:00:00.000001Z") })
      ]
    }),
    []
  ],
  [
    "another instrument's point",
    pricing({ points: [point({ instrumentId: "fund-2" })] }),
    ["No point prices the order yet."]
  ],
  [
    "a price that is not its day's",
    pricing({ dayPrice: Decimal.of("101") }),
    ["The price is not its day's."]
  ]
]

const forUnits = { orderedAs: "units", amount: null, units: Decimal.of("10") } as const

test.each(ofPoint)("a redemption priced by %s", (_, pricing, breaches) => {
  expect(RedemptionPricing.breaches(redemption(forUnits), signed, pricing)).toEqual(breaches)
})

test.each(ofPoint)("a subscription priced by %s", (_, pricing, breaches) => {
  const self = subscription(forUnits)
  const attesting = { ...self.attesting, oracle: party("oracle") }
  expect(SubscriptionPricing.breaches({ ...self, attesting }, signed, pricing)).toEqual(breaches)
})

test("a historic redemption whose point is too old is priced by a stale point", () => {
  const old = point({ valuationTime: Instant.of("2020-01-01T00:00:00Z") })
  const context = pricing({ points: [old], staleAfter: Duration.days(5) })
  const self = redemption({ ...forUnits, pricing: "historic" })
  expect(RedemptionPricing.breaches(self, signed, context)).toEqual([
    "The point that would price the order is stale."
  ])
})

test("a point that nobody published is said first, and the figures last", () => {
  const wrong = { ...signed, pointCid: "00ff", units: Decimal.of("9"), proceeds: Decimal.of("1") }
  expect(RedemptionPricing.breaches(redemption(forUnits), wrong, pricing())).toEqual([
    "The point it names is not known.",
    "The point 00aa prices the order.",
    "9 units are not what the order takes.",
    "1 is not what the order pays."
  ])
})
