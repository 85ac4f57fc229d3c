/**
 * Books that tests of reserves keep by themselves, in fractions of whole numbers: what a reserve
 * counts, what it must count, and the figures of its orders. Nothing here is read off the code under test.
 */

/** Ten-billionths, as the ledger counts amounts, prices and fractions. */
export const unit = 10_000_000_000n

export interface AssetTerms {
  readonly asset: string
  readonly isPriced: boolean
  /** In nanoseconds; null: any age. */
  readonly freshness: bigint | null
  readonly haircut: bigint
  readonly maxShare: bigint | null
}

export interface Terms {
  readonly minCover: bigint
  readonly assets: ReadonlyArray<AssetTerms>
}

export interface Point {
  readonly value: bigint
  /** In nanoseconds. */
  readonly at: bigint
}

export interface Books {
  readonly isPar: boolean
  /** Par value, or the share price while nothing is outstanding; absent: 1. */
  readonly unitPrice?: bigint
  /** Places that units and payouts round to. */
  readonly decimals: bigint
  /** Places that the share price rounds to; absent: 10. */
  readonly priceDecimals?: bigint
  readonly terms: Terms
  readonly outstanding: bigint
  readonly locked: ReadonlyMap<string, bigint>
  readonly points: ReadonlyMap<string, Point>
  readonly now: bigint
}

/** A fraction of whole numbers; its denominator is above 0. */
interface Fraction {
  readonly over: bigint
  readonly under: bigint
}
const fractionOf = (over: bigint, under: bigint): Fraction => ({ over, under })
const times = (left: Fraction, right: Fraction) =>
  fractionOf(left.over * right.over, left.under * right.under)
const plus = (left: Fraction, right: Fraction) =>
  fractionOf(left.over * right.under + right.over * left.under, left.under * right.under)
const isBelow = (left: Fraction, right: Fraction) =>
  left.over * right.under < right.over * left.under
const sum = (all: ReadonlyArray<Fraction>) => all.reduce(plus, fractionOf(0n, 1n))
const plain = (units: bigint) => fractionOf(units, unit)
const down = ({ over, under }: Fraction, places: bigint) => {
  const step = unit / 10n ** places
  return ((over * (unit / step)) / under) * step
}
const up = (fraction: Fraction, places: bigint) => {
  const step = unit / 10n ** places
  const floor = down(fraction, places)
  return isBelow(plain(floor), fraction) ? floor + step : floor
}

const amountOf = ({ locked }: Books, asset: string) => locked.get(asset) ?? 0n

/** Last price of an asset in the terms; null: its source has published none. */
export const priceOf = ({ points, terms }: Books, asset: string): bigint | null => {
  const found = terms.assets.find((one) => one.asset === asset)
  if (found === undefined) return null
  return found.isPriced ? (points.get(asset)?.value ?? null) : unit
}

export const isFresh = (books: Books, asset: string): boolean => {
  const found = books.terms.assets.find((one) => one.asset === asset)
  if (found === undefined || !found.isPriced) return found !== undefined
  const point = books.points.get(asset)
  if (point === undefined || point.at > books.now) return false
  return found.freshness === null || books.now - point.at <= found.freshness
}

const isUnpriced = (books: Books) =>
  books.terms.assets.some(
    ({ asset }) => amountOf(books, asset) > 0n && priceOf(books, asset) === null
  )

const grossOf = (books: Books, asset: string) =>
  times(plain(amountOf(books, asset)), plain(priceOf(books, asset) ?? 0n))

const worthOf = (books: Books): Fraction => {
  if (books.outstanding === 0n) return fractionOf(0n, 1n)
  if (books.isPar) return times(plain(books.outstanding), unitPriceOf(books))
  return sum(books.terms.assets.map(({ asset }) => grossOf(books, asset)))
}

const unitPriceOf = ({ unitPrice = unit }: Books) => plain(unitPrice)
/** A par value is never rounded. */
const priceDecimalsOf = ({ isPar, priceDecimals = 10n }: Books) => (isPar ? 10n : priceDecimals)

const requiredOf = (books: Books): Fraction => times(plain(books.terms.minCover), worthOf(books))

const valueOf = (books: Books, { asset, haircut }: AssetTerms): Fraction =>
  isFresh(books, asset) ? times(grossOf(books, asset), plain(unit - haircut)) : fractionOf(0n, 1n)

/** Counted value of an asset for a requirement. */
const countedAt = (books: Books, terms: AssetTerms, required: Fraction): Fraction => {
  const value = valueOf(books, terms)
  const most = terms.maxShare === null ? value : times(plain(terms.maxShare), required)
  return isBelow(most, value) ? most : value
}

const allCountedAt = (books: Books, required: Fraction): Fraction =>
  sum(books.terms.assets.map((terms) => countedAt(books, terms, required)))

const isMet = (books: Books, required: Fraction): boolean =>
  !isBelow(allCountedAt(books, required), required)

/** Checks that the units own assets, and that these are all worth nothing. */
const isLost = (books: Books): boolean =>
  worthOf(books).over === 0n &&
  books.terms.assets.some(
    ({ asset }) => amountOf(books, asset) > 0n && priceOf(books, asset) === 0n
  )

/** Checks that the counted value is at least the requirement. */
export const isCovered = (books: Books): boolean =>
  books.outstanding === 0n || (isMet(books, requiredOf(books)) && !isLost(books))

/** Exact price of one unit; null: a locked asset has none, or the units own nothing. */
const sharePriceOf = (books: Books): Fraction | null => {
  if (books.isPar) return unitPriceOf(books)
  if (isUnpriced(books)) return null
  const exact =
    books.outstanding === 0n
      ? unitPriceOf(books)
      : times(worthOf(books), fractionOf(unit, books.outstanding))
  return down(exact, priceDecimalsOf(books)) === 0n ? null : exact
}

