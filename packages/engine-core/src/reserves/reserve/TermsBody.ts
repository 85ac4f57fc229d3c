/** Schema of a reserve's terms as callers send them: each figure in its range, no asset twice. */
import { Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { reserveAssetsMax } from "../../templates/Reserve.ts"
import * as Amount from "../../kernel/Amount.ts"
import { keyOf } from "./ReserveTerms.ts"

/** An asset as a caller names it; keys of records contain its id. */
export const asset = Schema.Struct({
  admin: Party.schema,
  id: Field.name.check(Schema.isMinLength(1))
}).annotate({
  identifier: "AssetId",
  description: "An asset on the ledger: the party that registers it, and its id there."
})

const coverMost = Decimal.fromInteger(1_000)

/** Least counted value by the value outstanding. */
const minCover = Decimal.plainOf({
  expected: "a decimal above zero, at most 1000, of at most 4 digits before the point",
  is: (cover) => Decimal.isPositive(cover) && Decimal.atMost(cover, coverMost),
  description:
    "A part of another figure, 1 being all of it: above 0, at most 1000, with at most 4 digits before the point and 10 after it."
})

const maxShare = Decimal.plainOf({
  expected: "a rate from 0 to 1, above 0, of at most 1 digit before the point",
  is: (share) => Decimal.isPositive(share) && Decimal.atMost(share, Decimal.one),
  description: "A rate above 0, at most 1, with at most 1 digit before the point and 10 after it."
})

/** Longest age of a point that counts, and longest wait of a loosening. */
export const longest = Duration.of("P365D")

const AssetBody = Schema.Struct({
  asset,
  priceSource: Field.optional(Party.schema),
  freshness: Field.optional(Duration.inMicros(longest)),
  haircut: Amount.part,
  maxShare: Field.optional(maxShare)
}).check(
  Schema.makeFilter(({ freshness, priceSource }) =>
    freshness === null || priceSource !== null
      ? undefined
      : { path: ["freshness"], issue: "only of an asset with a price source" }
  )
)

export const TermsBody = Schema.Struct({
  assets: Schema.Array(AssetBody).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(reserveAssetsMax),
    Schema.makeFilter((assets) =>
      new Set(assets.map(({ asset }) => keyOf(asset))).size === assets.length
        ? undefined
        : "each asset is named once"
    )
  ),
  minCover
}).annotate({
  identifier: "ReserveTermsBody",
  description: "Assets that a reserve is to count, how each counts, and the least cover."
})
