/** Laws of orders of rebasing instruments: round trips, whole holdings, and the programs that price them. */
import { verify } from "@bursar/engine-core"
import { Decimal, Instant, Offset, Rational } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { burnedBy } from "#core/orders/redemption/Redemption.ts"
import * as RedemptionPricing from "#core/orders/redemption/RedemptionPricing.ts"
import * as SubscriptionOpening from "#core/orders/subscription/SubscriptionOpening.ts"
import * as InFlight from "#core/reconciliation/checks/InFlightRules.ts"
import * as Restatement from "#core/reconciliation/restatement/RestatementRules.ts"
import { baseOf, shownOf } from "#core/orders/order/RebasingRules.ts"
import * as SubscriptionPricing from "#core/orders/subscription/SubscriptionPricing.ts"
import * as Pricing from "#adapters/ledger/wallets/Pricing.ts"
import { areOrdered, worthOf } from "#adapters/ledger/simulated/choices/Order.ts"
import { isPayable } from "#adapters/ledger/simulated/choices/Redemption.ts"
import { claimed as redeems } from "../machines/redemptions.ts"
import { claimed as subscribes } from "../machines/subscriptions.ts"

const d = Decimal.of
const decimal = (range: { readonly min: bigint; readonly max: bigint; readonly places: number }) =>
  fc
    .bigInt(range)
    .map((count) => Decimal.fromAtoms(count * 10n ** BigInt(Decimal.places - range.places)))

/** Terms, and an index far inside the bound below which shown units come back exactly. */
const terms = fc.integer({ min: 0, max: 8 }).chain((unitDecimals) =>
  fc.record({
    unitDecimals: fc.constant(unitDecimals),
    cashDecimals: fc.constantFrom(0, 2, 3),
    feeRate: decimal({ min: 0n, max: 9_999n, places: 4 }),
    index: decimal({ min: 1n, max: 5n * 10n ** BigInt(9 - unitDecimals) * 10n ** 4n, places: 4 }),
    units: decimal({ min: 1n, max: 10n ** 12n, places: unitDecimals }),
    amount: fc.bigInt({ min: 1n, max: 10n ** 12n })
  })
)

type Terms = typeof terms extends fc.Arbitrary<infer T> ? T : never

const cashOf = ({ amount, cashDecimals }: Terms) =>
  Decimal.fromAtoms(amount * 10n ** BigInt(Decimal.places - cashDecimals))

const subscription = (
  terms: Terms,
  ordered: { readonly amount?: Decimal.Decimal; readonly units?: Decimal.Decimal }
) =>
  subscribes({
    ...{ isRebasing: true, feeRate: terms.feeRate, unitDecimals: terms.unitDecimals },
    ...{
      cashDecimals: terms.cashDecimals,
      amount: ordered.amount ?? null,
      units: ordered.units ?? null
    },
    orderedAs: ordered.units === undefined ? "amount" : "units"
  })

const redemption = (
  terms: Terms,
  free: Decimal.Decimal | null,
  ordered: { readonly amount?: Decimal.Decimal; readonly units?: Decimal.Decimal }
) =>
  redeems({
    ...{
      isRebasing: true,
      feeRate: terms.feeRate,
      unitDecimals: terms.unitDecimals,
      freeUnits: free
    },
    ...{
      cashDecimals: terms.cashDecimals,
      amount: ordered.amount ?? null,
      units: ordered.units ?? null
    },
    orderedAs: ordered.units === undefined ? "amount" : "units"
  })

/** The program's view of the terms and of the point that publishes the index. */
const programOf = (terms: Terms): Pricing.DealingFigures => ({
  price: terms.index,
  point: { payload: { metric: "index" } } as Pricing.Point,
  terms: {
    instrumentId: "fund-a",
    ...{ unitDecimals: terms.unitDecimals, cashDecimals: terms.cashDecimals },
    ...{ feeRate: terms.feeRate, redemptionFeeRate: terms.feeRate }
  }
})

const runs = { numRuns: 400 }