/** Checks that the locked assets would cover so many units more, each at its price of now. */
export const wouldCover = (books: Books, more: bigint): boolean => {
  const share = sharePriceOf(books)
  if (share === null) return false
  const worth = times(share, plain(books.outstanding + more))
  return isMet(books, times(plain(books.terms.minCover), worth))
}

/** Figures of a reserve, in ten-billionths, and worths cut at so many places. */
export interface Figures {
  readonly assets: ReadonlyArray<{
    readonly asset: string
    readonly isFresh: boolean
    readonly value: bigint
    /** The largest share of the exact requirement; null: no limit. */
    readonly cap: bigint | null
    readonly counted: bigint
  }>
  readonly required: bigint
  readonly counted: bigint
  /** Null: nothing is outstanding, or it is worth nothing. */
  readonly ratio: bigint | null
  readonly state: "covered" | "low" | "unknown"
  /** Price of one unit, rounded down and up. */
  readonly share: readonly [bigint, bigint] | null
}

export const figuresOf = (books: Books, places: bigint): Figures => {
  const required = requiredOf(books)
  const counted = allCountedAt(books, required)
  const worth = worthOf(books)
  const share = sharePriceOf(books)
  const ratio = times(counted, fractionOf(worth.under, worth.over === 0n ? 1n : worth.over))
  const lowState = isUnpriced(books) ? "unknown" : "low"
  return {
    assets: books.terms.assets.map((terms) => ({
      asset: terms.asset,
      isFresh: isFresh(books, terms.asset),
      value: down(valueOf(books, terms), places),
      cap: terms.maxShare === null ? null : down(times(plain(terms.maxShare), required), places),
      counted: down(countedAt(books, terms, required), places)
    })),
    required: up(required, places),
    counted: down(counted, places),
    ratio: worth.over === 0n ? null : down(ratio, 10n),
    state: isCovered(books) ? "covered" : lowState,
    share:
      share === null
        ? null
        : [down(share, priceDecimalsOf(books)), up(share, priceDecimalsOf(books))]
  }
}

/** Units that a deposit mints; null: there is no price. */
export const unitsOf = (
  books: Books,
  { asset, amount }: { readonly asset: string; readonly amount: bigint }
): bigint | null => {
  const price = priceOf(books, asset)
  const share = sharePriceOf(books)
  if (price === null || share === null || price === 0n) return null
  return down(
    times(times(plain(amount), plain(price)), fractionOf(unit, up(share, priceDecimalsOf(books)))),
    books.decimals
  )
}

/** Amount of an asset that units are paid; null: there is no price. */
export const payoutOf = (
  books: Books,
  { asset, units }: { readonly asset: string; readonly units: bigint }
): bigint | null => {
  const price = priceOf(books, asset)
  const share = sharePriceOf(books)
  if (price === null || share === null || price === 0n) return null
  const worth = times(plain(units), plain(down(share, priceDecimalsOf(books))))
  return down(times(worth, fractionOf(unit, price)), books.decimals)
}

/**
 * Whether orders have a price: of their asset and, where the units own assets, of every one locked.
 */
const areFresh = (books: Books, asset: string) =>
  isFresh(books, asset) &&
  (books.isPar ||
    books.terms.assets.every(
      (one) => amountOf(books, one.asset) === 0n || isFresh(books, one.asset)
    ))

/** The books once an order has settled: its asset and units more, or fewer. */
export const moved = (
  books: Books,
  by: { readonly asset: string; readonly amount: bigint; readonly units: bigint }
) => ({
  ...books,
  outstanding: books.outstanding + by.units,
  locked: new Map(books.locked).set(by.asset, amountOf(books, by.asset) + by.amount)
})

interface Order {
  readonly asset: string
  readonly amount: bigint
  readonly units: bigint
}

/**
 * Whether a mint may settle: it is covered at fresh prices, and gets no more units than the formula
 * gives.
 */
export const mayMint = (books: Books, order: Order): boolean => {
  const units = unitsOf(books, order)
  return (
    units !== null &&
    units >= order.units &&
    areFresh(books, order.asset) &&
    isCovered(moved(books, order))
  )
}

/**
 * Whether a redemption may settle: the asset is in the reserve, at a fresh price, and pays no more
 * than the formula gives.
 */
export const mayRedeem = (books: Books, order: Order): boolean => {
  const payout = payoutOf(books, order)
  return (
    payout !== null &&
    payout >= order.amount &&
    isFresh(books, order.asset) &&
    order.amount <= amountOf(books, order.asset) &&
    order.units <= books.outstanding
  )
}

/** Whether all units locked of an asset may be released. */
export const mayRelease = (books: Books, asset: string): boolean =>
  books.outstanding === 0n ||
  ((books.isPar || amountOf(books, asset) === 0n) &&
    isCovered({ ...books, locked: new Map(books.locked).set(asset, 0n) }))

const isWithin = (limit: bigint | null, before: bigint | null) =>
  before === null || (limit !== null && limit <= before)

/** Whether a change of terms permits no more than the terms before. */
export const onlyTightens = (before: Terms, after: Terms): boolean =>
  after.minCover >= before.minCover &&
  after.assets.every((one) => {
    const old = before.assets.find(({ asset }) => asset === one.asset)
    return (
      old !== undefined &&
      old.isPriced === one.isPriced &&
      one.haircut >= old.haircut &&
      isWithin(one.maxShare, old.maxShare) &&
      isWithin(one.freshness, old.freshness)
    )
  })
