/**
 * Pure figures of a reserve: value, cap and counted part of each asset, cover, share price, units
 * that may be minted, and the figures of a mint or a redemption
 * (docs/domain/figures.md#reserve-figures).
 */
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Duration from "../../kernel/Duration.ts"
import * as Formula from "../../kernel/Formula.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Rational from "../../kernel/Rational.ts"
import * as Formulas from "../ReserveFormulas.ts"
import { type AssetId, type AssetTerms, keyOf, type ReserveTerms } from "./ReserveTerms.ts"

/** Price of an asset as its source published it. */
export interface AssetPoint {
  /** In the reserve's unit, for one unit of the asset. */
  readonly price: Decimal.Decimal
  readonly valuationTime: Instant.Instant
}

/** All inputs of the figures of a reserve, at one instant. */
export interface ReserveBooks {
  readonly valuation:
    | { readonly mode: "par"; readonly parValue: Decimal.Decimal }
    | {
        readonly mode: "accumulating"
        /** Price of one unit while none is outstanding. */
        readonly initialSharePrice: Decimal.Decimal
      }
  /** Terms in force at `at`. */
  readonly terms: ReserveTerms
  /** Units locked of each asset, by its key; an asset that is not there has none. */
  readonly locked: ReadonlyMap<string, Decimal.Decimal>
  /** Latest point of each asset that has a source, by its key; an asset that is not there has none. */
  readonly points: ReadonlyMap<string, AssetPoint>
  /** The larger of the supply and the ledger's own counter. */
  readonly outstanding: Decimal.Decimal
  readonly at: Instant.Instant
  /** Places of minted units and of payouts. */
  readonly decimals: number
  /** Places of an accumulating share price. */
  readonly priceDecimals: number
  /** Places of the reserve's unit of account. */
  readonly currencyDecimals: number
}

/**
 * Judges whether a point counts: it is no older than the terms allow, and not of the future. A limit
 * of null admits any age.
 */
export const isFresh = (
  { valuationTime }: Pick<AssetPoint, "valuationTime">,
  { freshness, at }: { readonly freshness: Duration.Duration | null; readonly at: Instant.Instant }
): boolean =>
  Instant.atOrBefore(valuationTime, at) &&
  (freshness === null || Instant.atOrBefore(at, Instant.add(valuationTime, freshness)))

/** An asset of the terms, with its locked amount and its price. */
export interface ReserveAsset extends AssetTerms {
  readonly key: string
  readonly units: Decimal.Decimal
  /** Null: its source has published no point. */
  readonly price: Decimal.Decimal | null
  readonly isFresh: boolean
}

/** Returns the assets of the terms in force, in their order. */
export const assetsOf = ({
  terms,
  locked,
  points,
  at
}: Pick<ReserveBooks, "terms" | "locked" | "points" | "at">): ReadonlyArray<ReserveAsset> =>
  terms.assets.map((asset) => {
    const key = keyOf(asset.asset)
    const units = locked.get(key) ?? Decimal.zero
    if (asset.priceSource === null)
      return { ...asset, key, units, price: Decimal.one, isFresh: true }
    const point = points.get(key)
    return point === undefined
      ? { ...asset, key, units, price: null, isFresh: false }
      : { ...asset, key, units, price: point.price, isFresh: isFresh(point, { ...asset, at }) }
  })

/** An asset that has a price. */
type PricedAsset = ReserveAsset & { readonly price: Decimal.Decimal }

const isPriced = (asset: ReserveAsset): asset is PricedAsset => asset.price !== null

/** Locked assets without a price. */
const isUnpriced = ({ units, price }: ReserveAsset): boolean =>
  price === null && Decimal.isPositive(units)

/** Locked assets of which the last published price is 0. */
export const isWorthless = ({ units, price }: ReserveAsset): boolean =>
  price !== null && Decimal.isZero(price) && Decimal.isPositive(units)

const listOf = <A extends { readonly key: string }>(
  assets: ReadonlyArray<A>,
  amountOf: (asset: A) => Decimal.Decimal
) => assets.map((asset) => ({ id: asset.key, amount: amountOf(asset) }))

const grossGiven = (priced: ReadonlyArray<PricedAsset>) => ({
  units: listOf(priced, ({ units }) => units),
  price: listOf(priced, ({ price }) => price)
})

