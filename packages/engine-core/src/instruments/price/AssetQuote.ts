/**
 * Record of the last price of an asset of any registry: by source, registrar and id, since two
 * registrars may use one id.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Field from "../../templates/Field.ts"

const quoted = {
  contractId: Field.contractId,
  price: Decimal.schema,
  valuationTime: Instant.schema
} as const

export const AssetQuote = Schema.Struct({
  quoteId: Schema.String,
  ...quoted,
  /** False after the point was withdrawn: the source has no price until its next point. */
  isLive: Schema.Boolean
})
export type AssetQuote = typeof AssetQuote.Type

export const Fact = Schema.Union([
  Schema.Struct({ on: Schema.Literal("quote"), ...quoted }),
  Schema.Struct({ on: Schema.Literal("end") })
])
export type Fact = typeof Fact.Type

export const assetQuotes = Collection.define<AssetQuote, Fact>("asset-quote", {
  doc: "The last price that a source published of an asset, by the asset's registrar and id.",
  id: (self) => self.quoteId,
  record: AssetQuote,
  fact: Fact,
  evolve: (self, fact) => {
    if (fact.on === "end") return { ...self, isLive: false }
    const { on: _, ...next } = fact
    return { ...self, ...next, isLive: true }
  },
  keptBy: "ledger"
})

/** Id of the last price of a source for an asset. */
export const quoteIdOf = (of: {
  readonly source: string
  readonly asset: { readonly admin: string; readonly id: string }
}): string => `${of.source}/${of.asset.admin}/${of.asset.id}`
