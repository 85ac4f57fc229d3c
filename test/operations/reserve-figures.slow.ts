/**
 * Figures of random reserves: the view, the ledger's report and prechecks never differ from one another,
 * nor from books that the test keeps in fractions of whole numbers.
 */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { world } from "../engine/world.ts"
import * as Books from "../simulated-ledger/reserve-books.ts"
import type * as Backed from "./backed.ts"
import * as Backing from "./backed.ts"
import * as Covered from "./covered.ts"
import * as Stated from "./stated-reserves.ts"

const text = (atoms: bigint) => Decimal.formatPlain(Decimal.fromAtoms(atoms))
const atomsOf = (decimal: string) => Decimal.atoms(Decimal.of(decimal))
const between = (min: bigint, max: bigint) => fc.bigInt({ min, max }).map(text)
const one = Books.unit

/** Amounts of few or many places, from a hundredth of a unit. */
const amount = fc.oneof(
  fc.bigInt({ min: 1n, max: 2000n }).map((n) => text(n * one)),
  between(one / 100n, 2000n * one)
)
/** Now and then a price of 0, at which an asset counts as nothing. */
const price = fc.oneof(
  { weight: 4, arbitrary: fc.constant("1") },
  { weight: 4, arbitrary: between(one / 10_000n, 3n * one) },
  { weight: 1, arbitrary: fc.constant("0") }
)
/** Parts of a whole, by twentieths or of ten places. */
const part = fc.oneof(
  fc.bigInt({ min: 1n, max: 19n }).map((n) => text((n * one) / 20n)),
  between(one / 1_000n, one - 1n)
)
const coverOf = (most: bigint) =>
  fc.oneof(
    fc.bigInt({ min: 1n, max: most }).map((n) => text((n * one) / 20n)),
    between(one / 20n, (most * one) / 20n)
  )
/** Ages around the hour that terms allow, at this instant, and of the future. */
const age = fc.constantFrom(0, 1, Stated.hour - 1, Stated.hour, Stated.hour + 1, -1)

const asset = fc.record({
  units: fc.oneof({ weight: 1, arbitrary: fc.constant("0") }, { weight: 5, arbitrary: amount }),
  source: fc.constantFrom("none", "unpublished", "priced", "priced", "priced", "priced"),
  price,
  age,
  freshness: fc.constantFrom("PT1H", "PT1H", null),
  haircut: fc.option(part, { nil: "0" }),
  maxShare: fc.option(part)
})
type Asset = typeof asset extends fc.Arbitrary<infer A> ? A : never

/** A later moment: other prices, and more locked or outstanding. */
const moment = fc.record({
  prices: fc.array(fc.option(fc.record({ price, age })), { minLength: 4, maxLength: 4 }),
  locks: fc.option(fc.record({ which: fc.nat(3), amount })),
  issues: fc.option(between(1n, 500_000_000n).map((n) => text(atomsOf(n) * 10_000n)))
})

const reserve = fc.boolean().chain((isPar) =>
  fc.record({
    isPar: fc.constant(isPar),
    assets: fc.array(asset, { minLength: 1, maxLength: 4 }),
    minCover: coverOf(isPar ? 30n : 20n),
    unitPrice: between(one / 2n, 5n * one),
    outstanding: fc.oneof(fc.constant("0"), between(1n, 200_000n).map(millions)),
    counted: fc.option(between(1n, 200_000n).map(millions), { freq: 3 }),
    decimals: fc.constantFrom(0, 2, 6, 6, 10),
    priceDecimals: fc.constantFrom(1, 6, 10, 10),
    moments: fc.array(moment, { minLength: 1, maxLength: 3 }),
    asks: fc.array(fc.record({ which: fc.nat(3), amount: between(one / 10_000n, 300n * one) }), {
      minLength: 2,
      maxLength: 3
    })
  })
)
type Random = typeof reserve extends fc.Arbitrary<infer A> ? A : never

/** An amount of units of at most six places: atoms of a millionth in steps of a hundredth. */
function millions(decimal: string): string {
  return text(atomsOf(decimal) * 10_000n * 10_000n)
}

