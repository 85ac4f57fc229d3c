/**
 * Opens operations: writes of one person, actions that all approvers have signed, the engine's own
 * writes.
 */
import { Effect } from "effect"
import * as Metrics from "../engine/Metrics.ts"
import * as Discreet from "../restraints/restriction/Discreet.ts"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import { refused } from "../kernel/Refusal.ts"
import * as Trace from "../kernel/Trace.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { Keys } from "../ports/storage/Keys.ts"
import { stored } from "../records/Away.ts"
import { Records } from "../records/Records.ts"
import type { Role } from "../vocabulary/Role.ts"
import * as Answers from "./Answers.ts"
import * as Approval from "./Approval.ts"
import type { Caller, RequestIdentity } from "./Caller.ts"
import type { Call, FourEyes } from "./FourEyes.ts"
import * as Idempotency from "./Idempotency.ts"
import type { Judging, Outside } from "./JudgeWrite.ts"
import * as Logged from "./Logged.ts"
import { finishesInCall, type Operation } from "./Operation.ts"
import { operations } from "./OperationRecord.ts"
import * as Request from "./Request.ts"
import type * as Secrets from "./Secrets.ts"

/** The queue that operations wait in. */
export const queue = "operations"

/** Members of a call's trace that are stored to be passed on. */
type KeptTrace = Pick<RequestIdentity, "traceId" | "traceFlags">
export const traceOf = ({ traceId, traceFlags }: KeptTrace) => Trace.of(traceId, traceFlags)
export const flagsOf = ({ traceFlags }: KeptTrace) =>
  traceFlags === undefined ? {} : { traceFlags }

/** The record a write acts on, as its answer names it. */
export const resourceOf = (operation: Operation, input: unknown) => ({
  kind: operation.resource.kind,
  id: operation.resource.id(input),
  href: operation.resource.href(input)
})

const later = (now: Instant.Instant, millis: number): string =>
  Instant.sortable(Instant.fromEpochMillis(Instant.toEpochMillis(now) + millis))

export interface ToOpen {
  readonly operation: Operation
  readonly operationId: string
  readonly input: unknown
  readonly request: Plain
  readonly sealed: Secrets.Sealed | null
  readonly actor: string
  readonly actorName: string | null
  readonly actorEmail: string | null
  readonly role: Role | null
  readonly identity: RequestIdentity
  readonly action: Approval.Approval | null
  readonly now: Instant.Instant
  /** Who runs it: a worker, once this is committed, or this call itself. */
  readonly by: "worker" | "call"
}

