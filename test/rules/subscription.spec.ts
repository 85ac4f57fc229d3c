/**
 * The figures of a subscription, against the golden vectors and the laws of
 * docs/domain/figures.md#formulas-of-orders.
 */
import { Decimal, Instant, TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import * as PriceRules from "#core/instruments/price/PriceRules.ts"
import * as CutOffRules from "#core/orders/order/CutOffRules.ts"
import * as Rules from "#core/orders/subscription/SubscriptionRules.ts"

const dealing = (changes: Partial<Rules.DealingTerms> = {}): Rules.DealingTerms => ({
  price: Decimal.of("1.0437"),
  feeRate: Decimal.zero,
  unitDecimals: 6,
  cashDecimals: 2,
  residual: "refund",
  ...changes
})

const shown = (figures: Rules.Figures) => ({
  units: Decimal.formatPlaces(figures.units, 6),
  fee: Decimal.formatPlaces(figures.fee, 2),
  due: Decimal.formatPlaces(figures.due, 2),
  residual: Decimal.format(figures.residual),
  refund: Decimal.formatPlaces(figures.refund, 2)
})

describe("golden vectors", () => {
  test.each([
    ["G1", "100000", "0", "95812.973076", "0.00", "0.0000005788"],
    ["G2", "12345.67", "0.0075", "11740.030660", "92.60", "0.0000001580"],
    ["G3", "100000", "0.005", "95333.908211", "500.00", undefined],
    ["G10, at the swung price", "100000", "0", "95669.468873", "0.00", undefined]
  ])(
    "%s: an order of %s at fee %s buys other units",
    (name, amount, feeRate, units, fee, residual) => {
      const price = name.startsWith("G10") ? Decimal.of("1.04526555") : Decimal.of("1.0437")
      const figures = shown(
        Rules.byAmount(Decimal.of(amount), dealing({ price, feeRate: Decimal.of(feeRate) }))
      )
      expect(figures).toMatchObject({ units, fee, due: Number(amount).toFixed(2) })
      if (residual !== undefined) expect(figures.residual).toBe(residual)
    }
  )

  test("G4: an order of 95000 units costs the amount of the worked example", () => {
    expect(shown(Rules.byUnits(Decimal.of("95000"), dealing()))).toMatchObject({
      units: "95000.000000",
      fee: "0.00",
      due: "99151.50"
    })
  })

  test("the fee of an order in units is on top, and rounded up", () => {
    // 1.000001 · 1.0437 = 1.0437010437; · 0.005 = 0.0052185…
    const figures = Rules.byUnits(Decimal.of("1.000001"), dealing({ feeRate: Decimal.of("0.005") }))
    expect(shown(figures)).toMatchObject({ fee: "0.01", due: "1.06", residual: "0.0062989563" })
  })

  test("a residual of a whole cent and more is refunded, unless the fund keeps it", () => {
    const coarse = { unitDecimals: 0, price: Decimal.of("30") }
    const amount = Decimal.of("100.05")
    expect(shown(Rules.byAmount(amount, dealing(coarse)))).toMatchObject({
      units: "3.000000",
      residual: "10.0500000000",
      refund: "10.05"
    })
    expect(shown(Rules.byAmount(amount, dealing({ ...coarse, residual: "fund" }))).refund).toBe(
      "0.00"
    )
  })
})

// The counterparts of subscriptions, written out here so that the laws do not lean on other code.
const ceil = (n: bigint, d: bigint) => (n + d - 1n) / d
const ten = (n: number) => 10n ** BigInt(n)
const E = ten(10)

/** ⌊U·p·(1 − f)⌋ at the cash's places. */
const redeem = (units: bigint, { price, feeRate, cashDecimals }: Rules.DealingTerms): bigint => {
  const unit = ten(10 - cashDecimals)
  return ((units * price * (E - feeRate)) / (E * E) / unit) * unit
}

/** ⌈A/(p·(1 − f))⌉ at the units' places. */
const draw = (amount: bigint, { price, feeRate, unitDecimals }: Rules.DealingTerms): bigint => {
  const unit = ten(10 - unitDecimals)
  return ceil(ceil(amount * E * E, price * (E - feeRate)), unit) * unit
}

const subscribe = (amount: bigint, terms: Rules.DealingTerms): bigint =>
  Rules.byAmount(Decimal.fromAtoms(amount), terms).units
const buy = (units: bigint, terms: Rules.DealingTerms): bigint =>
  Rules.byUnits(Decimal.fromAtoms(units), terms).due

const anyDealing = fc
  .record({
    price: fc.bigInt(1n, 10n ** 15n),
    feeRate: fc.oneof(fc.constant(0n), fc.bigInt(0n, E / 2n)),
    unitDecimals: fc.integer({ min: 0, max: 10 }),
    cashDecimals: fc.constantFrom(0, 2, 3, 10),
    residual: fc.constantFrom("refund" as const, "fund" as const)
  })
  .map(
    (figures): Rules.DealingTerms => ({
      ...figures,
      price: Decimal.fromAtoms(figures.price),
      feeRate: Decimal.fromAtoms(figures.feeRate)
    })
  )

/** A dealing with an amount and units that have its places. */
const anyOrder = anyDealing.chain((terms) =>
  fc.record({
    terms: fc.constant(terms),
    amount: fc.bigInt(1n, 10n ** 9n).map((count) => count * ten(10 - terms.cashDecimals)),
    units: fc.bigInt(1n, 10n ** 9n).map((count) => count * ten(10 - terms.unitDecimals))
  })
)

const law = (
  name: string,
  holds: (order: { terms: Rules.DealingTerms; amount: bigint; units: bigint }) => boolean
) =>
  test(name, () => {
    fc.assert(fc.property(anyOrder, holds), { numRuns: 2_000 })
  })

describe("laws, for every price, fee and number of places: no round trip gains", () => {
  law(
    "red(sub(a)) > a: money comes of subscribing and redeeming",
    ({ terms, amount }) => redeem(subscribe(amount, terms), terms) <= amount
  )
  law(
    "draw(a) < sub(a): drawing an amount back costs fewer units than it bought",
    ({ terms, amount }) => draw(amount, terms) >= subscribe(amount, terms)
  )
  law(
    "sub(red(u)) > u: units come of redeeming and subscribing",
    ({ terms, units }) => subscribe(redeem(units, terms), terms) <= units
  )
  law(
    "buy(u) < red(u): buying back what was redeemed costs less than it paid",
    ({ terms, units }) => buy(units, terms) >= redeem(units, terms)
  )
  law(
    "draw(buy(u)) < u: what units cost is drawn with fewer units",
    ({ terms, units }) => draw(buy(units, terms), terms) >= units
  )
  law(
    "buy(draw(a)) < a: the units that pay an amount cost less than it",
    ({ terms, amount }) => buy(draw(amount, terms), terms) >= amount
  )
  law(
    "buy(sub(a)) > a: the units an amount buys cost more than it",
    ({ terms, amount }) => buy(subscribe(amount, terms), terms) <= amount
  )
  law(
    "an amount is lost or made: fee, units' worth and residual do not add up to it",
    ({ terms, amount }) => {
      const { units, fee, residual, refund } = Rules.byAmount(Decimal.fromAtoms(amount), terms)
      const worth = units * terms.price
      const rest = (amount - fee) * E - worth
      return rest >= 0n && residual === rest / E && refund <= residual && refund >= 0n
    }
  )
  law(
    "units, fee or refund have more places than the instrument and the currency",
    ({ terms, amount, units }) => {
      const byAmount = Rules.byAmount(Decimal.fromAtoms(amount), terms)
      const byUnits = Rules.byUnits(Decimal.fromAtoms(units), terms)
      const cash = [byAmount.fee, byAmount.refund, byAmount.due, byUnits.fee, byUnits.due]
      return (
        byAmount.units % ten(10 - terms.unitDecimals) === 0n &&
        cash.every((figure) => figure % ten(10 - terms.cashDecimals) === 0n)
      )
    }
  )
})

describe("cut-offs", () => {
  const rule = (zone: string): CutOffRules.CutOffRule => ({
    time: TimeOfDay.of("16:00"),
    days: ["monday", "tuesday", "wednesday", "thursday", "friday"],
    zone: Zone.of(zone)
  })

  test.each([
    ["UTC", "2026-07-31T15:59:59Z", "2026-07-31T16:00:00Z", "2026-07-31"],
    // Strictly after: a claim at the cut-off deals at the next, here over a weekend.
    ["UTC", "2026-07-31T16:00:00Z", "2026-08-03T16:00:00Z", "2026-08-03"],
    ["America/New_York", "2026-07-31T20:00:00Z", "2026-08-03T20:00:00Z", "2026-08-03"],
    // Its day is the day there: Tuesday in Auckland while it is Monday in UTC.
    ["Pacific/Auckland", "2026-07-27T20:00:00Z", "2026-07-28T04:00:00Z", "2026-07-28"],
    // The clock goes forward on Sunday 2026-03-29: the Monday cut-off is an hour earlier in UTC.
    ["Europe/Zurich", "2026-03-27T15:00:00Z", "2026-03-30T14:00:00Z", "2026-03-30"]
  ])("in %s a claim at %s deals at another cut-off", (zone, claimedAt, at, date) => {
    expect(CutOffRules.nextCutOff(rule(zone), Instant.of(claimedAt))).toEqual({
      at: Instant.of(at),
      date
    })
  })

  test("the next cut-off is the first after the claim on a named day", () => {
    const days = [
      "monday",
      "tuesday",
      "wednesday",
      "thursday",
      "friday",
      "saturday",
      "sunday"
    ] as const
    fc.assert(
      fc.property(
        fc.bigInt(1_700_000_000n, 1_900_000_000n),
        fc.constantFrom("UTC", "Europe/Zurich", "America/Sao_Paulo", "Pacific/Apia"),
        fc.subarray([...days], { minLength: 1 }),
        fc.integer({ min: 0, max: 23 }),
        (second, zone, named, hour) => {
          const claimedAt = Instant.fromNanos(second * 1_000_000_000n)
          const time = TimeOfDay.of(`${String(hour).padStart(2, "0")}:30`)
          const rule = { time, days: named, zone: Zone.of(zone) }
          const { at } = CutOffRules.nextCutOff(rule, claimedAt)
          const again = CutOffRules.nextCutOff(rule, Instant.fromNanos(at - 1n))
          return at > claimedAt && at - claimedAt < 8n * 86_400n * 10n ** 9n && again.at === at
        }
      )
    )
  })
})

describe("which point prices an order", () => {
  const at = (hour: string) => ({ valuationTime: Instant.of(`2026-07-31T${hour}:00:00Z`) })
  const ordered = {
    cutOffAt: Instant.of("2026-07-31T16:00:00Z"),
    claimedAt: Instant.of("2026-07-31T12:00:00Z")
  }

  test.each([
    ["forward", ["18", "16", "15", "20"], "16"],
    ["forward", ["15"], undefined],
    ["historic", ["10", "11", "12", "13"], "11"],
    ["historic", ["12"], undefined]
  ] as const)("%s: of points at %j another prices it", (pricing, hours, chosen) => {
    expect(PriceRules.choosePoint(hours.map(at), { ...ordered, pricing })).toEqual(
      chosen === undefined ? undefined : at(chosen)
    )
  })
})
