/** View of a reserve: its public members, its figures at an instant, and the basis of each figure. */
import { Schema, Struct } from "effect"
import * as Basis from "../../kernel/Basis.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import * as sets from "../../vocabulary/sets.ts"
import * as CoverRules from "./CoverRules.ts"
import { Reserve, reserves } from "./Reserve.ts"
import { basisOf } from "./ReserveBasis.ts"
import type { LoadedReserve } from "./ReserveLookups.ts"
import { keyOf, StoredTerms } from "./ReserveTerms.ts"

const { NullOr } = Schema

const shown = Struct.pick(Reserve.fields, [
  "reserveId",
  "instrumentId",
  "holder",
  "unit",
  "decimals",
  "priceDecimals",
  "initialSharePrice",
  "loosenDelay",
  "state",
  "acceptedBy",
  "pending",
  "outstanding",
  "reportedAt"
])

/** An asset of the terms in force, or a locked asset that they leave out. */
const AssetView = Schema.Struct({
  asset: Field.asset,
  /** Amount that is locked of it. */
  units: Decimal.schema,
  price: NullOr(Decimal.schema),
  pricedAt: NullOr(Instant.schema),
  pointCid: NullOr(Field.contractId),
  fresh: Schema.Boolean,
  value: Decimal.schema,
  cap: NullOr(Decimal.schema),
  counted: Decimal.schema
}).annotate({
  identifier: "ReserveAsset",
  description: "What is locked of an asset of a reserve, and what it is worth and counts."
})
type AssetView = typeof AssetView.Type

export const CoverView = Schema.Struct({
  ratio: NullOr(Decimal.schema),
  state: sets.CoverState.schema,
  /** Offset of the ledger that it is judged at; null: in the result of an operation. */
  at: NullOr(Offset.schema)
}).annotate({
  identifier: "ReserveCover",
  description: "Whether the counted value of a reserve covers what is outstanding."
})

export const ReserveView = Schema.Struct({
  ...shown,
  /** Terms that the reserve opened with. */
  terms: StoredTerms,
  termsInForce: StoredTerms,
  closing: Schema.Boolean,
  /** Units of the instrument on the ledger, by its register. */
  supply: Decimal.schema,
  sharePrice: NullOr(Decimal.schema),
  assets: Schema.Array(AssetView),
  required: Decimal.schema,
  counted: Decimal.schema,
  cover: CoverView,
  mintable: Decimal.schema,
  /** The latest amendment that is proposed, or accepted and not yet in force. */
  liveAmendment: NullOr(Schema.String),
  openOrders: Integer.schema,
  basis: Schema.Array(Basis.Basis),
  ...RecordView.fields
}).annotate({
  identifier: "ReserveView",
  description: "A reserve: its terms, what is locked, what it covers, and who must act next."
})
export type ReserveView = typeof ReserveView.Type

/**
 * Makes the view: amounts at 10 places, worths at the places of the unit of account, rounded down but for
 * `required`, which is rounded up. `offset` is the offset of the read.
 */
export const of = (
  record: Stored<Reserve>,
  loaded: LoadedReserve,
  offset: Offset.Offset | null
): ReserveView => {
  const { books, liveAmendment, openOrders, supply, terms: termsInForce } = loaded
  const { required, counted, ratio, state } = CoverRules.coverOf(books)
  return {
    ...RecordView.of(reserves, shown, record),
    terms: record.openedWith,
    termsInForce,
    // Pending terms that have come into force are those in force.
    pending: record.pending?.terms === termsInForce ? null : record.pending,
    closing: record.state === "closing",
    supply,
    sharePrice: CoverRules.sharePriceOf(books)?.down ?? null,
    assets: assetsOf(record, loaded),
    required,
    counted,
    cover: { ratio, state, at: offset },
    mintable: CoverRules.mintableOf(books),
    liveAmendment,
    openOrders,
    basis: basisOf(loaded, { reserve: record, offset })
  }
}

const assetsOf = (
  { locked }: Pick<Reserve, "locked">,
  { books, points, terms }: LoadedReserve
): ReadonlyArray<AssetView> => {
  const counting = CoverRules.assetsOf(books)
  const figures = CoverRules.assetFiguresOf(books, counting)
  const keys = new Set(counting.map(({ key }) => key))
  const left = locked.filter(({ asset }) => !keys.has(keyOf(asset)))
  return [
    ...counting.map((asset, index): AssetView => {
      const point = asset.priceSource === null ? undefined : points.get(asset.key)
      return {
        asset: terms.assets[index]?.asset ?? unlisted(asset.key),
        units: asset.units,
        price: asset.price,
        pricedAt: point?.valuationTime ?? null,
        pointCid: point?.contractId ?? null,
        fresh: asset.isFresh,
        ...(figures[index] ?? unlisted(asset.key))
      }
    }),
    ...left.map(
      ({ asset, amount: units }): AssetView => ({
        ...{ asset, units, price: null, pricedAt: null, pointCid: null, fresh: false },
        ...{ value: Decimal.zero, cap: null, counted: Decimal.zero }
      })
    )
  ]
}

const unlisted = (key: string): never => {
  throw new Error(`${key} counts and is no asset of the terms`)
}
