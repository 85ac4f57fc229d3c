/**
 * Arithmetic of reserves as the ledger does it, in exact fractions and apart from the engine's:
 * value and cover of locked assets, share price, units of a mint, payout of a redemption.
 */
import { Decimal, type Instant, Rational } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { sameAsset } from "./Registry.ts"

type Reserve = Templates.Payload<typeof Templates.Reserve>
type Terms = Templates.ReserveTerms
type Point = Pick<Templates.Payload<typeof Templates.OraclePoint>, "value" | "valuationTime">

/** Locked amount of an asset, its terms, and the point that prices it. */
export interface AssetState {
  readonly terms: Templates.ReserveAssetTerms
  readonly amount: Decimal.Decimal
  readonly point: Point | null
}

/** A reserve as it is judged at an instant. */
export interface State {
  readonly reserve: Pick<Reserve, "parValue" | "initialSharePrice" | "decimals" | "priceDecimals">
  readonly minCover: Decimal.Decimal
  readonly assets: ReadonlyArray<AssetState>
  readonly outstanding: Decimal.Decimal
  readonly now: Instant.Instant
}

const microsOf = (nanos: bigint): bigint => nanos / 1_000n

/** Price of one unit, 0 where the source published 0 or less; null where the source has no point. */
export const priceOf = ({ terms, point }: AssetState): Decimal.Decimal | null => {
  if (terms.priceSource === null) return Decimal.one
  return point === null ? null : Decimal.max(point.value, Decimal.zero)
}

/** Checks that the point counts: it is not of the future, and no older than the terms allow. */
export const isFresh = ({ terms, point }: AssetState, now: Instant.Instant): boolean => {
  if (terms.priceSource === null) return true
  if (point === null || point.valuationTime > now) return false
  return terms.freshness === null || microsOf(now - point.valuationTime) <= BigInt(terms.freshness)
}

const isUnpriced = (asset: AssetState): boolean =>
  Decimal.isPositive(asset.amount) && priceOf(asset) === null

const grossOf = (asset: AssetState): Rational.Rational =>
  Rational.multiply(Rational.of(asset.amount), Rational.of(priceOf(asset) ?? Decimal.zero))

/** Worth of the asset that may count, before its cap. */
export const valueOf = (asset: AssetState, now: Instant.Instant): Rational.Rational =>
  isFresh(asset, now)
    ? Rational.multiply(
        grossOf(asset),
        Rational.subtract(Rational.one, Rational.of(asset.terms.haircut))
      )
    : Rational.zero

const outstandingValueOf = ({ reserve, assets, outstanding }: State): Rational.Rational => {
  if (reserve.parValue !== null) {
    return Rational.multiply(Rational.of(outstanding), Rational.of(reserve.parValue))
  }
  return Decimal.isZero(outstanding) ? Rational.zero : Rational.sum(assets.map(grossOf))
}

const requiredOf = (state: State): Rational.Rational =>
  Rational.multiply(Rational.of(state.minCover), outstandingValueOf(state))

/**
 * Checks that decimals hold the figures of the reserve: its requirement, the values of its fresh assets
 * together, and these by the worth of what is outstanding. Arithmetic beyond a decimal fails a choice.
 */
export const hasFigures = (state: State): boolean => {
  const worth = outstandingValueOf(state)
  const values = Rational.sum(state.assets.map((asset) => valueOf(asset, state.now)))
  return (
    Rational.fits(requiredOf(state)) &&
    Rational.fits(values) &&
    (Rational.isZero(worth) || Rational.fits(Rational.divide(values, worth)))
  )
}

export const countedOf = (asset: AssetState, state: State): Rational.Rational => {
  const value = valueOf(asset, state.now)
  const { maxShare } = asset.terms
  return maxShare === null
    ? value
    : Rational.min(value, Rational.multiply(Rational.of(maxShare), requiredOf(state)))
}

/** Checks that units are outstanding and own assets that are all worth nothing. */
const isLost = (state: State): boolean =>
  Decimal.isPositive(state.outstanding) &&
  Rational.isZero(outstandingValueOf(state)) &&
  state.assets.some((asset) => {
    const price = priceOf(asset)
    return price !== null && Decimal.isZero(price) && Decimal.isPositive(asset.amount)
  })

export const coverOf = (state: State): Templates.LedgerCover => {
  const worth = outstandingValueOf(state)
  const required = requiredOf(state)
  const counted = Rational.sum(state.assets.map((asset) => countedOf(asset, state)))
  const isLow = Rational.lessThan(counted, required)
  const lowState = state.assets.some(isUnpriced) ? "unknown" : "low"
  return {
    required: Rational.round(required, { places: 10, rounding: "ceiling" }),
    counted: Rational.round(counted, { places: 10, rounding: "floor" }),
    ratio: Rational.isZero(worth)
      ? null
      : Rational.round(Rational.divide(counted, worth), { places: 10, rounding: "floor" }),
    state: isLow || isLost(state) ? lowState : "covered"
  }
}