const nameOf = (index: number) => `A${index}`

const priceOf = ({ source, price: published }: Asset) => {
  if (source === "none") return {}
  return { price: source === "priced" ? published : null }
}

/** The first asset counts whole, so that some deposits always meet the terms. */
const whole = (asset: Asset, index: number): Asset =>
  index === 0 ? { ...asset, haircut: "0", maxShare: null } : asset

const statedAs = (random: Random): Stated.Stated => ({
  assets: Object.fromEntries(
    random.assets.map(whole).map(({ source: _, ...rest }, index) => {
      const statedAsset = random.assets[index]
      const priced = statedAsset === undefined ? {} : priceOf(statedAsset)
      const { price: __, ...terms } = rest
      return [nameOf(index), { ...terms, ...priced }]
    })
  ),
  minCover: random.minCover,
  outstanding: random.outstanding,
  ...(random.counted === null ? {} : { counted: random.counted }),
  ...(random.isPar ? { parValue: random.unitPrice } : { accumulating: random.unitPrice }),
  decimals: random.decimals,
  priceDecimals: random.priceDecimals
})

/** The books of the test, but for the instant. */
interface Kept {
  readonly random: Random
  readonly locked: Map<string, bigint>
  readonly points: Map<string, Books.Point>
  /** Points that are dated ahead: they have no place before their time. */
  readonly ahead: Map<string, Books.Point>
  supply: bigint
}

const booksAt = ({ random, locked, points, supply }: Kept, now: bigint): Books.Books => ({
  isPar: random.isPar,
  unitPrice: atomsOf(random.unitPrice),
  decimals: BigInt(random.decimals),
  priceDecimals: BigInt(random.priceDecimals),
  terms: {
    minCover: atomsOf(random.minCover),
    assets: random.assets.map(whole).map(({ freshness, haircut, maxShare, source }, index) => ({
      asset: nameOf(index),
      isPriced: source !== "none",
      freshness: freshness === null || source === "none" ? null : BigInt(Stated.hour) * 1_000n,
      haircut: atomsOf(haircut),
      maxShare: maxShare === null ? null : atomsOf(maxShare)
    }))
  },
  outstanding: supply > atomsOf(random.counted ?? "0") ? supply : atomsOf(random.counted ?? "0"),
  ...{ locked, points, now }
})

const shown = (atoms: bigint | null) => (atoms === null ? "null" : text(atoms))
const decimalText = (decimal: Decimal.Decimal | null) =>
  decimal === null ? "null" : Decimal.formatPlain(decimal)

const asViewed = (books: Books.Books) =>
  Books.figuresOf(books, 2n).assets.map(({ asset: name, isFresh, value, cap, counted }) =>
    [name, isFresh, shown(value), shown(cap), shown(counted)].join(" ")
  )
const asReported = (books: Books.Books) =>
  Books.figuresOf(books, 10n).assets.map(({ asset: name, isFresh, value, counted }) =>
    [name, isFresh, shown(value), shown(counted)].join(" ")
  )

const totals = ({ required, counted, ratio, state, share }: Books.Figures) => [
  shown(required),
  shown(counted),
  shown(ratio),
  state,
  shown(share?.[0] ?? null)
]

type Agreed = Effect.Success<typeof Stated.agreed>

/** Asserts what the view and the report say, and that just as much as they say may be minted. */
const figuresAgree = (books: Books.Books, { report, view }: Agreed) => {
  expect(
    view.assets.map(({ asset: { id }, fresh, value, cap, counted }) =>
      [id, fresh, decimalText(value), decimalText(cap), decimalText(counted)].join(" ")
    )
  ).toEqual(asViewed(books))
  expect(
    report.assets.map(({ asset: { id }, fresh, value, counted }) =>
      [id, fresh, decimalText(value), decimalText(counted)].join(" ")
    )
  ).toEqual(asReported(books))
  for (const [read, places] of [[view, 2n] as const, [report, 10n] as const]) {
    const { required, counted, cover, sharePrice } = read
    expect([
      ...[required, counted, cover.ratio].map(decimalText),
      cover.state,
      decimalText(sharePrice)
    ]).toEqual(totals(Books.figuresOf(books, places)))
  }
  const mintable = Decimal.atoms(view.mintable)
  const { share, state } = Books.figuresOf(books, 10n)
  if (share === null || state !== "covered") {
    expect(mintable, "mintable").toBe(0n)
    return
  }
  const atom = one / 10n ** BigInt(books.decimals)
  expect(Books.wouldCover(books, mintable), "what may be minted").toBe(true)
  expect(Books.wouldCover(books, mintable + atom), "one atom more").toBe(false)
}

