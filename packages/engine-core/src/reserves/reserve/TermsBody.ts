/** Schema of a reserve's terms as callers send them: each figure in its range, no asset twice. */
import { Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { reserveAssetsMax } from "../../templates/Reserve.ts"
import * as Amount from "../../vocabulary/Amount.ts"
import { isOnLedger } from "./LedgerTerms.ts"
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
  expected: "a decimal above zero, of at most 1000",
  is: (cover) => Decimal.isPositive(cover) && Decimal.atMost(cover, coverMost),
  description: "A part of another figure, 1 being all of it: above 0, at most 1000."
})

const maxShare = Decimal.plainOf({
  expected: "a rate above 0, at most 1",
  is: (share) => Decimal.isPositive(share) && Decimal.atMost(share, Decimal.one),
  description: "A rate above 0, at most 1, with at most 10 digits after the point."
})

/** A duration of the ledger: in days or less, in whole microseconds, of at most this length. */
export const durationUpTo = (longest: string) => {
  const expected = `at most ${longest}, in days or less and in whole microseconds`
  const most = Duration.nanos(Duration.of(longest))
  return Duration.schema.check(
    Schema.makeFilter(
      (duration) =>
        isOnLedger(duration) && Duration.nanos(duration) <= most ? undefined : expected,
      { expected }
    )
  )
}

const AssetBody = Schema.Struct({
  asset,
  priceSource: Field.optional(Party.schema),
  freshness: Field.optional(durationUpTo("P365D")),
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
