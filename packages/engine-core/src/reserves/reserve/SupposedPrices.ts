/** Supposed prices of a what-if read of a reserve: how a query names them, and the books under them. */
import { Result, Schema } from "effect"
import * as Codec from "../../kernel/Codec.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { refuse, type Refused } from "../../kernel/Refusal.ts"
import { reserveAssetsMax } from "../../templates/Reserve.ts"
import * as Amount from "../../kernel/Amount.ts"
import type { LoadedPoint, LoadedReserve } from "./ReserveLookups.ts"
import { type AssetId, keyOf } from "./ReserveTerms.ts"

/** A price that is supposed of an asset. */
export interface SupposedPrice {
  readonly asset: AssetId
  readonly price: Decimal.Decimal
}

const expected =
  "a price of an asset, as <admin>/<assetId>=<price>, above zero and of at most 10 digits before the point"
const decodePrice = Schema.decodeUnknownResult(Amount.supposedPriceText)

/** Reads the asset up to the last equals sign: an id on the ledger may have any characters. */
const parse = (text: string): Result.Result<SupposedPrice, Codec.Fault> => {
  const slash = text.indexOf("/")
  const sign = text.lastIndexOf("=")
  if (slash <= 0 || sign <= slash + 1) return Codec.fault(expected)
  const price = decodePrice(text.slice(sign + 1))
  return Result.isFailure(price)
    ? Codec.fault(expected)
    : Result.succeed({
        asset: { admin: text.slice(0, slash), id: text.slice(slash + 1, sign) },
        price: price.success
      })
}

const print = ({ asset, price }: SupposedPrice): string =>
  `${asset.admin}/${asset.id}=${Decimal.formatPlain(price)}`

const isSupposedPrice = (value: unknown): value is SupposedPrice =>
  typeof value === "object" && value !== null && "asset" in value && "price" in value

export const schema: Schema.Codec<
  ReadonlyArray<SupposedPrice>,
  ReadonlyArray<string>
> = Schema.Array(
  Codec.make({
    from: Schema.String.annotate({
      description:
        "A supposed price of an asset, in the reserve's unit: <admin>/<assetId>=<price>, above 0, with at most 10 digits before the point and 10 after it."
    }),
    to: Schema.declare(isSupposedPrice, { expected }),
    parse,
    print
  })
).check(Schema.isMaxLength(reserveAssetsMax))

/**
 * Returns the books under supposed prices, each fresh at the point of the read. Refuses
 * `invalid-request` for an asset that the terms in force do not price by points, and for one named twice.
 */
export const supposing = (
  loaded: LoadedReserve,
  prices: ReadonlyArray<SupposedPrice>
): Result.Result<LoadedReserve, Refused<"invalid-request">> => {
  const { books, points, terms } = loaded
  const priced = new Set(
    terms.assets.flatMap(({ asset, priceSource }) => (priceSource === null ? [] : [keyOf(asset)]))
  )
  const supposed = new Map(
    prices.map(({ asset, price }): readonly [string, LoadedPoint] => [
      keyOf(asset),
      { price, valuationTime: books.at, contractId: null }
    ])
  )
  const stranger = [...supposed.keys()].find((key) => !priced.has(key))
  if (stranger !== undefined || supposed.size < prices.length) {
    const detail =
      stranger === undefined
        ? "Each asset is named once."
        : "The terms of the reserve price no such asset by points."
    return refuse("invalid-request", { errors: [{ pointer: "/query/price", detail }] })
  }
  const all = new Map([...points, ...supposed])
  return Result.succeed({ ...loaded, points: all, books: { ...books, points: all } })
}