/** Figures of a move and the cover once it is done; a ratio of nothing is left out. */
const coverText = (before: Books.Books, after: Books.Books) => {
  const { counted, ratio: coverAfter, required } = Books.figuresOf(after, 2n)
  const { ratio: coverBefore } = Books.figuresOf(before, 2n)
  return {
    ...(coverBefore === null ? {} : { coverBefore: text(coverBefore) }),
    ...(coverAfter === null ? {} : { coverAfter: text(coverAfter) }),
    ...{ counted: text(counted), required: text(required) }
  }
}

interface AssetAmount {
  readonly asset: string
  readonly amount: bigint
}

/** Asserts the answer of a mint's precheck: its figures, and which checks of prices and cover refuse it. */
const mintAgrees = (
  books: Books.Books,
  { asset: name, amount: deposit }: AssetAmount,
  { figures, refused }: Effect.Success<ReturnType<typeof Stated.precheck>>
) => {
  const units = Books.unitsOf(books, { asset: name, amount: deposit })
  const isStale = books.terms.assets.some(
    ({ asset: id }) =>
      Books.priceOf(books, id) !== null &&
      !Books.isFresh(books, id) &&
      (id === name || (!books.isPar && (books.locked.get(id) ?? 0n) > 0n))
  )
  const after = Books.moved(books, { asset: name, amount: deposit, units: units ?? 0n })
  const checks = [
    ...(units === 0n ? ["too-small"] : []),
    ...(units === null ? ["price-known"] : []),
    ...(isStale ? ["price-fresh"] : []),
    ...(units !== null && !Books.isCovered(after) ? ["cover"] : [])
  ]
  expect(refused).toEqual(checks)
  if (units === null) {
    expect(figures).toBeNull()
    return
  }
  const { share } = Books.figuresOf(books, 10n)
  expect(figures).toEqual({
    price: text(Books.priceOf(books, name) ?? 0n),
    sharePrice: shown(share?.[1] ?? null),
    units: text(units),
    ...coverText(books, after)
  })
}

/** Asserts the answer of a redemption's precheck. */
const redemptionAgrees = (
  books: Books.Books,
  { asset: name, amount: units, free }: AssetAmount & { readonly free: bigint },
  { figures, refused }: Effect.Success<ReturnType<typeof Stated.precheck>>
) => {
  const payout = Books.payoutOf(books, { asset: name, units })
  const isStale = Books.priceOf(books, name) !== null && !Books.isFresh(books, name)
  const available = books.locked.get(name) ?? 0n
  const checks = [
    ...(units > free ? ["units-free"] : []),
    ...(payout === 0n ? ["too-small"] : []),
    ...(payout === null ? ["price-known"] : []),
    ...(isStale ? ["price-fresh"] : []),
    ...(payout !== null && payout > available ? ["asset-available"] : [])
  ]
  expect(refused).toEqual(checks)
  if (payout === null || units > books.outstanding || payout > available) {
    expect(figures).toBeNull()
    return
  }
  const { share } = Books.figuresOf(books, 10n)
  expect(figures).toEqual({
    price: text(Books.priceOf(books, name) ?? 0n),
    sharePrice: shown(share?.[0] ?? null),
    payout: text(payout),
    ...coverText(books, Books.moved(books, { asset: name, amount: -payout, units: -units }))
  })
}

