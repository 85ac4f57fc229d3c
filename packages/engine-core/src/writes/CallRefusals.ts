/** Refusals of the calls of a write, besides those that its own declaration names. */
import type { Slug } from "../kernel/Refusal.ts"

/** Refusals of a call of a four-eyes write, beside those of every write. */
export const fourEyes = [
  "approval-rejected",
  "approval-decided",
  "approval-ambiguous",
  "auditor-never-approves"
] as const satisfies ReadonlyArray<Slug>

/** Refusals of every write: of its caller, its input and its key. */
type EveryWrite =
  | "invalid-request"
  | "unauthenticated"
  | "permission-denied"
  | "idempotency-key-reused"
  | "not-ready"
  | "overloaded"
  | "ledger-unavailable"
  | "internal"

/** Refusals by the ledger, of a write that the venue makes there. */
type OnLedger = "ledger-rejected" | "contract-stale" | "ledger-timeout"

/** Refusals of whoever signs an action, and of an action that ends without an operation. */
type OfApproval = (typeof fourEyes)[number] | "same-approver" | "rule-refused" | "not-found"

/** Slugs by which a declared write can be refused: at its call, at an approval, and as it ends. */
export type SlugOf<
  D extends {
    readonly refuses: ReadonlyArray<Slug>
    readonly approvers: 0 | 1 | 2
    readonly on: string
  }
> =
  | D["refuses"][number]
  | EveryWrite
  /** A write that still awaits its approvers, or needs none, where an end or an approval is asked for. */
  | "state-conflict"
  | (D["approvers"] extends 0 ? never : OfApproval)
  | (D["on"] extends "ledger" ? OnLedger : never)