const freeGiven = (free: ReadonlyArray<PricedAsset>) => ({
  freeUnits: listOf(free, ({ units }) => units),
  freePrice: listOf(free, ({ price }) => price),
  freeHaircut: listOf(free, ({ haircut }) => haircut)
})

/** A fresh asset whose share of the requirement is limited. */
type CappedAsset = PricedAsset & { readonly maxShare: Decimal.Decimal }

const isCapped = (asset: PricedAsset): asset is CappedAsset => asset.maxShare !== null

const cappedGiven = (capped: ReadonlyArray<CappedAsset>) => ({
  cappedUnits: listOf(capped, ({ units }) => units),
  cappedPrice: listOf(capped, ({ price }) => price),
  cappedHaircut: listOf(capped, ({ haircut }) => haircut),
  cappedShare: listOf(capped, ({ maxShare }) => maxShare)
})

// ---- cover

export type CoverState = "covered" | "low" | "unknown"

/** Figures of a reserve's cover, in its unit of account unless said. */
export interface Cover {
  readonly required: Decimal.Decimal
  readonly counted: Decimal.Decimal
  /**
   * Counted value divided by the value outstanding, rounded down to 10 places; null: nothing is
   * outstanding, or it is worth nothing.
   */
  readonly ratio: Decimal.Decimal | null
  /** `low` is judged on the exact figures. `unknown`: it is low, and a locked asset has no price. */
  readonly state: CoverState
}

/**
 * Computes the cover by reserve-cover-par or reserve-cover-accumulating. Where no decimal holds its
 * figures (`hasFigures`) it is unknown, without a ratio, and what is beyond is shown as the largest whole
 * decimal.
 */
export const coverOf = (books: ReserveBooks): Cover => {
  const assets = assetsOf(books)
  if (!hasFigures(books, assets)) return coverBeyond(books, assets)
  const { figures, terms } = coverFigures(books, assets)
  const { required, counted, ratio } = figures
  const exact = terms.required ?? Rational.of(required)
  const lowState = assets.some(isUnpriced) ? "unknown" : "low"
  // No unit is outstanding, or the units of an accumulating reserve own no asset. Units that own assets
  // which are all worth nothing are not covered.
  if (Rational.isZero(exact)) {
    const isLost = Decimal.isPositive(books.outstanding) && assets.some(isWorthless)
    return { required, counted, ratio: null, state: isLost ? lowState : "covered" }
  }
  const isLow = Rational.lessThan(terms.counted ?? Rational.of(counted), exact)
  return { required, counted, ratio, state: isLow ? lowState : "covered" }
}

/** Exact worth of the units outstanding. */
const outstandingValueOf = (
  { valuation, outstanding }: ReserveBooks,
  assets: ReadonlyArray<ReserveAsset>
): Rational.Rational => {
  if (valuation.mode === "par") {
    return Rational.multiply(Rational.of(outstanding), Rational.of(valuation.parValue))
  }
  const { price, units } = grossGiven(assets.filter(isPriced))
  return Decimal.isZero(outstanding)
    ? Rational.zero
    : Rational.sumOfProducts(amountsOf([units, price]))
}

const amountsOf = (
  lists: ReadonlyArray<ReadonlyArray<{ readonly amount: Decimal.Decimal }>>
): ReadonlyArray<ReadonlyArray<Decimal.Decimal>> =>
  lists.map((list) => list.map(({ amount }) => amount))

/**
 * Judges whether decimals hold the figures of a reserve: its requirement, the values of its fresh assets
 * together, and these by the worth of what is outstanding. Else the prices, or the amounts that others
 * registered, are too large: the cover is unknown, and no order has a figure.
 */
export const hasFigures = (
  books: ReserveBooks,
  assets: ReadonlyArray<ReserveAsset> = assetsOf(books)
): boolean => {
  const worth = outstandingValueOf(books, assets)
  const values = Rational.sum(assets.filter(isFreshlyPriced).map(valueOf))
  return (
    Rational.fits(Rational.multiply(Rational.of(books.terms.minCover), worth)) &&
    Rational.fits(values) &&
    (Rational.isZero(worth) || Rational.fits(Rational.divide(values, worth)))
  )
}