/** Least deposits of an asset that mint as much as the view says may be, and one atom more. */
const nearMost = (books: Books.Books, name: string, { view }: Agreed): ReadonlyArray<bigint> => {
  const mintable = Decimal.atoms(view.mintable)
  const worth = Books.priceOf(books, name)
  const { share } = Books.figuresOf(books, 10n)
  if (mintable === 0n || worth === null || worth === 0n || share === null) return []
  const atom = one / 10n ** BigInt(books.decimals)
  return [mintable, mintable + atom].map((units) => (units * share[1] + worth - 1n) / worth)
}

const agrees = (scene: Backed.Scene, kept: Kept) =>
  Effect.gen(function* () {
    const { random } = kept
    const agreed = yield* Stated.agreed
    const books = booksAt(kept, agreed.now)
    figuresAgree(books, agreed)
    for (const { which, amount: given } of random.asks) {
      const name = nameOf(which % random.assets.length)
      const { at } = agreed
      for (const amount of [atomsOf(given), ...nearMost(books, name, agreed)]) {
        const ask = { asset: name, amount }
        const deposit = text(amount)
        mintAgrees(books, ask, yield* Stated.precheck(scene, { asset: name, deposit, at }))
      }
      const units = text((atomsOf(given) / 10_000n) * 10_000n)
      redemptionAgrees(
        books,
        { asset: name, amount: atomsOf(units), free: kept.supply },
        yield* Stated.precheck(scene, { asset: name, units, at })
      )
    }
  })

const notes = (
  kept: Kept,
  index: number,
  point: { readonly price: string; readonly age: number }
) =>
  Effect.map(Instant.now, (now) => {
    const at = (Instant.toEpochMicros(now) - BigInt(point.age)) * 1_000n
    const name = nameOf(index)
    ;(point.age < 0 ? kept.ahead : kept.points).set(name, { value: atomsOf(point.price), at })
  })

/** Three hours on: the oracle prices assets again, and more is locked or issued. */
const moves = (scene: Backed.Scene, kept: Kept, later: Random["moments"][number]) =>
  Effect.gen(function* () {
    yield* TestClock.adjust("3 hours")
    for (const [name, point] of kept.ahead) kept.points.set(name, point)
    kept.ahead.clear()
    for (const [index, one] of kept.random.assets.entries()) {
      const next = later.prices[index] ?? null
      if (next === null || one.source !== "priced") continue
      yield* Stated.publishes(scene, nameOf(index), next)
      yield* notes(kept, index, next)
    }
    if (later.locks !== null) {
      const name = nameOf(later.locks.which % kept.random.assets.length)
      const lock = { asset: Stated.assetOf(scene, name), amount: later.locks.amount }
      yield* Backing.locks(scene, lock)
      kept.locked.set(name, (kept.locked.get(name) ?? 0n) + atomsOf(lock.amount))
    }
    if (later.issues !== null) {
      yield* Covered.issues(scene, later.issues)
      kept.supply += atomsOf(later.issues)
    }
  })

const play = (random: Random) =>
  Effect.gen(function* () {
    const scene = yield* Stated.stands(statedAs(random))
    const kept: Kept = {
      random,
      locked: new Map(random.assets.map(({ units }, index) => [nameOf(index), atomsOf(units)])),
      points: new Map(),
      ahead: new Map(),
      supply: atomsOf(random.outstanding)
    }
    for (const [index, one] of random.assets.entries()) {
      if (one.source === "priced") yield* notes(kept, index, one)
    }
    yield* agrees(scene, kept)
    for (const later of random.moments) {
      yield* moves(scene, kept, later)
      yield* agrees(scene, kept)
    }
  })

describe("of a random reserve", () => {
  it("the view, the ledger's report and prechecks have the figures of the test's own books", () =>
    fc.assert(
      fc.asyncProperty(reserve, (random) =>
        Effect.runPromise(
          play(random).pipe(Effect.provide(world()), Effect.provide(TestClock.layer()))
        )
      ),
      { numRuns: Number(process.env["RESERVE_FIGURES"] ?? 5) }
    ))
})
