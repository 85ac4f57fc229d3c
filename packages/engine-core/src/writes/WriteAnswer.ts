/** Answer to every write: an operation, or an action that awaits its approvers. */
import { Schema } from "effect"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Offset from "../kernel/Offset.ts"
import { PlainSchema } from "../kernel/PlainSchema.ts"
import { Problem } from "../kernel/Problem.ts"
import * as RecordView from "../records/RecordView.ts"
import type { Stored } from "../records/Records.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"
import { Role } from "../vocabulary/Role.ts"
import { type Approval, approvals, signedBy } from "./Approval.ts"
import { ApprovalMachine } from "./ApprovalMachine.ts"
import * as Figures from "./Figures.ts"
import { OperationMachine } from "./OperationMachine.ts"
import { type OperationRecord, operations as operationRecords } from "./OperationRecord.ts"
import type { Operations } from "./Operations.ts"
import { Resource } from "./Resource.ts"
import { summaryOf } from "./Summary.ts"
import { RequestedChange } from "./TermChange.ts"

const text = Schema.NullOr(Schema.String)
const instant = Schema.NullOr(Instant.schema)

const fields = {
  operationId: text,
  kind: OperationKind.schema,
  /** One English sentence about the write: ids and figures, without the name of a person. */
  summary: Schema.String,
  resource: Resource,
  request: PlainSchema,
  result: Schema.NullOr(PlainSchema),
  problem: Schema.NullOr(Problem),
  actor: text,
  actorName: text,
  actorEmail: text,
  role: Schema.NullOr(Role.schema),
  createdAt: instant,
  startedAt: instant,
  finishedAt: instant,
  updateId: text,
  offset: Schema.NullOr(Offset.schema),
  actionKey: text,
  maker: text,
  makerRole: Schema.NullOr(Role.schema),
  madeAt: instant,
  required: Schema.NullOr(Integer.schema),
  signedBy: Schema.NullOr(Schema.Array(Schema.String)),
  figures: Schema.NullOr(Figures.Figures),
  figuresHash: text,
  recovery: text,
  waitingOn: RecordView.fields.waitingOn
}

/** State of the operation or of the action that the answer shows. */
const state = Schema.Union([OperationMachine.schema, ApprovalMachine.schema])

/** Members of an operation or an action by which a caller knows how to wait for its end. */
export interface AnswerProgress {
  readonly state: string
  readonly operationId: string | null
  readonly createdAt: Instant.Instant | null
}

/** Id of an operation that has not ended; null where it has, or where people are awaited. */
export const awaitedOperation = ({ operationId, state }: AnswerProgress): string | null =>
  state === "queued" || state === "running" ? operationId : null

/**
 * Polling interval of an operation in whole seconds, by its age
 * (docs/contract/operations.md#polling); null where it has ended or is an action that awaits
 * people.
 */
export const lookAgain = (self: AnswerProgress, now: Instant.Instant): number | null => {
  if (awaitedOperation(self) === null || self.createdAt === null) return null
  const seconds = (now - self.createdAt) / 1_000_000_000n
  return seconds < 10n ? 1 : seconds < 60n ? 2 : 5
}

/** Answer to every write: an operation, or an action that awaits its approvers. */
export const WriteAnswer = Schema.Struct({ state, ...fields }).annotate({
  identifier: "WriteAnswer",
  description: "What every write answers: an operation, or an action that awaits its approvers."
})
export type WriteAnswer = typeof WriteAnswer.Type

/** Action that awaits its approvers, with the figures that they sign. */
export const ApprovalView = Schema.Struct({
  state: ApprovalMachine.schema,
  ...fields,
  method: Schema.String,
  path: Schema.String,
  fingerprint: Schema.String,
  signatures: Schema.Array(
    Schema.Struct({
      sub: Schema.String,
      /** Name claim of the signer; null: none, or a signature of before names were kept. */
      name: text,
      role: Role.schema,
      at: Instant.schema,
      figuresHash: text
    })
  ),
  /** Name claim of the maker; null: it had none. */
  makerName: text,
  /** The figures before they moved, by which signatures were void; null: they have not moved. */
  moved: Schema.NullOr(Figures.MovedFigures),
  /** Members that it would replace, against the record now; empty: none, or it awaits nobody. */
  changes: Schema.Array(RequestedChange),
  rejectedBy: text,
  rejectedAt: instant,
  reason: text,
  expiresAt: instant
}).annotate({ identifier: "Approval", description: "A four-eyes action as its record stands." })
export type ApprovalView = typeof ApprovalView.Type

