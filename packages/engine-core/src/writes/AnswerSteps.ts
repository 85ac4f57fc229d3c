/** Builds the answer of a write from the current record of its operation or action. */
import { Effect } from "effect"
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Stored } from "../records/Records.ts"
import type { Approval } from "./Approval.ts"
import type { Answer, RejectionAnswer } from "./FourEyes.ts"
import type { OperationRecord } from "./OperationRecord.ts"
import { Operations } from "./Operations.ts"
import * as WriteAnswer from "./WriteAnswer.ts"

/** Answers a call with the operation that it opened, or that an earlier call did. */
export const ofOperation = Effect.fnUntraced(function* (
  record: Stored<OperationRecord>,
  now: Instant.Instant,
  { status, replayed }: Pick<Answer, "status" | "replayed">
) {
  const operations = yield* Operations
  const retryAfter = WriteAnswer.lookAgain(record, now)
  const awaitedOperation = WriteAnswer.awaitedOperation(record)
  return {
    status,
    replayed,
    value: plainAnswer(WriteAnswer.ofOperation(record, operations)),
    location: `/v1/operations/${record.operationId}`,
    retryAfter,
    awaitedOperation
  } satisfies Answer
})

/** Answers a call with the action that it made or signed, or that an earlier call did. */
export const ofAction = Effect.fnUntraced(function* (
  record: Approval,
  {
    status,
    replayed,
    also
  }: Pick<Answer, "status" | "replayed"> & {
    /** Sentence that `recovery` of this one answer ends with; absent or null: none. */
    readonly also?: string | null
  }
) {
  const operations = yield* Operations
  return {
    status,
    replayed,
    value: plainAnswer(withSentence(WriteAnswer.ofApproval(record, operations), also ?? null)),
    location: `/v1/approvals/${record.actionKey}`,
    retryAfter: null,
    awaitedOperation: null
  } satisfies Answer
})

const withSentence = (
  answer: WriteAnswer.WriteAnswer,
  sentence: string | null
): WriteAnswer.WriteAnswer =>
  sentence === null
    ? answer
    : {
        ...answer,
        recovery: answer.recovery === null ? sentence : `${answer.recovery} ${sentence}`
      }

/** Answers a rejection, or its repeat, with the record of the action. */
export const ofDecision = Effect.fnUntraced(function* (
  record: Stored<Approval>,
  answer: { readonly replayed: boolean }
) {
  // A decided action changes nothing any more.
  const view = WriteAnswer.approvalView(record, { operations: yield* Operations, changes: [] })
  return { ...answer, value: plainView(view) } satisfies RejectionAnswer
})

/** Answers a finished removal without a body. */
export const finished = (answer: Answer): Answer => ({
  ...answer,
  status: 204,
  value: null,
  retryAfter: null,
  awaitedOperation: null
})

const encodeAnswer = CompiledCodec.encoder(WriteAnswer.WriteAnswer)
const encodeView = CompiledCodec.encoder(WriteAnswer.ApprovalView)

const plainAnswer = (answer: WriteAnswer.WriteAnswer): Plain =>
  encodeAnswer(answer) as unknown as Plain
const plainView = (view: WriteAnswer.ApprovalView): Plain => encodeView(view) as unknown as Plain
