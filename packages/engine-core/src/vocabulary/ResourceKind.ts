/** The kinds of record an operation acts on or an event tells of. */
import type { OwnWord } from "./OwnWord.ts"
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
  "operation",
  "distribution-line",
  "finding",
  "proposal"
] as const

/** Kinds of the engine; by `Extract` it is a type of its own, which declarations name instead of inlining it. */
type BuiltInResourceKind = Extract<(typeof words)[number], string>
/** A kind of the engine's, or of a room that a venue adds. */
export type ResourceKind = BuiltInResourceKind | OwnWord

export const ResourceKind: ValueSet.RoomSet<ResourceKind, BuiltInResourceKind> =
  ValueSet.openToPlainWords(
    "ResourceKind",
    "The kind of record an operation acts on or an event tells of.",
    words
  )
