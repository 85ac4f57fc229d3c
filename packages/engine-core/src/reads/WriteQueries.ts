/** Queries of writes: the operations and the four-eyes actions, newest first. */
import { Effect, Schema } from "effect"
import * as Concealment from "../writes/Concealment.ts"
import { refused } from "../kernel/Refusal.ts"
import * as Read from "./Read.ts"
import { Records } from "../records/Records.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"
import { type Approval, approvals } from "../writes/Approval.ts"
import { ApprovalMachine } from "../writes/ApprovalMachine.ts"
import * as Changes from "../writes/ChangeLookups.ts"
import { OperationMachine } from "../writes/OperationMachine.ts"
import { operations } from "../writes/OperationRecord.ts"
import { Operations } from "../writes/Operations.ts"
import {
  ApprovalView,
  approvalView,
  awaitedOperation,
  lookAgain,
  ofOperation,
  WriteAnswer
} from "../writes/WriteAnswer.ts"

const several = <A, E>(schema: Schema.Codec<A, E>) => Schema.optionalKey(Schema.Array(schema))

/** Filter columns of the parameters that were given. */
const presentFilters = (
  params: Readonly<Record<string, ReadonlyArray<string> | undefined>>
): Read.Scope =>
  Object.fromEntries(
    Object.entries(params).filter(
      (entry): entry is [string, ReadonlyArray<string>] => entry[1] !== undefined
    )
  )

/** Audience of approvals; views of records show these roles the actions that await them. */
export const approvalAudience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all"
} as const

export const listOperations = Read.list({
  name: "operations.list",
  doc: "Lists the writes that were made, newest first.",
  route: "GET /v1/operations",
  audience: { ...approvalAudience, app: "own" },
  pinned: false,
  collection: operations,
  params: Schema.Struct({
    state: several(OperationMachine.schema),
    kind: several(OperationKind.schema),
    resourceKind: several(ResourceKind.schema)
  }),
  item: WriteAnswer,
  direction: "desc",
  order: "newest first",
  changes: false,
  where: (params) => presentFilters({ ...params }),
  scope: (asking) =>
    Effect.succeed<Read.Scope>(asking.sight === "own" ? { actor: [asking.caller.sub] } : {}),
  view: (records, { role }) =>
    Effect.map(Operations, (kinds) =>
      records.map((record) => ofOperation(Concealment.operationFor(record, role), kinds))
    )
})

export const getOperation = Read.one({
  name: "operations.get",
  doc: "Answers one write: read it until it has succeeded or failed.",
  route: "GET /v1/operations/{operationId}",
  audience: { ...approvalAudience, app: "own" },
  pinned: false,
  params: Schema.Struct({ operationId: Schema.String }),
  value: WriteAnswer,
  refuses: ["not-found"],
  run: Effect.fnUntraced(function* ({ operationId }, asking) {
    const records = yield* Records
    const record = yield* records.get(operations, operationId)
    // Another's operation is answered as one that does not exist.
    if (asking.sight === "own" && record.actor !== asking.caller.sub) {
      return yield* Effect.fail(refused("not-found", { detail: "There is no such operation." }))
    }
    return ofOperation(Concealment.operationFor(record, asking.role), yield* Operations)
  }),
  lookAgain,
  awaitedOperation
})

/** The context stays whole, because an answer is cached only where nothing read its clock. */
const viewOf = Effect.fnUntraced(function* (record: Approval, asking: Read.ReadContext) {
  const changes = yield* Changes.requestedBy(record, asking)
  return approvalView(record, { operations: yield* Operations, changes })
})

export const listApprovals = Read.list({
  name: "approvals.list",
  doc: "Lists the four-eyes actions, newest first.",
  route: "GET /v1/approvals",
  audience: approvalAudience,
  pinned: false,
  collection: approvals,
  params: Schema.Struct({
    state: several(ApprovalMachine.schema),
    kind: several(OperationKind.schema),
    resourceKind: several(ResourceKind.schema)
  }),
  item: ApprovalView,
  direction: "desc",
  order: "newest first",
  changes: false,
  where: (params) => presentFilters({ ...params }),
  view: (records, asking) => Effect.forEach(records, (record) => viewOf(record, asking))
})

export const getApproval = Read.one({
  name: "approvals.get",
  doc: "Answers one four-eyes action.",
  route: "GET /v1/approvals/{actionKey}",
  audience: approvalAudience,
  pinned: false,
  params: Schema.Struct({ actionKey: Schema.String }),
  value: ApprovalView,
  refuses: ["not-found"],
  run: Effect.fnUntraced(function* ({ actionKey }, asking) {
    const records = yield* Records
    return yield* viewOf(yield* records.get(approvals, actionKey), asking)
  })
})
