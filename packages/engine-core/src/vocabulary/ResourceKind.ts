/** The kinds of record an operation acts on or an event tells of. */
import * as ValueSet from "./ValueSet.ts"

export const ResourceKind = ValueSet.extensible(
  "ResourceKind",
  "The kind of record an operation acts on or an event tells of.",
  [
    "instrument",
    "holder",
    "subscription",
    "redemption",
    "dealing-cycle",
    "standing-settlement",
    "reserve",
    "lock-agreement",
    "mint",
    "reserve-redemption",
    "amendment",
    "distribution",
    "standing-approval",
    "reconciliation-run",
    "external-statement",
    "primary-market",
    "restriction",
    "hold",
    "webhook",
    "external-account",
    "external-source",
    "issuer-powers-agreement",
    "scheduled-distribution",
    "contract",
    "exercise",
    "operation"
  ]
)
export type ResourceKind = ValueSet.Member<typeof ResourceKind>
