/** Refusals of the calls of a write, besides those that its own declaration names. */
import type { Slug } from "../kernel/Refusal.ts"
import { kindConditions } from "./KindConditions.ts"

/** Refusals of a call of a four-eyes write, beside those of every write. */
export const fourEyes = [
  "approval-rejected",
  "approval-decided",
  "approval-ambiguous",
  "auditor-never-approves"
] as const satisfies ReadonlyArray<Slug>

/**
 * Refusals of every write: of its caller, its input and its key, and of one that still awaits its
 * approvers, or needs none, where an end or an approval is asked for.
 */
const everyWrite = [
  "invalid-request",
  "unauthenticated",
  "permission-denied",
  "idempotency-key-reused",
  "state-conflict",
  "not-ready",
  "overloaded",
  "ledger-unavailable",
  "internal"
] as const satisfies ReadonlyArray<Slug>

/** Refusals by the ledger, of a write that the venue makes there. */
const onLedger = ["ledger-rejected", "contract-stale"] as const satisfies ReadonlyArray<Slug>

/** Refusals of whoever signs or rejects an action, and of an action that ends without an operation. */
const ofApproval = [
  ...fourEyes,
  "same-approver",
  "idempotency-in-progress",
  "not-found"
] as const satisfies ReadonlyArray<Slug>

/** Condition of a write whose approvers sign figures: its refusal may come at each signature. */
const figuresMoved = "figures-moved"

interface DeclaredRefusals {
  readonly kind: string
  readonly refuses: ReadonlyArray<Slug>
  readonly approvers: 0 | 1 | 2
  readonly on: string
}

/** Conditions that a refusal of a write may name as `check`, by its kind; of a room's write any text. */
export type ConditionOf<K extends string> = K extends keyof typeof kindConditions
  ? (typeof kindConditions)[K][number]
  : string

/** Slugs by which a declared write can be refused: at its call, at an approval, and as it ends. */
export type SlugOf<D extends DeclaredRefusals> =
  | D["refuses"][number]
  | (typeof everyWrite)[number]
  | (D["approvers"] extends 0 ? never : (typeof ofApproval)[number])
  | (typeof figuresMoved extends ConditionOf<D["kind"]> ? "rule-refused" : never)
  | (D["on"] extends "ledger" ? (typeof onLedger)[number] : never)

/**
 * Names of the conditions that a refusal of a write may name as `check`: those of its kind, or those
 * that the declaration of a room's write lists.
 */
export const conditionsOf = ({
  conditions = [],
  kind
}: {
  readonly kind: string
  readonly conditions?: ReadonlyArray<string>
}): ReadonlyArray<string> => (isBuiltIn(kind) ? kindConditions[kind] : conditions)

const isBuiltIn = (kind: string): kind is keyof typeof kindConditions => kind in kindConditions

/** Refusals of a write's own call: those that it declares, and those of figures that moved. */
export const ofCall = (
  operation: Pick<DeclaredRefusals, "kind" | "refuses" | "approvers"> & {
    readonly figures?: unknown
  }
): ReadonlyArray<Slug> => [
  ...new Set<Slug>([
    ...operation.refuses,
    // A repeated call that approves is refused where the action's figures have moved.
    ...(operation.figures === undefined ? [] : (["rule-refused"] as const)),
    "idempotency-key-reused",
    ...(operation.approvers === 0 ? [] : fourEyes)
  ])
]

/** Slugs by which a write can be refused, as `SlugOf` has them for the compiler. */
export const slugsOf = (
  operation: DeclaredRefusals & { readonly figures?: unknown }
): ReadonlySet<Slug> =>
  new Set<Slug>([
    ...ofCall(operation),
    ...everyWrite,
    ...(operation.approvers === 0 ? [] : ofApproval),
    ...(operation.on === "ledger" ? onLedger : [])
  ])
