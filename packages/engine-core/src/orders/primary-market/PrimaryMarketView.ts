/** A primary market as it is shown with its instrument. */
import { PrimaryMarket } from "./PrimaryMarket.ts"
import * as Field from "../../templates/Field.ts"
import { Schema } from "effect"

const { marketId, instrumentId, fund, paymentAsset, terms, state, from, until } =
  PrimaryMarket.fields

/** The primary market as a caller reads it (docs/domain/agreements.md#primary-markets). */
export const fields = {
  marketId,
  instrumentId,
  fund,
  paymentAsset,
  terms,
  state,
  /** The contract it stands on, once it is agreed. */
  cid: Schema.NullOr(Field.contractId),
  from,
  until
} as const

export const of = (self: PrimaryMarket) => ({
  marketId: self.marketId,
  instrumentId: self.instrumentId,
  fund: self.fund,
  paymentAsset: self.paymentAsset,
  terms: self.terms,
  state: self.state,
  cid: self.marketCid,
  from: self.from,
  until: self.until
})