const isFreshlyPriced = (asset: ReserveAsset): asset is PricedAsset =>
  isPriced(asset) && asset.isFresh

/** Cover of which a figure is beyond every decimal. */
const coverBeyond = (books: ReserveBooks, assets: ReadonlyArray<ReserveAsset>): Cover => {
  const places = books.currencyDecimals
  const required = requiredOf(books, assets)
  const counted = Rational.sum(
    assets
      .filter(isFreshlyPriced)
      .map((asset) => Rational.min(valueOf(asset), capOf(asset, required)))
  )
  return {
    required: Rational.roundAtMost(required, { places, rounding: "ceiling" }),
    counted: Rational.roundAtMost(counted, { places, rounding: "floor" }),
    ratio: null,
    state: "unknown"
  }
}

/** Exact requirement. */
const requiredOf = (books: ReserveBooks, assets: ReadonlyArray<ReserveAsset>): Rational.Rational =>
  Rational.multiply(Rational.of(books.terms.minCover), outstandingValueOf(books, assets))

/** Exact cap of a fresh asset: where no cap limits it, its value. */
const capOf = (asset: PricedAsset, required: Rational.Rational): Rational.Rational =>
  asset.maxShare === null
    ? valueOf(asset)
    : Rational.multiply(Rational.of(asset.maxShare), required)

const coverFigures = (books: ReserveBooks, assets: ReadonlyArray<ReserveAsset>) => {
  const inputs = coverGivenOf(books, assets)
  return inputs.valuation === "par"
    ? Formula.computeExact(Formulas.reserveCoverPar, inputs.given)
    : Formula.computeExact(Formulas.reserveCoverAccumulating, inputs.given)
}

/** Inputs of the formula of the cover. */
export const coverGivenOf = (
  { valuation, terms: { minCover }, outstanding, currencyDecimals }: ReserveBooks,
  assets: ReadonlyArray<ReserveAsset>
) => {
  const priced = assets.filter(isPriced)
  const fresh = assets.filter(isFreshlyPriced)
  const inputs = {
    ...freeGiven(fresh.filter((asset) => !isCapped(asset))),
    ...cappedGiven(fresh.filter(isCapped)),
    outstanding,
    minCover,
    currencyDecimals
  }
  return valuation.mode === "par"
    ? ({ valuation: "par", given: { ...inputs, parValue: valuation.parValue } } as const)
    : ({ valuation: "accumulating", given: { ...inputs, ...grossGiven(priced) } } as const)
}

/** Figures of one asset, in the reserve's unit of account. */
export interface AssetFigures {
  readonly value: Decimal.Decimal
  /** Most that the asset may count; null: no limit. */
  readonly cap: Decimal.Decimal | null
  readonly counted: Decimal.Decimal
}

/**
 * Computes the value and the counted part of each asset, in the order of the terms. Where no decimal
 * holds the figures of the reserve, what is beyond is shown as the largest whole decimal.
 */
export const assetFiguresOf = (
  books: ReserveBooks,
  assets: ReadonlyArray<ReserveAsset> = assetsOf(books)
): ReadonlyArray<AssetFigures> => {
  if (!hasFigures(books, assets)) return figuresBeyond(books, assets)
  return assets.map((asset) => {
    const { value, counted } = Formula.compute(Formulas.reserveValue, valueGivenOf(asset, books))
    const cap = capGivenOf(asset, { books, assets, value })
    if (cap === null) return { value, cap, counted }
    return {
      value,
      ...(cap.valuation === "par"
        ? Formula.compute(Formulas.reserveCapPar, cap.given)
        : Formula.compute(Formulas.reserveCapAccumulating, cap.given))
    }
  })
}

const figuresBeyond = (
  books: ReserveBooks,
  assets: ReadonlyArray<ReserveAsset>
): ReadonlyArray<AssetFigures> => {
  const required = requiredOf(books, assets)
  const rounded = (exact: Rational.Rational) =>
    Rational.roundAtMost(exact, { places: books.currencyDecimals, rounding: "floor" })
  return assets.map((asset) => {
    const value = isFreshlyPriced(asset) ? valueOf(asset) : Rational.zero
    const most =
      asset.maxShare === null ? null : Rational.multiply(Rational.of(asset.maxShare), required)
    return {
      value: rounded(value),
      cap: most === null ? null : rounded(most),
      counted: rounded(most === null ? value : Rational.min(value, most))
    }
  })
}