/** The declared writes, of which summaries are made. */
type DeclaredWrites = Pick<Operations["Service"], "find">

const summaryIn = (operations: DeclaredWrites, self: OperationRecord | Approval): string =>
  summaryOf(operations.find(self.kind), self)

export const ofOperation = (
  self: Stored<OperationRecord>,
  operations: DeclaredWrites
): WriteAnswer => ({
  state: self.state,
  operationId: self.operationId,
  kind: self.kind,
  summary: summaryIn(operations, self),
  resource: self.resource,
  request: self.given ?? self.request,
  result: self.result,
  problem: self.problem,
  actor: self.actor,
  actorName: self.actorName,
  actorEmail: self.actorEmail,
  role: self.role,
  createdAt: self.createdAt,
  startedAt: self.startedAt,
  finishedAt: self.finishedAt,
  updateId: self.updateId,
  offset: self.offset,
  actionKey: self.actionKey,
  maker: self.maker,
  makerRole: self.makerRole,
  madeAt: self.madeAt,
  required: self.required,
  signedBy: self.signedBy,
  figures: self.figures ?? null,
  figuresHash: self.figuresHash ?? null,
  recovery: null,
  waitingOn: operationRecords.waitingOn(self).map(RecordView.shown)
})

const recovery = (self: Approval): string | null => {
  if (self.state !== "awaiting") return null
  const left = self.required - self.signatures.length
  const people = left === 1 ? "One approver" : `${left} approvers`
  return `${people} other than the maker must call POST /v1/approvals/${self.actionKey}:approve.`
}

/** Lists the approvers that an action waits on, with the key by which they find it. */
export const awaits = (self: Approval): ReadonlyArray<RecordView.AwaitedAct> =>
  approvals
    .waitingOn(self)
    .map((waiting) => ({ ...RecordView.shown(waiting), actionKey: self.actionKey }))

const ofAction = (self: Approval, operations: DeclaredWrites): Omit<WriteAnswer, "state"> => ({
  operationId: null,
  kind: self.kind,
  summary: summaryIn(operations, self),
  resource: self.resource,
  request: self.given ?? self.request,
  result: null,
  problem: null,
  actor: null,
  actorName: null,
  actorEmail: null,
  role: null,
  createdAt: null,
  startedAt: null,
  finishedAt: null,
  updateId: null,
  offset: null,
  actionKey: self.actionKey,
  maker: self.maker,
  makerRole: self.makerRole,
  madeAt: self.madeAt,
  required: self.required,
  signedBy: signedBy(self),
  figures: self.figures ?? null,
  figuresHash: self.figuresHash ?? null,
  recovery: recovery(self),
  waitingOn: awaits(self)
})

export const ofApproval = (self: Approval, operations: DeclaredWrites): WriteAnswer => ({
  state: self.state,
  ...ofAction(self, operations)
})

/** View of an action, with the changes that were looked up for it (`ChangeLookups`). */
export const approvalView = (
  self: Approval,
  {
    changes,
    operations
  }: {
    readonly operations: DeclaredWrites
    readonly changes: ReadonlyArray<RequestedChange>
  }
): ApprovalView => ({
  ...ofAction(self, operations),
  state: self.state,
  operationId: self.operationId,
  method: self.method,
  path: self.path,
  fingerprint: self.fingerprint,
  signatures: self.signatures.map((signature) => ({
    ...signature,
    name: signature.name ?? null,
    figuresHash: signature.figuresHash ?? null
  })),
  makerName: self.makerName,
  moved: self.moved ?? null,
  changes,
  rejectedBy: self.rejectedBy,
  rejectedAt: self.rejectedAt,
  reason: self.reason,
  expiresAt: self.expiresAt
})