describe("an order of a rebasing instrument", () => {
  test("never gains by a round trip: what an amount buys redeems for no more than the amount", () => {
    fc.assert(
      fc.property(terms, (terms) => {
        const amount = cashOf(terms)
        const { baseUnits, units } = SubscriptionPricing.figuresAt(
          subscription(terms, { amount }),
          terms.index
        )
        if (baseUnits === null || !Decimal.isPositive(units)) return
        const back = RedemptionPricing.figuresAt(
          redemption(terms, baseUnits, { units }),
          terms.index
        )
        expect(Decimal.atMost(back.proceeds, amount)).toBe(true)
        expect([back.isWhole, back.baseUnits]).toEqual([true, baseUnits])
      }),
      runs
    )
  })

  test("never leaves a base unit of all, by units or by what they are worth, at any later index", () => {
    const laterTerms = fc.tuple(terms, decimal({ min: 1n, max: 10n ** 14n, places: 10 }))
    fc.assert(
      fc.property(laterTerms, ([terms, free]) => {
        const units = shownOf(free, terms)
        if (!Decimal.isPositive(units)) return
        const all = RedemptionPricing.figuresAt(redemption(terms, free, { units }), terms.index)
        expect([all.isWhole, all.baseUnits]).toEqual([true, free])
        if (!Decimal.isPositive(all.proceeds)) return
        const worth = redemption(terms, free, { amount: all.proceeds })
        const paid = RedemptionPricing.figuresAt(worth, terms.index)
        expect([paid.baseUnits, paid.proceeds, paid.units]).toEqual([free, all.proceeds, units])
      }),
      runs
    )
  })

  test("never takes more base units for a part than there are, or leaves other shown units than the rest", () => {
    fc.assert(
      fc.property(terms, fc.bigInt({ min: 0n, max: 10_000n }), (terms, share) => {
        const free = baseOf(terms.units, terms.index)
        const atom = 10n ** BigInt(Decimal.places - terms.unitDecimals)
        const part = Decimal.fromAtoms(
          (((Decimal.atoms(terms.units) / atom) * share) / 10_000n) * atom
        )
        if (!Decimal.isPositive(part) || part === terms.units) return
        const { baseUnits } = RedemptionPricing.figuresAt(
          redemption(terms, free, { units: part }),
          terms.index
        )
        const left = Decimal.subtract(free, baseUnits ?? Decimal.zero)
        expect(Decimal.isNegative(left)).toBe(false)
        expect(shownOf(left, terms)).toBe(Decimal.subtract(terms.units, part))
      }),
      runs
    )
  })

  test("never is priced otherwise by the attestor's and the oracle's programs, or refused by the ledger", () => {
    fc.assert(
      fc.property(terms, fc.boolean(), (terms, isAll) => {
        const { index: price, unitDecimals: shownDecimals, units } = terms
        const amount = cashOf(terms)
        const program = programOf(terms)
        for (const ordered of [{ amount }, { units }]) {
          const bought = SubscriptionPricing.figuresAt(subscription(terms, ordered), price)
          const cash = ordered.amount ?? null
          const signed = Pricing.boughtBy({ cash, units: ordered.units ?? null }, program)
          expect(signed).toBe(bought.baseUnits)
          const free = isAll ? (bought.baseUnits ?? null) : null
          const sold = RedemptionPricing.figuresAt(redemption(terms, free, ordered), price)
          const priced = Pricing.soldBy(
            { units: ordered.units ?? null, amount: cash, free },
            program
          )
          expect(priced).toEqual({ units: sold.baseUnits, proceeds: sold.proceeds })
          const moved = sold.baseUnits ?? Decimal.zero
          if (!Decimal.isPositive(moved)) continue
          const lot = { price, shownDecimals, units: moved }
          expect(areOrdered(ordered.units ?? null, lot)).toBe(true)
          const other = Decimal.add(moved, baseOf(units, price))
          expect(areOrdered(units, { ...lot, units: other })).toBe(
            !Decimal.isPositive(baseOf(units, price))
          )
          expect(
            Rational.atMost(
              Rational.of(
                Decimal.subtract(
                  sold.proceeds,
                  Decimal.fromAtoms(10n ** BigInt(Decimal.places - shownDecimals))
                )
              ),
              worthOf(lot)
            )
          ).toBe(true)
        }
      }),
      runs
    )
  })

  test("G8: ten thousand orders never gain an atom over what was ordered", () => {
    const index = d("1.73222")
    const total = (places: number, first: bigint, count: number) => {
      const instrument = { unitDecimals: places, index }
      const atom = 10n ** BigInt(Decimal.places - places)
      return Decimal.sum(
        Array.from({ length: count }, (_, nth) => {
          const units = Decimal.fromAtoms((first + BigInt(nth)) * atom)
          const self = redeems({ isRebasing: true, units, unitDecimals: places, freeUnits: null })
          const priced = RedemptionPricing.pricedAs(self, {
            price: index,
            units: RedemptionPricing.figuresAt(self, index).baseUnits ?? Decimal.zero
          })
          return shownOf(burnedBy(priced) ?? Decimal.zero, instrument)
        })
      )
    }
    expect(Decimal.formatPlain(total(6, 100_000n, 10_000))).toBe("1049.995")
    expect(Decimal.formatPlain(total(2, 1n, 10_000))).toBe("500050")
  })
})