/** Inputs of the formula of an asset's value. */
export const valueGivenOf = (
  { units, price, haircut, isFresh }: ReserveAsset,
  { currencyDecimals }: Pick<ReserveBooks, "currencyDecimals">
) =>
  ({
    units,
    price: price ?? Decimal.zero,
    haircut,
    freshness: isFresh ? "fresh" : "stale",
    currencyDecimals
  }) as const

/** Inputs of the formula of an asset's cap; null: no cap limits it. */
export const capGivenOf = (
  { maxShare }: ReserveAsset,
  figures: Pick<AssetFigures, "value"> & {
    readonly books: ReserveBooks
    readonly assets: ReadonlyArray<ReserveAsset>
  }
) => {
  if (maxShare === null) return null
  const { assets, value } = figures
  const { currencyDecimals, outstanding, terms, valuation } = figures.books
  const inputs = { value, maxShare, minCover: terms.minCover, outstanding, currencyDecimals }
  return valuation.mode === "par"
    ? ({ valuation: "par", given: { ...inputs, parValue: valuation.parValue } } as const)
    : ({
        valuation: "accumulating",
        given: { ...inputs, ...grossGiven(assets.filter(isPriced)) }
      } as const)
}

// ---- share price

/** Worth of one unit, rounded both ways; equal where the reserve is at par. */
export interface SharePrice {
  /** Rounded down, as redemptions are paid. */
  readonly down: Decimal.Decimal
  /** Rounded up, as mints are priced. */
  readonly up: Decimal.Decimal
}

/**
 * Computes the price of one unit by share-price, or returns the par value. Null while a locked asset
 * of an accumulating reserve has no price, while its units own nothing, or while one of them owns more
 * than a decimal holds: then no order starts or settles.
 */
export const sharePriceOf = (books: ReserveBooks): SharePrice | null => {
  const { valuation } = books
  if (valuation.mode === "par") return { down: valuation.parValue, up: valuation.parValue }
  const inputs = sharePriceGivenOf(books)
  if (inputs === null || !Rational.fits(exactShareOf(inputs))) return null
  const { sharePrice: down, sharePriceUp: up } = Formula.compute(Formulas.sharePrice, inputs)
  return Decimal.isZero(down) ? null : { down, up }
}

/** Inputs of the formula of the share price; null where the formula does not give it. */
export const sharePriceGivenOf = (books: ReserveBooks) => {
  const inputs = shareGiven(books)
  return inputs === null ? null : { ...inputs, priceDecimals: books.priceDecimals }
}

const shareGiven = (books: ReserveBooks) => {
  const { valuation, outstanding } = books
  const assets = assetsOf(books)
  if (valuation.mode === "par" || assets.some(isUnpriced)) return null
  const { initialSharePrice } = valuation
  return { ...grossGiven(assets.filter(isPriced)), outstanding, initialSharePrice }
}

/** Exact worth of one unit of an accumulating reserve. */
const exactShareOf = ({
  initialSharePrice,
  outstanding,
  price,
  units
}: NonNullable<ReturnType<typeof shareGiven>>): Rational.Rational => {
  if (Decimal.isZero(outstanding)) return Rational.of(initialSharePrice)
  return Rational.divide(
    Rational.sumOfProducts(amountsOf([units, price])),
    Rational.of(outstanding)
  )
}

// ---- what may be minted

/** Exact value that a fresh asset counts at most. */
const valueOf = ({ units, price, haircut }: PricedAsset): Rational.Rational =>
  Rational.multiply(
    Rational.multiply(Rational.of(units), Rational.of(price)),
    Rational.subtract(Rational.one, Rational.of(haircut))
  )

/**
 * Splits the fresh assets at the largest requirement that the reserve meets: those that count their
 * caps there, and those that count their values.
 *
 * The counted value grows with the requirement, ever more slowly, since each cap is a fraction of the
 * requirement. For any set of caps taken to bind, the free values divided by 1 less the caps is
 * at least the largest requirement that is met, and for the caps that do bind there it is equal. An
 * asset's cap binds below value/maxShare, so only the sets that begin at one of these points, in
 * their order, can be the binding one: the least of their results is the largest requirement.
 */
