/** Figures of reserves as the ledger computes them, against those of the engine, over random reserves. */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Ledger from "#adapters/ledger/simulated/choices/ReserveCover.ts"
import * as Cover from "#core/reserves/reserve/CoverRules.ts"
import { keyOf } from "#core/reserves/reserve/ReserveTerms.ts"
import * as TermsRules from "#core/reserves/reserve/TermsRules.ts"
import * as Party from "#core/kernel/Party.ts"

const one = 10n ** 10n
const at = Instant.of("2026-11-02T12:00:00Z")
const atoms = (max: bigint) => fc.bigInt({ min: 0n, max }).map(Decimal.fromAtoms)
const twentieths = (min: number, max: number) =>
  fc.integer({ min, max }).map((n) => Decimal.fromAtoms((BigInt(n) * one) / 20n))
const micros = 3_600_000_000

const asset = fc.record({
  units: fc.oneof(fc.constant(Decimal.zero), atoms(2000n * one)),
  price: fc.option(atoms(3n * one)),
  /** Microseconds of the price's age: around the hour that the terms allow, or of the future. */
  age: fc.constantFrom(0, micros - 1, micros, micros + 1, -1),
  hasSource: fc.boolean(),
  isTimed: fc.boolean(),
  haircut: twentieths(0, 19),
  maxShare: fc.option(twentieths(1, 20))
})
type Asset = typeof asset extends fc.Arbitrary<infer A> ? A : never

const reserve = fc.record({
  assets: fc.array(asset, { minLength: 1, maxLength: 4 }),
  outstanding: fc.oneof(fc.constant(Decimal.zero), atoms(2000n * one)),
  minCover: twentieths(1, 30),
  parValue: fc.option(atoms(3n * one).map((value) => Decimal.add(value, Decimal.one))),
  initialSharePrice: atoms(3n * one).map((value) => Decimal.add(value, Decimal.one)),
  decimals: fc.integer({ min: 0, max: 10 }),
  priceDecimals: fc.integer({ min: 0, max: 10 })
})
type Reserve = typeof reserve extends fc.Arbitrary<infer A> ? A : never

const party = Party.of("oracle::1220abcd")
const idOf = (index: number) => ({ admin: party, id: `A${index}` })
const timeOf = ({ age }: Asset) => Instant.fromNanos(at - BigInt(age) * 1_000n)
const sourceOf = ({ hasSource }: Asset) => (hasSource ? party : null)
const isTimed = ({ hasSource, isTimed }: Asset) => hasSource && isTimed

const booksOf = (reserve: Reserve): Cover.ReserveBooks => ({
  valuation:
    reserve.parValue === null
      ? { mode: "accumulating", initialSharePrice: reserve.initialSharePrice }
      : { mode: "par", parValue: reserve.parValue },
  terms: {
    minCover: reserve.minCover,
    assets: reserve.assets.map((one, index) => ({
      asset: idOf(index),
      priceSource: sourceOf(one),
      freshness: isTimed(one) ? Duration.hours(1) : null,
      haircut: one.haircut,
      maxShare: one.maxShare
    }))
  },
  locked: new Map(reserve.assets.map(({ units }, index) => [keyOf(idOf(index)), units])),
  points: new Map(
    reserve.assets.flatMap((one, index) =>
      one.price === null || !one.hasSource
        ? []
        : [[keyOf(idOf(index)), { price: one.price, valuationTime: timeOf(one) }] as const]
    )
  ),
  outstanding: reserve.outstanding,
  at,
  decimals: reserve.decimals,
  priceDecimals: reserve.priceDecimals,
  currencyDecimals: 10
})

const termsOf = (reserve: Reserve) => ({
  minCover: reserve.minCover,
  assets: reserve.assets.map((one, index) => ({
    asset: idOf(index),
    priceSource: sourceOf(one),
    freshness: isTimed(one) ? micros : null,
    haircut: one.haircut,
    maxShare: one.maxShare
  }))
})

const stateOf = (reserve: Reserve): Ledger.State => ({
  reserve,
  minCover: reserve.minCover,
  outstanding: reserve.outstanding,
  now: at,
  assets: termsOf(reserve).assets.map((terms, index) => {
    const assetTerms = reserve.assets[index]
    if (assetTerms === undefined) throw new Error("an asset has its terms")
    return {
      terms,
      amount: assetTerms.units,
      point:
        assetTerms.price === null || !assetTerms.hasSource
          ? null
          : { value: assetTerms.price, valuationTime: timeOf(assetTerms) }
    }
  })
})

const most = 10n ** 38n - 1n
/** The amount with its point moved, at most what a decimal holds. */
const times = (amount: Decimal.Decimal, exponent: number): Decimal.Decimal => {
  const atoms = Decimal.atoms(amount) * 10n ** BigInt(exponent)
  return Decimal.fromAtoms(atoms < most ? atoms : most)
}

