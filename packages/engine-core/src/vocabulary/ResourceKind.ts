/** The kinds of record an operation acts on or an event tells of. */
import * as ValueSet from "./ValueSet.ts"

const words = [
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
] as const

/** Union of all kinds; by `Extract` it is a type of its own, which declarations name instead of inlining it. */
export type ResourceKind = Extract<(typeof words)[number], string>

export const ResourceKind: ValueSet.ValueSet<ResourceKind> = ValueSet.extensible(
  "ResourceKind",
  "The kind of record an operation acts on or an event tells of.",
  words
)
