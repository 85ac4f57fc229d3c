/** Terms of a reserve: its assets and the cover they must give (docs/domain/reserves.md#terms). */
import { Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"

/** An asset on the ledger: the party that registers it, and its id there. */
export interface AssetId {
  readonly admin: string
  readonly id: string
}

export interface AssetTerms {
  readonly asset: AssetId
  /** Party whose points price the asset; null: one unit is worth 1 in the reserve's unit, always. */
  readonly priceSource: string | null
  /** Longest age of a point that counts; null: any age. Null where there is no source. */
  readonly freshness: Duration.Duration | null
  /** Fraction of the asset's worth that does not count: at least 0, below 1. */
  readonly haircut: Decimal.Decimal
  /** Largest fraction of the requirement that the asset may cover: above 0, at most 1; null: all. */
  readonly maxShare: Decimal.Decimal | null
}

export interface ReserveTerms {
  /** 1 to 20 assets, none twice. */
  readonly assets: ReadonlyArray<AssetTerms>
  /** Least counted value by the value outstanding; above 0. */
  readonly minCover: Decimal.Decimal
}

/** Terms of a reserve and those that wait out the delay of a loosening. */
export interface TermsCourse<T extends ReserveTerms = ReserveTerms> {
  readonly terms: T
  readonly pending: { readonly terms: T; readonly effectiveAt: Instant.Instant } | null
}

/** Key of an asset, unlike that of every other. */
export const keyOf = ({ admin, id }: AssetId): string => JSON.stringify([admin, id])

/** Key of an asset as a filter column holds it; an index of a store bounds its length. */
export const columnOf = ({ admin, id }: AssetId): string => `${admin}/${id}`

/** Terms as records store and views show them: figures of the ledger, with all their places. */
export const StoredTerms = Schema.Struct({
  assets: Schema.Array(
    Schema.Struct({
      asset: Field.asset,
      priceSource: Schema.NullOr(Party.schema),
      freshness: Schema.NullOr(Duration.schema),
      haircut: Decimal.schema,
      maxShare: Schema.NullOr(Decimal.schema)
    })
  ),
  minCover: Decimal.schema
}).annotate({
  identifier: "ReserveTerms",
  description: "Assets that a reserve counts, how each counts, and the least cover."
})
export type StoredTerms = typeof StoredTerms.Type