const splitAtLargest = (fresh: ReadonlyArray<PricedAsset>) => {
  const capped = fresh
    .filter(isCapped)
    .map((asset) => ({
      asset,
      bindsBelow: Rational.divide(valueOf(asset), Rational.of(asset.maxShare))
    }))
    .toSorted((a, b) => Rational.compare(b.bindsBelow, a.bindsBelow))
    .map(({ asset }) => asset)
  let shares = Rational.zero
  let free = Rational.sum(fresh.map(valueOf))
  let best = { largest: free, count: 0 }
  for (const [index, asset] of capped.entries()) {
    shares = Rational.add(shares, Rational.of(asset.maxShare))
    free = Rational.subtract(free, valueOf(asset))
    if (!Rational.lessThan(shares, Rational.one)) break
    const largest = Rational.divide(free, Rational.subtract(Rational.one, shares))
    if (Rational.lessThan(largest, best.largest)) best = { largest, count: index + 1 }
  }
  const binding = capped.slice(0, best.count)
  const { largest } = best
  return {
    binding,
    largest,
    free: fresh.filter((asset) => !binding.some(({ key }) => key === asset.key))
  }
}

/**
 * Computes the units that may still be minted against the locked assets, by mintable-par or
 * mintable-accumulating; the share price is that of the present. 0 where the cover is low or
 * unknown, where there is no share price, and where no decimal holds so many units, or the figures
 * of the reserve.
 */
export const mintableOf = (books: ReserveBooks): Decimal.Decimal => {
  const inputs = mintableGivenOf(books)
  if (inputs === null) return Decimal.zero
  return inputs.valuation === "par"
    ? Formula.compute(Formulas.mintablePar, inputs.given).mintable
    : Formula.compute(Formulas.mintableAccumulating, inputs.given).mintable
}

/**
 * Inputs of the formula of the units that may be minted; null: nothing is minted without a share
 * price or figures, and no decimal holds the units of a share that is worth too little.
 */
export const mintableGivenOf = (books: ReserveBooks) => {
  const { valuation, terms, outstanding, decimals } = books
  const assets = assetsOf(books)
  if (!hasFigures(books, assets)) return null
  const fresh = assets.filter(isFreshlyPriced)
  const { binding, free, largest } = splitAtLargest(fresh)
  const isCountable = (unitWorth: Rational.Rational) =>
    Rational.fits(
      Rational.divide(largest, Rational.multiply(Rational.of(terms.minCover), unitWorth))
    )
  const inputs = {
    ...freeGiven(free),
    bindingShare: listOf(binding, ({ maxShare }) => maxShare),
    minCover: terms.minCover,
    outstanding,
    decimals
  }
  if (valuation.mode === "par") {
    const { parValue } = valuation
    return isCountable(Rational.of(parValue))
      ? ({ valuation: "par", given: { ...inputs, parValue } } as const)
      : null
  }
  const share = shareGiven(books)
  return share === null || sharePriceOf(books) === null || !isCountable(exactShareOf(share))
    ? null
    : ({ valuation: "accumulating", given: { ...inputs, ...share } } as const)
}

// ---- orders

/** A mint or a redemption: the asset that is deposited or paid out, its amount, and the units. */
export interface ReserveMove {
  readonly asset: AssetId
  /** Amount of the asset. */
  readonly amount: Decimal.Decimal
  /** Units of the instrument. */
  readonly units: Decimal.Decimal
}

const priceOf = (books: ReserveBooks, asset: AssetId): Decimal.Decimal | null => {
  const key = keyOf(asset)
  return assetsOf(books).find((found) => found.key === key)?.price ?? null
}

/** Checks that a decimal holds the worth of an amount at a price, divided by another price. */
const isTellable = (
  amount: Decimal.Decimal,
  { at, by }: { readonly at: Decimal.Decimal; readonly by: Decimal.Decimal }
): boolean => {
  const worth = Rational.multiply(Rational.of(amount), Rational.of(at))
  return Rational.fits(Rational.divide(worth, Rational.of(by)))
}

/**
 * Computes the units that a deposit mints, by mint-units; null where the asset or the share has no
 * price, the asset is worth nothing, or no decimal holds the units or the figures of the reserve. The gates judge apart whether the
 * price is fresh and the cover holds.
 */
