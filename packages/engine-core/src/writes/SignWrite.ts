/**
 * Signs actions: checks the signer and the figures, and opens the operation on the last signature.
 */
import { Effect, Option, Result } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import { refuse, refused, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import type { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import type { Ledger } from "../ports/Ledger.ts"
import type { Bulk } from "../ports/storage/Bulk.ts"
import type { OperationAct } from "../records/Act.ts"
import type { LedgerReach } from "../records/LedgerReach.ts"
import { Records, type Stored } from "../records/Records.ts"
import * as ActionWrite from "./ActionWrite.ts"
import * as Answers from "./AnswerSteps.ts"
import * as Approval from "./Approval.ts"
import type { Answer, Call, FourEyes } from "./FourEyes.ts"
import * as Figures from "./Figures.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import * as KeyedCall from "./KeyedCall.ts"
import * as Logged from "./Logged.ts"
import type { Operation } from "./Operation.ts"
import * as OpenWrite from "./OpenWrite.ts"
import type { OperationRecord } from "./OperationRecord.ts"
import { Operations } from "./Operations.ts"
import * as OperationTransitions from "./OperationTransitions.ts"

/** Refuses a caller that holds no role of the call. */
export const denied = (detail: string) => Effect.fail(refused("permission-denied", { detail }))

/** A signing call: time, route, and the figures that its sender saw. */
interface SigningCall {
  readonly now: Instant.Instant
  readonly outside: JudgeWrite.Outside
  readonly by: "worker" | "call"
  /** The route that was called: `:approve`, or the route of the write. */
  readonly route: string
  /** Hash of the figures that the signer saw; null: it named none. */
  readonly figuresHashSeen: string | null
  /** True: the signer has called before under the call's key, or without one. */
  readonly isRepeat: boolean
}

/** Runs an operation in the transaction of the approval that opened it. */
const runInCall = Effect.fnUntraced(function* (
  operation: Operation,
  queued: Stored<OperationRecord>,
  { act, input }: { readonly input: unknown; readonly act: OperationAct }
) {
  if (operation.on !== "records") {
    return yield* Effect.die(new Error(`${operation.kind} cannot finish in a call`))
  }
  const running = yield* OperationTransitions.take(queued, { at: act.now, act })
  const result = yield* operation.run(input, act)
  yield* OperationTransitions.succeed(running, { operation, result, act })
})

type Needs = Records | Bulk | LedgerReach | Ids | Crypto | Ledger | Operations
type Signer = Pick<Call, "caller" | "identity">
type Refusal = Refused<"rule-refused">

/**
 * Checks that the figures are those that await signatures, within the tolerance. Where they have
 * moved, stores the new ones and voids the signatures; the refusal is a value, so that the
 * transaction commits. A signer that names other figures than the action's is refused too and
 * changes nothing: otherwise any signer could void all signatures by naming invented figures
 * (docs/contract/four-eyes.md#figures).
 */
const checkFigures = Effect.fnUntraced(function* (
  before: Stored<Approval.Approval>,
  derived: Figures.DerivedFigures | undefined,
  { signer, signing }: { readonly signing: SigningCall; readonly signer: Signer }
) {
  const records = yield* Records
  const { identity } = signer
  const { now, route, figuresHashSeen } = signing
  const moved = derived === undefined ? [] : Figures.moved(before.figures ?? {}, derived)
  if (derived !== undefined && moved.length > 0) {
    const after = yield* records.append(
      Approval.approvals,
      before,
      { on: "reopen", at: now, ...(yield* JudgeWrite.keep(derived)) },
      {
        cause: { by: "request", requestId: identity.requestId },
        now,
        trace: OpenWrite.traceOf(identity)
      }
    )
    yield* records.audit([Logged.voided(after, { ...signer, route })])
  }
  return moved.length > 0 || (figuresHashSeen !== null && figuresHashSeen !== before.figuresHash)
    ? refuse("rule-refused", Figures.movedDetails(moved, before.actionKey))
    : Result.void
})

/**
 * Adds one signature; the last one judges the stored request again and opens its operation. Where
 * the write has figures, every signature judges the write and derives them. A repeat of a call whose
 * signature does not count is refused unless it names the figures of the action: they have moved since
 * that call, and its sender may not have seen the new ones (docs/contract/four-eyes.md#figures).
 */
export const sign = Effect.fnUntraced(function* (
  before: Stored<Approval.Approval>,
  signer: Signer,
  signing: SigningCall
): Effect.fn.Return<Result.Result<Answer, Refusal>, Refused | Unavailable, Needs> {
  const records = yield* Records
  const ids = yield* Ids
  const operations = yield* Operations
  const { now, route } = signing
  const { caller, identity } = signer
  if (Approval.signedBy(before).includes(caller.sub)) {
    return Result.succeed(
      before.state === "awaiting"
        ? yield* Answers.ofAction(before, { status: 200, replayed: true })
        : yield* ActionWrite.answerTo(before, now)
    )
  }
  const operationId = yield* ids.make("op")
  const fact = yield* Effect.fromResult(Approval.sign(before, caller, { at: now, operationId }))
  const { figuresHash } = before
  if (signing.isRepeat && figuresHash !== undefined && signing.figuresHashSeen !== figuresHash) {
    return refuse("rule-refused", Figures.movedDetails([], before.actionKey))
  }
  const isLast = fact.on === "approve"
  const operation = operations.of(before.kind)
  const act = yield* JudgeWrite.actOf(operationId, now, {
    actor: before.maker,
    role: before.makerRole,
    signedBy: [...Approval.signedBy(before), caller.sub],
    sealed: before.sealed ?? null,
    trace: OpenWrite.traceOf(before),
    ledgerEnd: before.ledgerEnd
  })
  const input = yield* JudgeWrite.inputOf(operation, before)
  const derived =
    isLast || operation.figures !== undefined
      ? yield* JudgeWrite.precheck(operation, input, { act, outside: signing.outside })
      : undefined
  const checked = yield* checkFigures(before, derived, { signing, signer })
  if (Result.isFailure(checked)) return Result.fail(checked.failure)
  const after = yield* records.append(Approval.approvals, before, fact, {
    cause: isLast
      ? { by: "operation", operationId }
      : { by: "request", requestId: identity.requestId },
    now,
    trace: OpenWrite.traceOf(identity)
  })
  const status = isLast && signing.by === "call" ? 204 : 202
  yield* records.audit([Logged.signed(after, { caller, identity, route, status })])
  if (!isLast)
    return Result.succeed(yield* Answers.ofAction(after, { status: 202, replayed: false }))
  const opened = yield* openSigned(operation, after, { input, operationId, now, by: signing.by })
  const answer = yield* Answers.ofOperation(opened, now, { status: 202, replayed: false })
  if (signing.by === "worker") return Result.succeed(answer)
  yield* runInCall(operation, opened, { input, act })
  return Result.succeed(Answers.finished(answer))
})

/** Opens the operation of an action that all have signed; it runs the stored request. */
const openSigned = (
  operation: Operation,
  action: Stored<Approval.Approval>,
  run: {
    readonly input: unknown
    readonly operationId: string
    readonly now: Instant.Instant
    readonly by: "worker" | "call"
  }
) =>
  OpenWrite.open({
    operation,
    ...run,
    request: action.request,
    given: action.given,
    sealed: action.sealed ?? null,
    actor: action.maker,
    actorName: action.makerName,
    actorEmail: action.makerEmail,
    role: action.makerRole,
    identity: {
      requestId: action.requestId,
      traceId: action.traceId,
      ...OpenWrite.flagsOf(action),
      keyId: null
    },
    action
  })

/** Asks for the outside judgement of an action that awaits signatures. */
const askOf = Effect.fnUntraced(function* (actionKey: string) {
  const records = yield* Records
  const operations = yield* Operations
  const action = yield* records.find(Approval.approvals, actionKey)
  if (Option.isNone(action) || action.value.state !== "awaiting") return Result.void
  const operation = operations.of(action.value.kind)
  if (operation.judge === undefined) return Result.void
  return yield* JudgeWrite.ask(operation, yield* JudgeWrite.inputOf(operation, action.value))
})

/** Signs an action by its own verb; the refusals are those of `FourEyes.approve`. */
export const approve = Effect.fnUntraced(function* (
  signature: Parameters<FourEyes["Service"]["approve"]>[0]
) {
  const records = yield* Records
  const settings = yield* Settings
  if (signature.caller.roles.includes("auditor")) {
    return yield* Effect.fail(refused("auditor-never-approves"))
  }
  if (!signature.caller.roles.includes("approver")) {
    return yield* denied("The caller does not hold the approver role.")
  }
  const outside = yield* askOf(signature.actionKey)
  const { actionKey, key } = signature
  const fingerprint = yield* KeyedCall.fingerprintOfVerb("approve", signature)
  const keyed = yield* KeyedCall.keyOf(signature.caller, { fingerprint, sentKey: key ?? null })
  const answer = yield* records.transact(
    Effect.gen(function* () {
      const now = yield* Instant.now
      const isRepeat = yield* KeyedCall.bindSignature(actionKey, keyed)
      yield* records.lock(`action:${settings.tenantId}:${actionKey}`)
      const action = yield* records.get(Approval.approvals, actionKey)
      return yield* sign(action, signature, {
        ...{ now, outside, isRepeat },
        by: "worker",
        route: Logged.approveRoute,
        figuresHashSeen: signature.figuresHashSeen ?? null
      })
    })
  )
  return yield* Effect.fromResult(answer)
})
