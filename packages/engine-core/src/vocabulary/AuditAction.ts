/** Words of the audit log: actions and stages. */
import * as ValueSet from "./ValueSet.ts"
import { OperationKind } from "./OperationKind.ts"

/**
 * Actions of the audit log that are no operation's kind
 * (docs/contract/audit-log.md#what-is-logged).
 */
export const ownActions = {
  "approval.approve": "An approver signed a four-eyes action.",
  "approval.reject": "An approver rejected a four-eyes action, or its maker withdrew it.",
  "statement.receive": "An external statement was handed in.",
  "reconciliation.start": "A reconciliation run was asked for.",
  "export.read": "A register, an export or a tax statement was read.",
  "search.read": "Records were searched; how many were found, and of which kinds was asked.",
  "access.refused": "A caller was not known, or none of its roles is admitted.",
  "webhook.exhausted": "A delivery was given up after its last attempt.",
  "retention.prune": "Records past their retention were deleted.",
  "audit.checkpoint": "The size and the head of the log were signed.",
  "venue.restore": "The database was restored from a copy, and what was written after it is lost.",
  "config.loaded": "A host started with a configuration."
} as const

const own = Object.keys(ownActions) as ReadonlyArray<keyof typeof ownActions>

export const AuditAction = ValueSet.openToDottedWords(
  "AuditAction",
  "What was done: the kind of a write, or a word of the audit log's own.",
  [...OperationKind.members, ...own]
)
export type AuditAction = ValueSet.Member<typeof AuditAction>

/** Stage that the logged act had reached. */
export const auditStages = {
  requested: "A write was accepted and became an operation.",
  awaiting: "A four-eyes action was made and awaits its approvers.",
  signed: "An approver signed; more approvers are needed.",
  approved: "The last approver signed and the operation was opened.",
  rejected: "The action was rejected or withdrawn.",
  voided: "Its figures had moved: its signatures are void, and it awaits them anew.",
  started: "The operation was claimed for the first time.",
  succeeded: "It ended and did what was asked.",
  failed: "It ended without doing what was asked.",
  refused: "The call was refused and nothing was kept of it but this.",
  read: "It was read."
} as const

export const AuditStage = ValueSet.extensible(
  "AuditStage",
  "The stage that the logged act had reached.",
  Object.keys(auditStages) as ReadonlyArray<keyof typeof auditStages>
)
export type AuditStage = ValueSet.Member<typeof AuditStage>
