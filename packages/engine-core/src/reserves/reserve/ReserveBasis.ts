/** Basis of the figures of a reserve: the formula and the inputs of each. */
import * as Basis from "../../kernel/Basis.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Offset from "../../kernel/Offset.ts"
import * as Formulas from "../ReserveFormulas.ts"
import * as CoverRules from "./CoverRules.ts"
import type { Reserve } from "./Reserve.ts"
import type { LoadedBooks } from "./ReserveLookups.ts"
import { columnOf, keyOf } from "./ReserveTerms.ts"

/** Reserve that the figures are of, and the offset of the read. */
interface ReserveRead {
  readonly reserve: Pick<Reserve, "instrumentId" | "outstanding"> & { readonly reserveId: string }
  readonly offset: Offset.Offset | null
}

/**
 * Returns the basis of each figure that a formula gives (docs/domain/figures.md#basis). The share price
 * at par is a term of the reserve, and the ratio of nothing outstanding, or of what is worth nothing, is none.
 * Values and cover have none where a decimal does not hold them.
 */
export const basisOf = (loaded: LoadedBooks, read: ReserveRead): ReadonlyArray<Basis.Basis> => {
  const { books } = loaded
  const assets = CoverRules.assetsOf(books)
  const shared = [...ofSharePrice(loaded, read), ...ofMintable(loaded, read)]
  if (!CoverRules.hasFigures(books, assets)) return shared
  const figures = CoverRules.assetFiguresOf(books, assets)
  return [
    ...assets.flatMap((asset, index) =>
      ofAsset(loaded, asset, {
        ...read,
        assets,
        field: `assets.${index}`,
        value: figures[index]?.value
      })
    ),
    ...ofCover(loaded, read),
    ...shared
  ]
}

const ofAsset = (
  loaded: LoadedBooks,
  asset: CoverRules.ReserveAsset,
  read: ReserveRead & {
    readonly assets: ReadonlyArray<CoverRules.ReserveAsset>
    readonly field: string
    readonly value: Decimal.Decimal | undefined
  }
): ReadonlyArray<Basis.Basis> => {
  const { books } = loaded
  const { assets, value: worth = Decimal.zero } = read
  const source = (name: string) => sourceOf(loaded, read)(name, asset.key)
  const cap = CoverRules.capGivenOf(asset, { books, assets, value: worth })
  const value = { [`${read.field}.value`]: "value" } as const
  const counted = { [`${read.field}.counted`]: "counted" } as const
  const valued = Basis.of(Formulas.reserveValue, {
    values: CoverRules.valueGivenOf(asset, books),
    fields: cap === null ? { ...value, ...counted } : value,
    source
  })
  if (cap === null) return valued
  const fields = { [`${read.field}.cap`]: "cap", ...counted } as const
  const ofList = ofListsOf(loaded, read)
  const ofCap = (name: string, key: string | null) =>
    key === null ? source(name) : ofList(name, key)
  return [
    ...valued,
    ...(cap.valuation === "par"
      ? Basis.of(Formulas.reserveCapPar, { values: cap.given, fields, source: ofCap })
      : Basis.of(Formulas.reserveCapAccumulating, { values: cap.given, fields, source: ofCap }))
  ]
}

const ofCover = (loaded: LoadedBooks, read: ReserveRead): ReadonlyArray<Basis.Basis> => {
  const { books } = loaded
  const cover = CoverRules.coverGivenOf(books, CoverRules.assetsOf(books))
  const exact = { required: "required", counted: "counted" } as const
  const isRated = CoverRules.coverOf(books).ratio !== null
  const fields = isRated ? ({ ...exact, "cover.ratio": "ratio" } as const) : exact
  const source = ofListsOf(loaded, read)
  return cover.valuation === "par"
    ? Basis.of(Formulas.reserveCoverPar, { values: cover.given, fields, source })
    : Basis.of(Formulas.reserveCoverAccumulating, { values: cover.given, fields, source })
}

const ofSharePrice = (loaded: LoadedBooks, read: ReserveRead): ReadonlyArray<Basis.Basis> => {
  const { books } = loaded
  const shareInputs = CoverRules.sharePriceGivenOf(books)
  return shareInputs === null || CoverRules.sharePriceOf(books) === null
    ? []
    : Basis.of(Formulas.sharePrice, {
        values: shareInputs,
        fields: { sharePrice: "sharePrice" },
        source: ofListsOf(loaded, read)
      })
}

const ofMintable = (loaded: LoadedBooks, read: ReserveRead): ReadonlyArray<Basis.Basis> => {
  const mintable = CoverRules.mintableGivenOf(loaded.books)
  const fields = { mintable: "mintable" } as const
  const source = ofListsOf(loaded, read)
  if (mintable === null) return []
  return mintable.valuation === "par"
    ? Basis.of(Formulas.mintablePar, { values: mintable.given, fields, source })
    : Basis.of(Formulas.mintableAccumulating, { values: mintable.given, fields, source })
}

/** Inputs of one asset that its point gives. */
const ofPoint: ReadonlySet<string> = new Set(["price", "freshness"])

/** Source of an input: a point for prices, the supply where it is more than the count, else the reserve. */
const sourceOf =
  ({ books, points, supply }: LoadedBooks, { offset, reserve }: ReserveRead) =>
  (name: string, id: string | null): Basis.Source => {
    const point = id === null || !ofPoint.has(name) ? undefined : points.get(id)
    const contractId = point?.contractId ?? null
    if (contractId !== null) return { resourceKind: "contract", id: contractId, offset }
    const isSupply =
      name === "outstanding" &&
      Decimal.equals(books.outstanding, supply) &&
      !Decimal.equals(supply, reserve.outstanding)
    return isSupply
      ? { resourceKind: "instrument", id: reserve.instrumentId, offset }
      : { resourceKind: "reserve", id: reserve.reserveId, offset }
  }

/**
 * Source of an input of a formula over all assets: each list has the same ids, which are those of the
 * reserve's assets, whatever gave the amount.
 */
const ofListsOf = (loaded: LoadedBooks, read: ReserveRead) => {
  const { assets } = loaded.books.terms
  const columns = new Map(assets.map(({ asset }) => [keyOf(asset), columnOf(asset)]))
  const source = sourceOf(loaded, read)
  return (name: string, key: string | null): Basis.Source =>
    key === null
      ? source(name, null)
      : {
          resourceKind: "reserve",
          id: `${read.reserve.reserveId}:${columns.get(key) ?? key}`,
          offset: read.offset
        }
}