const pricedInstant = Instant.of("2026-08-03T09:00:00Z")
const sold = redeems({
  ...{
    isRebasing: true,
    state: "priced",
    pricedAt: pricedInstant,
    price: Decimal.one,
    index: d("1.7")
  },
  ...{ units: d("500"), baseUnits: d("294.1176470588"), proceeds: d("500"), feeRate: Decimal.zero }
})
const bought = subscribes({
  ...{
    isRebasing: true,
    state: "priced",
    pricedAt: pricedInstant,
    price: Decimal.one,
    index: d("1.7")
  },
  ...{ units: d("500"), baseUnits: d("294.1176470588"), amount: d("500") }
})

test("the ledger never refuses to pay a cent that rounding to base units loses, or pays more than is ordered", () => {
  const figures = { price: d("1.7314"), units: d("288.7836432944") }
  const claim = { orderedUnits: d("500"), shownDecimals: 6 }
  expect(isPayable(claim, { ...figures, proceeds: d("500") })).toBe(true)
  expect(isPayable(claim, { ...figures, proceeds: d("500.01") })).toBe(false)
  expect(isPayable({ ...claim, orderedUnits: null }, { ...figures, proceeds: d("500") })).toBe(true)
  expect(isPayable({ ...claim, orderedUnits: null }, { ...figures, proceeds: d("500.01") })).toBe(
    false
  )
})

describe("a priced order of a rebasing instrument", () => {
  test("never explains a difference of a statement by other than its base units", () => {
    const amounts = [
      ...InFlight.ofRedemption(sold),
      ...InFlight.ofLaterRedemption(sold, Instant.of("2026-08-01T00:00:00Z"))
    ].map(({ item }) => Decimal.formatPlain(item.amount))
    expect(amounts).toEqual(["-294.1176470588", "-294.1176470588"])
  })

  test("never is restated but in its base units, which a corrected index makes of the same units", () => {
    const day = { price: d("1.6"), swinging: null }
    const sources = { statementId: "st-2", instrumentId: "fund-1", offset: Offset.zero }
    const rows = [
      ...Restatement.ofSubscription(bought, day, sources),
      ...Restatement.ofRedemption(sold, day, sources)
    ]
    expect(
      rows.map(({ field, was, should, basis }) => [
        field,
        Decimal.formatPlain(was),
        Decimal.formatPlain(should),
        basis.map((one) => Result.isSuccess(verify(one)))
      ])
    ).toEqual([
      ["units", "294.1176470588", "312.5", [true]],
      ["units", "-294.1176470588", "-312.5", [true]]
    ])
  })

  test("never opens after a snapshot as an order for its base units", () => {
    const payload = { cash: null, units: d("294.1176470588"), price: d("1.7"), shownDecimals: 6 }
    const shown = { as: "lot", payload: { ...payload, attestors: [] } } as never
    expect(SubscriptionOpening.claimOf(shown)?.orderedUnits).toBe(d("500"))
  })
})
