/**
 * Signs and rejects actions: who may sign, the operation that the last signature opens, void
 * signatures.
 */
import { Effect, Option, Result } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import { refuse, refused, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { type KeyRow, Keys } from "../ports/storage/Keys.ts"
import type { OperationAct } from "../records/Act.ts"
import { stored } from "../records/Away.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { Role } from "../vocabulary/Role.ts"
import * as Answers from "./Answers.ts"
import * as Approval from "./Approval.ts"
import type { Answer, Call, FourEyes } from "./FourEyes.ts"
import * as Figures from "./Figures.ts"
import * as Idempotency from "./Idempotency.ts"
import * as KeyedCall from "./KeyedCall.ts"
import type { Judging, Outside } from "./JudgeWrite.ts"
import * as Logged from "./Logged.ts"
import type { Operation } from "./Operation.ts"
import { flagsOf, type Opening, traceOf } from "./OpenWrite.ts"
import type { OperationRecord } from "./OperationRecord.ts"
import { Operations } from "./Operations.ts"
import * as OperationTransitions from "./OperationTransitions.ts"

export const denied = (detail: string) => Effect.fail(refused("permission-denied", { detail }))

/** A signing call: time, route, and the figures that its sender saw. */
export interface SigningCall {
  readonly now: Instant.Instant
  readonly outside: Outside
  readonly by: "worker" | "call"
  /** The route that was called: the action's own verb, or the write's. */
  readonly route: string
  /** The hash of the figures that the signer says it saw; null: it does not say. */
  readonly seen: string | null
}

export const make = Effect.fnUntraced(function* (judging: Judging, opening: Opening) {
  const records = yield* Records
  const keys = yield* Keys
  const ids = yield* Ids
  const crypto = yield* Crypto
  const declared = yield* Operations
  const settings = yield* Settings

  const makers: ReadonlySet<Role> = new Set(declared.all.flatMap((operation) => operation.makers))
  const reused = () => Effect.fail(refused("idempotency-key-reused"))

  /**
   * Binds the key a call was keyed with to the action it is about. A key that was sent binds once; the
   * one that is made of the body is moved on, once what it named no longer binds. Answers what the
   * key named before, or names from now on.
   */
  const bindTo = Effect.fnUntraced(function* (
    actionKey: string,
    of: Pick<KeyRow, "scope" | "key" | "fingerprint"> & { readonly isSent: boolean }
  ) {
    const { scope, key, fingerprint } = of
    const target = Idempotency.target("action", actionKey)
    const now = Instant.sortable(yield* Instant.now)
    const claim = yield* stored(
      keys.claim({ scope, key, fingerprint, target, bindsUntil: null, now })
    )
    if (claim.claimed) return "action"
    if (claim.winner.fingerprint !== fingerprint) return yield* reused()
    if (!of.isSent) yield* stored(keys.retarget({ scope, key, target }))
    return Idempotency.parseTarget(claim.winner.target).kind
  })

  /** Runs an operation in the transaction that opened it: it ends with the call that approved it. */
  const runInCall = Effect.fnUntraced(
    function* (
      operation: Operation,
      queued: Stored<OperationRecord>,
      of: { readonly input: unknown; readonly act: OperationAct }
    ) {
      if (operation.on !== "records") {
        return yield* Effect.die(new Error(`${operation.kind} cannot finish in a call`))
      }
      const { act, input } = of
      const running = yield* OperationTransitions.take(queued, { at: act.now, act })
      const result = yield* operation.run(input, act)
      yield* OperationTransitions.succeed(running, { operation, result, act })
    },
    Effect.provideService(Records, records)
  )

  type Signer = Pick<Call, "caller" | "identity">
  type Refusal = Refused<"rule-refused">

  /**
   * Whether the figures are still those that await signatures, within the tolerance. Where they
   * have moved the action is kept with the new ones and without signatures; so the refusal is a
   * value, and the transaction around it ends well. A signer who names other figures than the
   * action's is refused alike, but changes nothing: else whoever may sign could void everybody's
   * signatures by naming none that ever were (docs/contract/four-eyes.md#figures).
   */
  const settled = Effect.fnUntraced(function* (
    before: Stored<Approval.Approval>,
    derived: Figures.Derived | undefined,
    of: { readonly signing: SigningCall; readonly signer: Signer }
  ) {
    const { identity } = of.signer
    const { now, route, seen } = of.signing
    const moved = derived === undefined ? [] : Figures.moved(before.figures ?? {}, derived)
    if (derived !== undefined && moved.length > 0) {
      const after = yield* records.record(
        Approval.approvals,
        before,
        { on: "reopen", ...judging.keep(derived) },
        {
          cause: { by: "request", requestId: identity.requestId },
          now,
          trace: traceOf(identity)
        }
      )
      yield* records.audit([Logged.voided(after, { ...of.signer, route })])
    }
    return moved.length > 0 || (seen !== null && seen !== before.figuresHash)
      ? refuse("rule-refused", Figures.movedTold(moved, before.actionKey))
      : Result.void
  })

  /**
   * One signature; the last opens the operation with the stored request, judged again now. Where the
   * write has figures, every signature judges it and derives them.
   */
  const sign = Effect.fnUntraced(function* (
    before: Stored<Approval.Approval>,
    signer: Signer,
    of: SigningCall
  ): Effect.fn.Return<Result.Result<Answer, Refusal>, Refused | Unavailable> {
    const { now, route } = of
    const { caller, identity } = signer
    if (Approval.signedBy(before).includes(caller.sub)) {
      return Result.succeed(
        before.state === "awaiting"
          ? Answers.ofAction(before, { status: 200, replayed: true })
          : yield* opening.standing(before, now)
      )
    }
    const operationId = yield* ids.make("op")
    const fact = yield* Effect.fromResult(Approval.sign(before, caller, { at: now, operationId }))
    const isLast = fact.on === "approve"
    const operation = declared.of(before.kind)
    const act = judging.actOf(operationId, now, {
      actor: before.maker,
      signedBy: [...Approval.signedBy(before), caller.sub],
      sealed: before.sealed ?? null,
      trace: traceOf(before)
    })
    const input = judging.inputOf(operation, before)
    const derived =
      isLast || operation.figures !== undefined
        ? yield* judging.precheck(operation, input, { act, outside: of.outside })
        : undefined
    const standing = yield* settled(before, derived, { signing: of, signer })
    if (Result.isFailure(standing)) return Result.fail(standing.failure)
    const after = yield* records.record(Approval.approvals, before, fact, {
      cause: isLast
        ? { by: "operation", operationId }
        : { by: "request", requestId: identity.requestId },
      now,
      trace: traceOf(identity)
    })
    const status = isLast && of.by === "call" ? 204 : 202
    yield* records.audit([Logged.signed(after, { caller, identity, route, status })])
    if (!isLast) return Result.succeed(Answers.ofAction(after, { status: 202, replayed: false }))
    const opened = yield* openSigned(operation, after, { input, operationId, now, by: of.by })
    const answer = Answers.ofOperation(opened, now, { status: 202, replayed: false })
    if (of.by === "worker") return Result.succeed(answer)
    yield* runInCall(operation, opened, { input, act })
    return Result.succeed(Answers.finished(answer))
  })

  /** The operation of an action that all have signed: what runs is the request as it was made. */
  const openSigned = (
    operation: Operation,
    action: Stored<Approval.Approval>,
    of: {
      readonly input: unknown
      readonly operationId: string
      readonly now: Instant.Instant
      readonly by: "worker" | "call"
    }
  ) =>
    opening.open({
      operation,
      ...of,
      request: action.request,
      sealed: action.sealed ?? null,
      actor: action.maker,
      actorName: action.makerName,
      actorEmail: action.makerEmail,
      role: action.makerRole,
      identity: {
        requestId: action.requestId,
        traceId: action.traceId,
        ...flagsOf(action),
        keyId: null
      },
      action
    })

  /** What the world outside says of an action that awaits; of any other it is not asked. */
  const askOf = Effect.fnUntraced(function* (actionKey: string) {
    const action = yield* records.find(Approval.approvals, actionKey)
    if (Option.isNone(action) || action.value.state !== "awaiting") return Result.void
    const operation = declared.of(action.value.kind)
    if (operation.judge === undefined) return Result.void
    return yield* judging.ask(operation, judging.inputOf(operation, action.value))
  })

  /** Fingerprint of `:approve` and `:reject`. */
  const onAction = (
    verb: "approve" | "reject",
    of: { readonly actionKey: string; readonly body?: Plain }
  ): string =>
    crypto.sha256(
      Idempotency.fingerprintText({
        method: "POST",
        path: `/v1/approvals/${of.actionKey}:${verb}`,
        query: "",
        body: of.body
      })
    )

  const approve: FourEyes["Service"]["approve"] = Effect.fnUntraced(function* (of) {
    if (of.caller.roles.includes("auditor")) {
      return yield* Effect.fail(refused("auditor-never-approves"))
    }
    if (!of.caller.roles.includes("approver")) {
      return yield* denied("The caller does not hold the approver role.")
    }
    const outside = yield* askOf(of.actionKey)
    const { actionKey, key } = of
    const fingerprint = onAction("approve", of)
    const answer = yield* records.transact(
      Effect.gen(function* () {
        const now = yield* Instant.now
        const isSent = key !== undefined && key !== null
        const keyed = { scope: opening.scopeOf(of.caller), key: key ?? "", fingerprint, isSent }
        const used = isSent ? yield* bindTo(actionKey, keyed) : "action"
        if (used === "moved") return refuse("rule-refused", Figures.movedTold([], actionKey))
        yield* records.lock(`action:${settings.tenantId}:${actionKey}`)
        const action = yield* records.get(Approval.approvals, actionKey)
        const signed = yield* sign(action, of, {
          now,
          outside,
          by: "worker",
          route: Logged.approveRoute,
          seen: of.seen ?? null
        })
        if (Result.isFailure(signed) && isSent) {
          const target = Idempotency.target("moved", actionKey)
          yield* stored(keys.retarget({ scope: keyed.scope, key: keyed.key, target }))
        }
        return signed
      })
    )
    return yield* Effect.fromResult(answer)
  })

  const reject: FourEyes["Service"]["reject"] = Effect.fnUntraced(function* (of) {
    const { caller } = of
    if (!caller.roles.some((role) => role === "approver" || makers.has(role))) {
      return yield* denied("None of the caller's roles makes or approves a four-eyes write.")
    }
    const { actionKey } = of
    const fingerprint = onAction("reject", of)
    const row = {
      scope: opening.scopeOf(caller),
      key: of.key ?? Idempotency.bodyKey(fingerprint),
      fingerprint,
      target: Idempotency.target("action", actionKey),
      // A rejection is final, and so is the answer to a repeated call.
      bindsUntil: null
    }
    return yield* KeyedCall.run({ records, keys }, row, (claimed) =>
      Effect.gen(function* () {
        const now = yield* Instant.now
        yield* records.lock(`action:${settings.tenantId}:${actionKey}`)
        const action = yield* records.get(Approval.approvals, actionKey)
        if (!claimed.first) return Answers.ofDecision(action, { replayed: true })
        const isMaker = action.maker === caller.sub
        if (!isMaker && caller.roles.includes("auditor")) {
          return yield* Effect.fail(refused("auditor-never-approves"))
        }
        if (!isMaker && !caller.roles.includes("approver")) {
          return yield* denied("The caller does not approve this kind of write.")
        }
        yield* Effect.fromResult(Approval.decided(action))
        const after = yield* records.record(
          Approval.approvals,
          action,
          {
            on: isMaker ? "withdraw" : "reject",
            by: caller.sub,
            at: now,
            key: of.key,
            reason: of.reason
          },
          {
            cause: { by: "request", requestId: of.identity.requestId },
            now,
            trace: traceOf(of.identity)
          }
        )
        const how = isMaker ? "withdraw" : "reject"
        yield* records.audit([Logged.rejected(after, { ...of, how })])
        return Answers.ofDecision(after, { replayed: false })
      })
    )
  })

  return { approve, bindTo, reject, sign }
})

export type Signing = Effect.Success<ReturnType<typeof make>>