export const make = Effect.fnUntraced(function* (judging: Judging) {
  const records = yield* Records
  const keys = yield* Keys
  const ids = yield* Ids
  const crypto = yield* Crypto
  const settings = yield* Settings

  const scopeOf = (caller: Pick<Caller, "sub">) => `${settings.tenantId}/${caller.sub}`
  /** Key scope of the engine's own writes: a tenant's id has no colon, so no subject shares it. */
  const ownScope = `engine:${settings.tenantId}`

  /** The operation's row, its place in the queue: one transaction with whatever led to it. */
  const open = Effect.fnUntraced(function* (of: ToOpen) {
    const { operation, operationId, input, action } = of
    const resource = resourceOf(operation, input)
    const opened = yield* records
      .open(
        operations,
        {
          operationId,
          kind: operation.kind,
          state: "queued",
          resource,
          instrumentId: operation.resource.instrumentId?.(input) ?? null,
          holderId: operation.resource.holderId?.(input) ?? null,
          request: of.request,
          ...(of.sealed === null ? {} : { sealed: of.sealed }),
          result: null,
          problem: null,
          actor: of.actor,
          actorName: of.actorName,
          actorEmail: of.actorEmail,
          role: of.role,
          startedAt: null,
          finishedAt: null,
          updateId: null,
          offset: null,
          actionKey: action?.actionKey ?? null,
          maker: action?.maker ?? null,
          makerRole: action?.makerRole ?? null,
          madeAt: action?.madeAt ?? null,
          required: action?.required ?? null,
          signedBy: action === null ? null : Approval.signedBy(action),
          ...(action?.figures === undefined ? {} : { figures: action.figures }),
          ...(action?.figuresHash === undefined ? {} : { figuresHash: action.figuresHash }),
          requestId: of.identity.requestId,
          traceId: of.identity.traceId,
          ...flagsOf(of.identity),
          step: null
        },
        { cause: { by: "operation", operationId }, now: of.now, trace: traceOf(of.identity) }
      )
      .pipe(Effect.catchTag("Refused", () => Effect.die(new Error("an operation id came twice"))))
    if (of.by === "call") return opened
    yield* records.enqueue([
      {
        queue,
        itemId: operationId,
        resource: `${resource.kind}:${resource.id}`,
        // The item's payload names the kind, so that a worker knows it before it loads the
        // operation.
        payload: operation.kind,
        delay: 0
      }
    ])
    yield* records.whenCommitted(Metrics.cameTo(operation.kind, "queued"))
    return opened
  })

  const operationById = (id: string) =>
    Effect.catchTag(records.get(operations, id), "Refused", () =>
      Effect.die(new Error(`a key names operation ${id}, which is not there`))
    )
  const approvalById = (id: string) =>
    Effect.catchTag(records.get(Approval.approvals, id), "Refused", () =>
      Effect.die(new Error(`a key names action ${id}, which is not there`))
    )

  const reused = () => Effect.fail(refused("idempotency-key-reused"))

  // ---- a write of one person ------------------------------------------------------------------

  const single = Effect.fnUntraced(function* (
    operation: Operation,
    call: Call,
    of: {
      readonly input: unknown
      readonly fingerprint: string
      readonly role: Role
      readonly outside: Outside
    }
  ) {
    const now = yield* Instant.now
    const operationId = yield* ids.make("op")
    const sortable = Instant.sortable(now)
    const claim = yield* keys
      .claim({
        scope: scopeOf(call.caller),
        key: call.key ?? Idempotency.bodyKey(of.fingerprint),
        fingerprint: of.fingerprint,
        target: Idempotency.target("operation", operationId),
        bindsUntil: call.key === null ? later(now, settings.bodyKeyWindow) : null,
        now: sortable
      })
      .pipe(stored)
    if (!claim.claimed) {
      if (claim.winner.fingerprint !== of.fingerprint) return yield* reused()
      const { id } = Idempotency.parseTarget(claim.winner.target)
      const before = Discreet.operationFor(yield* operationById(id), of.role)
      return Answers.ofOperation(before, now, { status: 200, replayed: true })
    }
    const input = yield* judging.complete(operation, of.input)
    const { request, sealed } = yield* judging.hide(operation, input)
    yield* judging.precheck(operation, input, {
      act: judging.actOf(operationId, now, { actor: call.caller.sub, signedBy: [], sealed }),
      outside: of.outside
    })
    const opened = yield* open({
      operation,
      operationId,
      input,
      request,
      sealed,
      actor: call.caller.sub,
      actorName: call.caller.name,
      actorEmail: call.caller.email,
      role: of.role,
      identity: call.identity,
      action: null,
      now,
      by: "worker"
    })
    const { caller, identity } = call
    const { fingerprint } = of
    yield* records.audit([Logged.requested(operation, opened, { caller, identity, fingerprint })])
    return Answers.ofOperation(opened, now, { status: 202, replayed: false })
  })

  // ---- a four-eyes action ----------------------------------------------------------------------

  /** A new action of its own: judged now, and shown to its approvers with the figures it comes to. */
  const makeAction = Effect.fnUntraced(function* (of: {
    readonly operation: Operation
    readonly call: Call
    readonly input: unknown
    readonly fingerprint: string
    readonly key: string
    readonly role: Role
    readonly method: string
    readonly outside: Outside
    readonly actionKey: string
    readonly now: Instant.Instant
  }) {
    const { actionKey, call, fingerprint, now, operation } = of
    const { caller, identity } = call
    const input = yield* judging.complete(operation, of.input)
    const { request, sealed } = yield* judging.hide(operation, input)
    const derived = yield* judging.precheck(operation, input, {
      act: judging.actOf(actionKey, now, { actor: caller.sub, signedBy: [], sealed }),
      outside: of.outside
    })
    const made = yield* records
      .open(
        Approval.approvals,
        {
          actionKey,
          kind: operation.kind,
          state: "awaiting",
          resource: resourceOf(operation, input),
          instrumentId: operation.resource.instrumentId?.(input) ?? null,
          holderId: operation.resource.holderId?.(input) ?? null,
          method: of.method,
          path: call.path,
          fingerprint: of.fingerprint,
          request,
          ...(sealed === null ? {} : { sealed }),
          maker: caller.sub,
          makerName: caller.name,
          makerEmail: caller.email,
          makerRole: of.role,
          madeAt: now,
          required: operation.approvers,
          signatures: [],
          ...(derived === undefined ? {} : judging.keep(derived)),
          key: of.key,
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
    return Answers.ofAction(made, { status: 202, replayed: false })
  })

  // ---- an action that was made before ---------------------------------------------------------

  /**
   * What a maker that repeats its call is answered: row b of
   * docs/contract/four-eyes.md#a-call-on-a-four-eyes-route.
   */
  const standing = Effect.fnUntraced(function* (action: Approval.Approval, now: Instant.Instant) {
    if (action.state === "awaiting")
      return Answers.ofAction(action, { status: 200, replayed: true })
    if (action.operationId !== null) {
      const ran = yield* operationById(action.operationId)
      return Answers.ofOperation(ran, now, { status: 200, replayed: true })
    }
    return yield* Effect.fail(
      refused(action.state === "rejected" ? "approval-rejected" : "approval-decided")
    )
  })

  /** The answer to a repeated call; a removal that the caller signed answers without a body. */
  const repeated = Effect.fnUntraced(function* (
    operation: Operation,
    action: Approval.Approval,
    of: { readonly caller: Caller; readonly now: Instant.Instant }
  ) {
    const answer = yield* standing(action, of.now)
    const isRemoval = finishesInCall(operation) && action.state === "approved"
    return isRemoval && action.maker !== of.caller.sub ? Answers.finished(answer) : answer
  })

  // ---- an act of the engine's own -------------------------------------------------------------

  const openOwn: FourEyes["Service"]["open"] = Effect.fnUntraced(
    function* (operation, request, key) {
      const input = yield* judging.complete(operation, Request.decode(operation, request))
      const fingerprint = crypto.sha256(`${operation.kind}\n${PlainJson.canonical(request)}`)
      return yield* records.transact(
        Effect.gen(function* () {
          const now = yield* Instant.now
          const operationId = yield* ids.make("op")
          const claim = yield* stored(
            keys.claim({
              scope: ownScope,
              key,
              fingerprint,
              target: Idempotency.target("operation", operationId),
              bindsUntil: null,
              now: Instant.sortable(now)
            })
          )
          if (!claim.claimed) {
            if (claim.winner.fingerprint !== fingerprint) return yield* reused()
            const { id } = Idempotency.parseTarget(claim.winner.target)
            return Answers.ofOperation(yield* operationById(id), now, {
              status: 200,
              replayed: true
            })
          }
          const hidden = yield* judging.hide(operation, input)
          const opened = yield* open({
            operation,
            operationId,
            input,
            ...hidden,
            actor: Logged.engine,
            actorName: null,
            actorEmail: null,
            role: null,
            identity: { requestId: operationId, traceId: null, keyId: null },
            action: null,
            now,
            by: "worker"
          })
          yield* records.audit([Logged.requested(operation, opened, null)])
          return Answers.ofOperation(opened, now, { status: 202, replayed: false })
        })
      )
    }
  )

  return {
    makeAction,
    open,
    openOwn,
    operationById,
    approvalById,
    repeated,
    scopeOf,
    single,
    standing
  }
})

export type Opening = Effect.Success<ReturnType<typeof make>>
