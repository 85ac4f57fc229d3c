/** View of a primary market, in its instrument and in the result of its proposal. */
import { Schema, Struct } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { PrimaryMarket, primaryMarkets } from "./PrimaryMarket.ts"

const shown = Struct.pick(PrimaryMarket.fields, [
  // An instrument may have had several markets, one after another: only the id distinguishes them.
  "marketId",
  "instrumentId",
  "fund",
  "paymentAsset",
  "terms",
  "state",
  "from",
  "until"
])

/** Public members of a primary market (docs/domain/agreements.md#primary-markets). */
export const fields = {
  ...shown,
  /** Contract of the agreed market; null before it is agreed. */
  cid: Schema.NullOr(Field.contractId)
} as const

export const PrimaryMarketView = RecordView.schemaOf(fields, {
  identifier: "PrimaryMarketView",
  description: "A primary market, and whom it waits on."
})
export type PrimaryMarketView = typeof PrimaryMarketView.Type

export const membersOf = (market: PrimaryMarket) => ({
  ...Struct.pick(market, Struct.keys(shown)),
  cid: market.marketCid
})

export const of = (market: Stored<PrimaryMarket>): PrimaryMarketView => ({
  ...membersOf(market),
  ...RecordView.commonOf(primaryMarkets, market)
})