describe("the engine and the ledger", () => {
  it("never differ on the cover, what each asset counts, the share price, or the figures of an order", () => {
    fc.assert(
      fc.property(reserve, atoms(1000n * one), (stated, amount) => {
        const books = booksOf(stated)
        const state = stateOf(stated)
        expect(Ledger.coverOf(state)).toEqual(Cover.coverOf(books))
        expect(state.assets.map((one) => Ledger.shown(Ledger.countedOf(one, state)))).toEqual(
          Cover.assetFiguresOf(books).map(({ counted }) => counted)
        )
        const share = Cover.sharePriceOf(books)
        expect([
          Ledger.sharePriceOf(state, "floor"),
          Ledger.sharePriceOf(state, "ceiling")
        ]).toEqual(share === null ? [null, null] : [share.down, share.up])
        for (const [index, found] of state.assets.entries()) {
          const id = idOf(index)
          expect(Ledger.mintedBy(state, { asset: found, deposit: amount })).toEqual(
            Cover.mintUnitsOf(books, { asset: id, deposit: amount })
          )
          expect(Ledger.paidFor(state, { asset: found, units: amount })).toEqual(
            Cover.redeemPayoutOf(books, { asset: id, units: amount })
          )
        }
      }),
      { numRuns: 500 }
    )
  })

  it("never differ on whether decimals hold the figures of a reserve", () => {
    const isHeld = new Set<boolean>()
    const exponent = fc.integer({ min: 0, max: 24 })
    fc.assert(
      fc.property(reserve, exponent, exponent, exponent, (stated, units, price, outstanding) => {
        const scaled: Reserve = {
          ...stated,
          outstanding: times(stated.outstanding, outstanding),
          assets: stated.assets.map((one) => ({
            ...one,
            units: times(one.units, units),
            price: one.price === null ? null : times(one.price, price)
          }))
        }
        const books = booksOf(scaled)
        const held = Cover.hasFigures(books)
        isHeld.add(held)
        expect(Ledger.hasFigures(stateOf(scaled))).toBe(held)
        const cover = Cover.coverOf(books)
        if (held) expect(Ledger.coverOf(stateOf(scaled))).toEqual(cover)
        else
          expect([cover.state, cover.ratio, Cover.mintableOf(books)]).toEqual(["unknown", null, 0n])
        expect(Cover.assetFiguresOf(books)).toHaveLength(stated.assets.length)
      }),
      { numRuns: 500 }
    )
    expect(isHeld).toEqual(new Set([true, false]))
  })

  it("tell no share price, units or payout that no decimal holds", () => {
    const large = Decimal.of("1000000000000000000000000")
    const least = Decimal.fromAtoms(1n)
    const cash: Asset = {
      ...{ units: large, price: null, age: 0, hasSource: false, isTimed: false },
      ...{ haircut: Decimal.zero, maxShare: null }
    }
    const owned: Reserve = {
      ...{ assets: [cash], outstanding: least, minCover: Decimal.one, parValue: null },
      ...{ initialSharePrice: Decimal.one, decimals: 10, priceDecimals: 10 }
    }
    expect([
      Ledger.sharePriceOf(stateOf(owned), "floor"),
      Cover.sharePriceOf(booksOf(owned))
    ]).toEqual([null, null])
    const cheap: Reserve = { ...owned, outstanding: Decimal.zero, parValue: least }
    const [held] = stateOf(cheap).assets
    if (held === undefined) throw new Error("the reserve has an asset")
    expect([
      Ledger.mintedBy(stateOf(cheap), { asset: held, deposit: large }),
      Cover.mintUnitsOf(booksOf(cheap), { asset: idOf(0), deposit: large })
    ]).toEqual([null, null])
    const priced = { ...cash, units: Decimal.one, price: least, hasSource: true }
    const cheaply: Reserve = { ...cheap, assets: [priced], parValue: Decimal.one }
    const [paid] = stateOf(cheaply).assets
    if (paid === undefined) throw new Error("the reserve has an asset")
    expect([
      Ledger.paidFor(stateOf(cheaply), { asset: paid, units: large }),
      Cover.redeemPayoutOf(booksOf(cheaply), { asset: idOf(0), units: large })
    ]).toEqual([null, null])
  })

  it("never differ on whether a change of terms only tightens", () => {
    const unchanged = fc.subarray(["priceSource", "freshness", "haircut", "maxShare"] as const)
    fc.assert(
      fc.property(reserve, reserve, fc.boolean(), unchanged, (from, other, isMinCover, kept) => {
        const before = { engine: booksOf(from).terms, ledger: termsOf(from) }
        const after = { engine: booksOf(other).terms, ledger: termsOf(other) }
        /** The terms after, but for the members that stay as they were. */
        const changed = <K extends (typeof kept)[number], A extends Readonly<Record<K, unknown>>>(
          assets: ReadonlyArray<A>,
          olds: ReadonlyArray<A>
        ) =>
          assets.map((asset, n) => ({
            ...asset,
            ...Object.fromEntries(
              Object.entries(olds[n] ?? {}).filter(([name]) => kept.some((one) => one === name))
            )
          }))
        const minCover = isMinCover ? from.minCover : other.minCover
        const direction = TermsRules.directionOf({
          from: before.engine,
          to: { minCover, assets: changed(after.engine.assets, before.engine.assets) }
        })
        const to = { minCover, assets: changed(after.ledger.assets, before.ledger.assets) }
        expect(Ledger.onlyTightens(before.ledger, to)).toBe(direction !== "loosen")
      }),
      { numRuns: 1000 }
    )
  })
})
