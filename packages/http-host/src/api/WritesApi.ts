/** Routes that approve and reject four-eyes actions. */
import { ApprovalView, type Refusal, type Vocabulary, WriteAnswer } from "@bursar/engine-core"
import { ReadableText, RecordId } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import type { ServedRoute } from "./Served.ts"

const bodyMax = 16 * 1024
const params = Schema.Struct({ actionKey: RecordId.make("Approval") })

/** Body of an approval: none, or an empty object. */
export const ApproveBody = Schema.Struct({}).annotate({ identifier: "ApproveBody" })

const unreadable = "a text that can be read, without hidden characters"
const reason = Schema.String.check(
  Schema.isMaxLength(500),
  Schema.makeFilter(
    (text) => (text === "" || ReadableText.isProse(text) ? undefined : unreadable),
    { expected: unreadable }
  )
)

/** Body of a rejection: none, or a reason. */
export const RejectBody = Schema.Struct({
  reason: Schema.optionalKey(Schema.NullOr(reason))
}).annotate({ identifier: "RejectBody" })

/**
 * Declares the routes. `makers` are the roles that make any four-eyes write: a maker withdraws an
 * action by rejecting it. `judged` are the refusals of those writes: the last approval runs their
 * gates again.
 */
export const served = ({
  judged,
  makers
}: {
  readonly makers: ReadonlyArray<Vocabulary.Role>
  readonly judged: ReadonlyArray<Refusal.Slug>
}): ReadonlyArray<ServedRoute> => [
  {
    name: "approvals.approve",
    doc: "Approves a four-eyes action; the last approver's call runs it. Refused when its figures have moved since they were signed, or are not those that If-Match names: then all sign anew.",
    route: "POST /v1/approvals/{actionKey}:approve",
    admits: { by: "approver" },
    action: "approval.approve",
    bodyMax,
    refuses: [
      ...new Set([
        "auditor-never-approves" as const,
        "same-approver" as const,
        "approval-decided" as const,
        "approval-rejected" as const,
        "idempotency-key-reused" as const,
        "not-found" as const,
        // The figures have moved, or differ from those that If-Match names.
        "rule-refused" as const,
        ...judged
      ])
    ],
    params,
    body: ApproveBody,
    success: { 200: WriteAnswer, 202: WriteAnswer }
  },
  {
    name: "approvals.reject",
    doc: "Rejects a four-eyes action, or withdraws it when its maker calls; it never runs.",
    route: "POST /v1/approvals/{actionKey}:reject",
    admits: { by: "role", roles: ["approver", ...makers.filter((role) => role !== "approver")] },
    action: "approval.reject",
    bodyMax,
    refuses: [
      "auditor-never-approves",
      "approval-decided",
      "approval-rejected",
      "idempotency-key-reused",
      "idempotency-in-progress",
      "not-found"
    ],
    params,
    body: RejectBody,
    success: { 200: ApprovalView }
  }
]
