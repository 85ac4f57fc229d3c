/**
 * Record of the last price of an asset of any registry: by source, registrar and id, since two
 * registrars may use one id.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as QuoteOrder from "./QuoteOrder.ts"

export const AssetQuote = Schema.Struct({ quoteId: Schema.String, ...QuoteOrder.fields })
export type AssetQuote = typeof AssetQuote.Type

export const assetQuotes = Collection.define<AssetQuote, QuoteOrder.Fact>("asset-quote", {
  doc: "The last price that a source published of an asset, by the asset's registrar and id.",
  id: (self) => self.quoteId,
  record: AssetQuote,
  fact: QuoteOrder.Fact,
  evolve: QuoteOrder.evolve,
  keptBy: "ledger"
})

/** Id of the last price of a source for an asset. */
export const quoteIdOf = ({
  source,
  asset
}: {
  readonly source: string
  readonly asset: { readonly admin: string; readonly id: string }
}): string => `${source}/${asset.admin}/${asset.id}`