export const mintUnitsOf = (
  books: ReserveBooks,
  { asset, deposit }: { readonly asset: AssetId; readonly deposit: Decimal.Decimal }
): Decimal.Decimal | null => {
  const price = priceOf(books, asset)
  const share = sharePriceOf(books)
  if (price === null || share === null || Decimal.isZero(price) || !hasFigures(books)) return null
  if (!isTellable(deposit, { at: price, by: share.up })) return null
  const inputs = { deposit, price, sharePrice: share.up, decimals: books.decimals }
  return Formula.compute(Formulas.mintUnits, inputs).units
}

/**
 * Computes the amount of an asset that redeemed units are paid, by redeem-payout; null where the
 * asset or the share has no price, the asset is worth nothing, or no decimal holds the amount or the
 * figures of the reserve.
 */
export const redeemPayoutOf = (
  books: ReserveBooks,
  { asset, units }: { readonly asset: AssetId; readonly units: Decimal.Decimal }
): Decimal.Decimal | null => {
  const price = priceOf(books, asset)
  const share = sharePriceOf(books)
  if (price === null || share === null || Decimal.isZero(price) || !hasFigures(books)) return null
  if (!isTellable(units, { at: share.down, by: price })) return null
  const inputs = { units, price, sharePrice: share.down, decimals: books.decimals }
  return Formula.compute(Formulas.redeemPayout, inputs).payout
}

const moved = (
  books: ReserveBooks,
  { asset, amount, units }: ReserveMove,
  change: (before: Decimal.Decimal, by: Decimal.Decimal) => Decimal.Decimal
): ReserveBooks => {
  const key = keyOf(asset)
  const locked = new Map(books.locked)
  locked.set(key, change(locked.get(key) ?? Decimal.zero, amount))
  return { ...books, locked, outstanding: change(books.outstanding, units) }
}

/**
 * The books once a mint has settled; null: no decimal holds the amount that is then locked or
 * outstanding.
 */
export const afterMint = (books: ReserveBooks, mint: ReserveMove): ReserveBooks | null => {
  const locked = books.locked.get(keyOf(mint.asset)) ?? Decimal.zero
  return isCountable(locked, mint.amount) && isCountable(books.outstanding, mint.units)
    ? moved(books, mint, Decimal.add)
    : null
}

/** Checks that a decimal holds a count with so much more of it. */
const isCountable = (count: Decimal.Decimal, more: Decimal.Decimal): boolean =>
  Rational.fits(Rational.add(Rational.of(count), Rational.of(more)))

/** The books once a redemption has settled. */
export const afterRedemption = (books: ReserveBooks, redemption: ReserveMove): ReserveBooks =>
  moved(books, redemption, Decimal.subtract)

/**
 * Judges whether the whole locked amount of an asset may be released to the reserve's holder:
 * nothing is outstanding, or nothing of the asset is locked, or the units are at par and the other
 * assets cover them. The units of an accumulating reserve own all of it: their worth, and so the
 * requirement, would fall with the release, so that the cover does not show their loss.
 */
export const isReleasable = (books: ReserveBooks, asset: AssetId): boolean => {
  const key = keyOf(asset)
  if (Decimal.isZero(books.outstanding)) return true
  if (Decimal.isZero(books.locked.get(key) ?? Decimal.zero)) return true
  if (books.valuation.mode === "accumulating") return false
  return coverOf(withoutAsset(books, asset)).state === "covered"
}

/** The books with nothing locked of an asset. */
export const withoutAsset = (books: ReserveBooks, asset: AssetId): ReserveBooks => {
  const locked = new Map(books.locked)
  locked.delete(keyOf(asset))
  return { ...books, locked }
}

/**
 * Judges an order at its settlement: its figure was fixed at its start and is kept where the formula
 * now gives as much or more. `price-moved`: the formula gives less, so that the party would be
 * better off at the expense of the others. `price-known`: the formula gives nothing.
 */
export const settlementFault = (
  fixed: Decimal.Decimal,
  computed: Decimal.Decimal | null
): "price-moved" | "price-known" | null => {
  if (computed === null) return "price-known"
  return Decimal.lessThan(computed, fixed) ? "price-moved" : null
}
