/** The events that the room of writes announces: operations and four-eyes actions. */
import { Schema } from "effect"
import { about, announcing } from "../records/EventDeclaration.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"
import { Role } from "../vocabulary/Role.ts"
import { ApprovalMachine } from "./ApprovalMachine.ts"

const { NullOr, String: Text, Struct } = Schema

const operation = about(
  "any",
  Struct({ kind: OperationKind.schema, role: NullOr(Role.schema), operationId: Text })
)

const approvalMembers = {
  state: ApprovalMachine.schema,
  kind: OperationKind.schema,
  makerRole: Role.schema
}
const approval = about("any", Struct(approvalMembers))

export const events = {
  "operation.succeeded": operation,
  "operation.failed": operation,
  "approval.requested": approval,
  "approval.signed": approval,
  "approval.approved": approval,
  "approval.rejected": about("any", Struct({ ...approvalMembers, withdrawn: Schema.Boolean })),
  "approval.lapsed": approval
} as const

export const make = announcing(events)
