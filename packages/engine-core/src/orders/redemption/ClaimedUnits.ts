/** Record of the units of a holder that claims of redemptions under way take, before their claims are read. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { pairOf } from "./Redemption.ts"

/** Units that one claim takes, as the register keeps them, and its operation. */
const UnitsClaim = Schema.Struct({
  redemptionId: Schema.String,
  operationId: Schema.String,
  units: Decimal.schema
})
export type UnitsClaim = typeof UnitsClaim.Type

const ClaimedUnits = Schema.Struct({
  holderId: Schema.String,
  instrumentId: Schema.String,
  claims: Schema.Array(UnitsClaim)
})
type ClaimedUnits = typeof ClaimedUnits.Type

const Claim = Schema.Struct({
  on: Schema.Literal("claim"),
  /** The whole list of claims under way, without those that are read or failed. */
  claims: Schema.Array(UnitsClaim)
})

/** Largest number of claims of one holder and instrument at a time. */
export const claimsMax = 500

/**
 * Lock by version: a claim takes its units from its planning on, not from its commit on the ledger, so
 * that of two claims judged at the same time the second counts the units of the first, or conflicts with
 * it and is judged again.
 */
export const claimedUnits = Collection.define<ClaimedUnits, typeof Claim.Type>("claimed-units", {
  doc: "Units of a holder that claims of redemptions under way take.",
  id: pairOf,
  record: ClaimedUnits,
  fact: Claim,
  evolve: (self, { claims }) => ({ ...self, claims }),
  keptBy: "engine",
  invariants: {
    "an order takes its units once": ({ claims }) =>
      new Set(claims.map(({ redemptionId }) => redemptionId)).size === claims.length,
    "no claim takes less than nothing": ({ claims }) =>
      claims.every(({ units }) => !Decimal.isNegative(units))
  }
})
