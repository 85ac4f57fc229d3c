/** Opens four-eyes actions, and answers repeated calls from the action that exists. */
import { Effect } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import { refused } from "../kernel/Refusal.ts"
import { Records } from "../records/Records.ts"
import type { Role } from "../vocabulary/Role.ts"
import * as Answers from "./AnswerSteps.ts"
import * as Approval from "./Approval.ts"
import type { Caller } from "./Caller.ts"
import * as Concerns from "./ConcernLookups.ts"
import type { Call } from "./FourEyes.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import * as Logged from "./Logged.ts"
import { finishesInCall, type Operation } from "./Operation.ts"
import * as Request from "./Request.ts"
import { flagsOf, operationById, resourceOf, traceOf } from "./OpenWrite.ts"

/** Loads the action that an idempotency key names; a missing one is a defect. */
export const approvalById = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(Approval.approvals, id)).pipe(
    Effect.catchTag("Refused", () =>
      Effect.die(new Error(`a key names action ${id}, which is not there`))
    )
  )

/** Opens a new action: judges the write now, and stores the figures that its approvers sign. */
export const make = Effect.fnUntraced(function* (proposal: {
  readonly operation: Operation
  readonly call: Call
  readonly input: unknown
  readonly fingerprint: string
  readonly key: string
  readonly role: Role
  readonly method: string
  readonly outside: JudgeWrite.Outside
  readonly actionKey: string
  /** Sentence about an equal action that awaits, for the answer's `recovery`; null: there is none. */
  readonly also: string | null
  readonly now: Instant.Instant
}) {
  const records = yield* Records
  const settings = yield* Settings
  const { actionKey, call, fingerprint, now, operation } = proposal
  const { caller, identity } = call
  const input = yield* JudgeWrite.complete(operation, proposal.input)
  const { request, sealed } = yield* JudgeWrite.hide(operation, input)
  const derived = yield* JudgeWrite.precheck(operation, input, {
    act: yield* JudgeWrite.actOf(actionKey, now, {
      actor: caller.sub,
      role: proposal.role,
      signedBy: [],
      sealed
    }),
    outside: proposal.outside
  })
  const made = yield* records
    .open(
      Approval.approvals,
      {
        actionKey,
        kind: operation.kind,
        state: "awaiting",
        resource: resourceOf(operation, input),
        ...(yield* Concerns.of(operation, input)),
        method: proposal.method,
        path: call.path,
        fingerprint: proposal.fingerprint,
        request,
        ...Request.asSent(operation, call, request),
        ...(sealed === null ? {} : { sealed }),
        maker: caller.sub,
        makerName: caller.name,
        makerEmail: caller.email,
        makerRole: proposal.role,
        madeAt: now,
        required: operation.approvers,
        signatures: [],
        ...(derived === undefined ? {} : yield* JudgeWrite.keep(derived)),
        ...(derived?.ledgerEnd === undefined ? {} : { ledgerEnd: derived.ledgerEnd }),
        key: proposal.key,
        rejectedBy: null,
        rejectedAt: null,
        rejectedKey: null,
        reason: null,
        operationId: null,
        expiresAt:
          settings.approvalExpiry === null
            ? null
            : Instant.fromEpochMillis(Instant.toEpochMillis(now) + settings.approvalExpiry),
        requestId: identity.requestId,
        traceId: identity.traceId,
        ...flagsOf(identity)
      },
      {
        cause: { by: "request", requestId: identity.requestId },
        now,
        trace: traceOf(identity)
      }
    )
    .pipe(Effect.catchTag("Refused", () => Effect.die(new Error("an action key came twice"))))
  yield* records.audit([Logged.awaiting(operation, made, { ...call, fingerprint })])
  return yield* Answers.ofAction(made, { status: 202, replayed: false, also: proposal.also })
})

/**
 * Answers a maker that repeats its call on a four-eyes route under the same key
 * (docs/contract/four-eyes.md#a-call-on-a-four-eyes-route).
 */
export const answerTo = Effect.fnUntraced(function* (
  action: Approval.Approval,
  now: Instant.Instant
) {
  if (action.state === "awaiting")
    return yield* Answers.ofAction(action, { status: 200, replayed: true })
  if (action.operationId !== null) {
    const ran = yield* operationById(action.operationId)
    return yield* Answers.ofOperation(ran, now, { status: 200, replayed: true })
  }
  return yield* Effect.fail(
    refused(action.state === "rejected" ? "approval-rejected" : "approval-decided")
  )
})

/** Answers a repeated call; to the approver of a removal without a body. */
export const answerToRepeat = Effect.fnUntraced(function* (
  operation: Operation,
  action: Approval.Approval,
  { now, caller }: { readonly caller: Caller; readonly now: Instant.Instant }
) {
  const answer = yield* answerTo(action, now)
  const isRemoval = finishesInCall(operation) && action.state === "approved"
  return isRemoval && action.maker !== caller.sub ? Answers.finished(answer) : answer
})