/** Worth of one unit, rounded; null: a locked asset has no price, or the units own nothing or too much. */
export const sharePriceOf = (
  { reserve, assets, outstanding }: State,
  rounding: "floor" | "ceiling"
): Decimal.Decimal | null => {
  if (reserve.parValue !== null) return reserve.parValue
  if (assets.some(isUnpriced)) return null
  const exact = Decimal.isZero(outstanding)
    ? Rational.of(reserve.initialSharePrice ?? Decimal.one)
    : Rational.divide(Rational.sum(assets.map(grossOf)), Rational.of(outstanding))
  if (!Rational.fits(exact)) return null
  const places = reserve.priceDecimals
  const isWorthless = Decimal.isZero(Rational.round(exact, { places, rounding: "floor" }))
  return isWorthless ? null : Rational.round(exact, { places, rounding })
}

/** Units that an amount of an asset mints; null where there is no price. */
export const mintedBy = (
  state: State,
  { asset, deposit }: { readonly asset: AssetState; readonly deposit: Decimal.Decimal }
): Decimal.Decimal | null => {
  const price = priceOf(asset)
  const share = sharePriceOf(state, "ceiling")
  if (price === null || share === null || Decimal.isZero(price)) return null
  const worth = Rational.multiply(Rational.of(deposit), Rational.of(price))
  return figureOf(state, Rational.divide(worth, Rational.of(share)))
}

/** Amount of an asset that units are paid; null where there is no price. */
export const paidFor = (
  state: State,
  { asset, units }: { readonly asset: AssetState; readonly units: Decimal.Decimal }
): Decimal.Decimal | null => {
  const price = priceOf(asset)
  const share = sharePriceOf(state, "floor")
  if (price === null || share === null || Decimal.isZero(price)) return null
  const worth = Rational.multiply(Rational.of(units), Rational.of(share))
  return figureOf(state, Rational.divide(worth, Rational.of(price)))
}

/** An order's figure as the ledger rounds it; null: no decimal holds it. */
const figureOf = ({ reserve }: State, exact: Rational.Rational): Decimal.Decimal | null =>
  Rational.fits(exact)
    ? Rational.round(exact, { places: reserve.decimals, rounding: "floor" })
    : null

/** A worth as a report shows it: rounded down to 10 places. */
export const shown = (worth: Rational.Rational): Decimal.Decimal =>
  Rational.round(worth, { places: 10, rounding: "floor" })

/** The state with an amount of an asset, and units outstanding, more or fewer. */
export const moved = (
  state: State,
  by: {
    readonly asset: Templates.Asset
    readonly amount: Decimal.Decimal
    readonly units: Decimal.Decimal
  }
): State => ({
  ...state,
  outstanding: Decimal.add(state.outstanding, by.units),
  assets: state.assets.map((asset) =>
    sameAsset(asset.terms.asset, by.asset)
      ? { ...asset, amount: Decimal.add(asset.amount, by.amount) }
      : asset
  )
})

// ---- terms

const isFraction = (fraction: Decimal.Decimal): boolean =>
  !Decimal.isNegative(fraction) && Decimal.atMost(fraction, Decimal.one)

const keysOf = (assets: Terms["assets"]): ReadonlySet<string> =>
  new Set(assets.map(({ asset }) => JSON.stringify([asset.admin, asset.id])))

interface TermsOfInstrument {
  readonly terms: Terms
  readonly instrument: Templates.Asset
}

/** Preconditions of terms: they could be those of a reserve of the instrument. */
export const sound = [
  [
    "the least cover is above 0",
    ({ terms }: TermsOfInstrument) => Decimal.isPositive(terms.minCover)
  ],
  [
    `there are 1 to ${Templates.reserveAssetsMax} assets, and none of them twice`,
    ({ terms: { assets } }: TermsOfInstrument) =>
      assets.length > 0 &&
      assets.length <= Templates.reserveAssetsMax &&
      keysOf(assets).size === assets.length
  ],
  [
    "no asset is the instrument itself",
    ({ terms, instrument }: TermsOfInstrument) =>
      terms.assets.every(({ asset }) => !sameAsset(asset, instrument))
  ],
  [
    "a haircut is a fraction below 1",
    ({ terms }: TermsOfInstrument) =>
      terms.assets.every(
        ({ haircut }) => isFraction(haircut) && !Decimal.equals(haircut, Decimal.one)
      )
  ],
  [
    "a largest share is a fraction above 0",
    ({ terms }: TermsOfInstrument) =>
      terms.assets.every(
        ({ maxShare }) =>
          maxShare === null || (isFraction(maxShare) && Decimal.isPositive(maxShare))
      )
  ],
  [
    "only an asset with a price source has a longest age of its points",
    ({ terms }: TermsOfInstrument) =>
      terms.assets.every(({ priceSource, freshness }) => priceSource !== null || freshness === null)
  ]
] as const

/** Checks that a limit does not permit more: null is no limit. */
const isWithin = <A>(
  limit: A | null,
  before: A | null,
  atMost: (left: A, right: A) => boolean
): boolean => before === null || (limit !== null && atMost(limit, before))

/** Checks that new terms permit nothing that the terms before did not. */
export const onlyTightens = (before: Terms, terms: Terms): boolean =>
  Decimal.atLeast(terms.minCover, before.minCover) &&
  terms.assets.every((asset) => {
    const old = before.assets.find((found) => sameAsset(found.asset, asset.asset))
    return (
      old !== undefined &&
      asset.priceSource === old.priceSource &&
      Decimal.atLeast(asset.haircut, old.haircut) &&
      isWithin(asset.maxShare, old.maxShare, Decimal.atMost) &&
      isWithin(asset.freshness, old.freshness, (left, right) => left <= right)
    )
  })
