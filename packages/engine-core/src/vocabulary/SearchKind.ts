/** The kinds of record that are searched. */
import * as ValueSet from "./ValueSet.ts"

export const SearchKind = ValueSet.openToPlainWords(
  "SearchKind",
  "The kind of a record that a search finds.",
  [
    "instrument",
    "holder",
    "subscription",
    "redemption",
    "dealing-cycle",
    "standing-settlement",
    "distribution",
    "distribution-line",
    "standing-approval",
    "restriction",
    "hold",
    "reserve",
    "lock-agreement",
    "amendment",
    "mint",
    "reserve-redemption",
    "reserve-report",
    "external-source",
    "external-statement",
    "external-account",
    "reconciliation-run",
    "finding",
    "operation",
    "approval",
    "webhook"
  ]
)
export type SearchKind = ValueSet.Member<typeof SearchKind>
