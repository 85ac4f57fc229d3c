/** Builds the answer of a write from the current record of its operation or action. */
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Stored } from "../records/Records.ts"
import type { Approval } from "./Approval.ts"
import type { Answer, RejectionAnswer } from "./FourEyes.ts"
import type { OperationRecord } from "./OperationRecord.ts"
import * as WriteAnswer from "./WriteAnswer.ts"

export const ofOperation = (
  record: Stored<OperationRecord>,
  now: Instant.Instant,
  { status, replayed }: Pick<Answer, "status" | "replayed">
): Answer => {
  const retryAfter = WriteAnswer.lookAgain(record, now)
  const awaitedOperation = WriteAnswer.awaitedOperation(record)
  return {
    status,
    replayed,
    value: plainAnswer(WriteAnswer.ofOperation(record)),
    location: `/v1/operations/${record.operationId}`,
    retryAfter,
    awaitedOperation
  }
}

export const ofAction = (
  record: Approval,
  {
    status,
    replayed,
    also
  }: Pick<Answer, "status" | "replayed"> & {
    /** Sentence that `recovery` of this one answer ends with; absent or null: none. */
    readonly also?: string | null
  }
): Answer => ({
  status,
  replayed,
  value: plainAnswer(withSentence(WriteAnswer.ofApproval(record), also ?? null)),
  location: `/v1/approvals/${record.actionKey}`,
  retryAfter: null,
  awaitedOperation: null
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

export const ofDecision = (
  record: Stored<Approval>,
  answer: { readonly replayed: boolean }
): RejectionAnswer => ({ ...answer, value: plainView(WriteAnswer.approvalView(record)) })

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
