/** The implementation of the only door to a write: keys, actions, signatures, and what they open. */
import { Effect, Layer, Option, Result } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import { refused, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import * as Shape from "../kernel/Shape.ts"
import * as Trace from "../kernel/Trace.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { Ledger } from "../ports/Ledger.ts"
import { WebhookSender } from "../ports/WebhookSender.ts"
import { type KeyRow, Keys } from "../ports/storage/Keys.ts"
import type { OperationAct } from "../records/Act.ts"
import { stored } from "../records/Away.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { Role } from "../vocabulary/Role.ts"
import * as Approval from "./Approval.ts"
import { type Caller, type RequestIdentity, roleOf } from "./Caller.ts"
import { type Answer, type Call, type Decided, FourEyes } from "./FourEyes.ts"
import * as Idempotency from "./Idempotency.ts"
import * as InCallDoor from "./InCallDoor.ts"
import * as LapseRunner from "./LapseRunner.ts"
import * as Logged from "./Logged.ts"
import { finishesInCall, type Operation, pathNames } from "./Operation.ts"
import { operations, type OperationRecord } from "./OperationRecord.ts"
import { Operations } from "./Operations.ts"
import * as Metrics from "../engine/Metrics.ts"
import { Settings } from "../engine/Settings.ts"
import * as Request from "./Request.ts"
import * as Secrets from "./Secrets.ts"
import * as WriteAnswer from "./WriteAnswer.ts"

/** The queue that operations wait in. */
export const queue = "operations"

/** Actions of one fingerprint that are looked at in one go. */
const sameMax = 100

const operationAnswer = (
  record: Stored<OperationRecord>,
  now: Instant.Instant,
  of: Pick<Answer, "status" | "replayed">
): Answer => ({
  ...of,
  value: WriteAnswer.plainAnswer(WriteAnswer.ofOperation(record)),
  location: `/v1/operations/${record.operationId}`,
  retryAfter: WriteAnswer.lookAgain(record, now)
})

const actionAnswer = (
  record: Approval.Approval,
  of: Pick<Answer, "status" | "replayed">
): Answer => ({
  ...of,
  value: WriteAnswer.plainAnswer(WriteAnswer.ofApproval(record)),
  location: `/v1/approvals/${record.actionKey}`,
  retryAfter: null
})

const decidedAnswer = (
  record: Stored<Approval.Approval>,
  of: { readonly replayed: boolean }
): Decided => ({ ...of, value: WriteAnswer.plainView(WriteAnswer.approvalView(record)) })

/** What the world outside says of a write, where its declaration asks it anything. */
type Outside = Result.Result<void, Refused | Unavailable>

/** A removal is answered without a body once it is done. */
const finished = (answer: Answer): Answer => ({
  ...answer,
  status: 204,
  value: null,
  retryAfter: null
})

/** A write's decoder, made once. */
const decoders = new WeakMap<Operation, Shape.Decoder<unknown>>()
const decoderOf = (operation: Operation): Shape.Decoder<unknown> => {
  const known = decoders.get(operation)
  if (known !== undefined) return known
  const decoder = Shape.decoder(operation.input)
  decoders.set(operation, decoder)
  return decoder
}

/** The call's input: the ids its path named and the members of its body, decoded as one. */
export const decodeInput = (
  operation: Operation,
  call: Pick<Call, "body" | "params">
): Result.Result<unknown, Refused<"invalid-request">> => {
  const body = call.body ?? {}
  const names = pathNames(operation.route)
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return Result.fail(
      refused("invalid-request", {
        errors: [{ pointer: "/body", detail: "The body is a JSON object." }]
      })
    )
  }
  const doubled = names.filter((name) => Object.hasOwn(body, name))
  if (doubled.length > 0) {
    return Result.fail(
      refused("invalid-request", {
        errors: doubled.map((name) => ({
          pointer: `/body/${name}`,
          detail: "The path names this already."
        }))
      })
    )
  }
  return decoderOf(operation).decode({ ...body, ...call.params }, (member) =>
    member !== undefined && names.includes(member) ? "/path" : "/body"
  )
}

/** What is kept of a call's trace, to pass it on. */
type Kept = Pick<RequestIdentity, "traceId" | "traceFlags">
const traceOf = ({ traceId, traceFlags }: Kept) => Trace.of(traceId, traceFlags)
const flagsOf = ({ traceFlags }: Kept) => (traceFlags === undefined ? {} : { traceFlags })

const denied = (detail: string) => Effect.fail(refused("permission-denied", { detail }))

const make = Effect.gen(function* () {
  const records = yield* Records
  const keys = yield* Keys
  const ids = yield* Ids
  const crypto = yield* Crypto
  const ledger = yield* Ledger
  const declared = yield* Operations
  const settings = yield* Settings
  const sender = yield* WebhookSender

  const makers: ReadonlySet<Role> = new Set(declared.all.flatMap((operation) => operation.makers))

  const scopeOf = (caller: Pick<Caller, "sub">) => `${settings.tenantId}/${caller.sub}`
  /** The engine's own scope: no tenant's id has a colon, so nobody's sub makes the same text. */
  const ownScope = `engine:${settings.tenantId}`

  const judging = (operation: Operation, input: unknown, act: OperationAct) => {
    switch (operation.on) {
      case "records":
        return Effect.asVoid(operation.run(input, act))
      case "ledger":
        return Effect.asVoid(operation.plan(input, act, 1))
      case "outside":
        return operation.begin(input, act)
    }
  }

  /** Judges a write as it would run now, and writes nothing. */
  const precheck = (
    operation: Operation,
    input: unknown,
    of: { readonly act: OperationAct; readonly outside: Outside }
  ): Effect.Effect<void, Refused | Unavailable> =>
    Effect.andThen(
      Effect.fromResult(of.outside),
      records.rehearse(judging(operation, input, of.act))
    ).pipe(Effect.provideService(Records, records), Effect.provideService(Crypto, crypto))

  /** What the world outside says of a write; asked before the transaction, told inside it. */
  const ask = (operation: Operation, input: unknown): Effect.Effect<Outside> =>
    operation.judge === undefined
      ? Effect.succeed(Result.void)
      : Effect.result(operation.judge(input)).pipe(
          Effect.provideService(WebhookSender, sender),
          Effect.provideService(Settings, settings)
        )

  /** The request as it is kept, its secrets sealed beside it. */
  const hide = Effect.fnUntraced(function* (operation: Operation, input: unknown) {
    const request = Request.encode(operation, input)
    const secrets = operation.secrets ?? []
    if (secrets.length === 0) return { request, sealed: null }
    const chance = yield* ids.bytes(Secrets.chanceBytes(secrets))
    return Secrets.hide(request, { secrets, keys: settings.sealingKeys, chance }, crypto)
  })

  const inputOf = (operation: Operation, kept: Pick<Approval.Approval, "request" | "sealed">) =>
    Request.decode(operation, Secrets.reveal(kept, { keys: settings.sealingKeys }, crypto))

  const actOf = (
    operationId: string,
    now: Instant.Instant,
    of: Pick<OperationAct, "actor" | "signedBy" | "sealed" | "trace">
  ): OperationAct => ({
    cause: { by: "operation", operationId },
    now,
    operationId,
    venue: ledger.venue,
    ...of
  })

  interface Opening {
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

  /** The operation's row, its place in the queue: one transaction with whatever led to it. */
  const open = Effect.fnUntraced(function* (of: Opening) {
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
        // So that a worker knows what to run before it has read what is asked.
        payload: operation.kind,
        delay: 0
      }
    ])
    yield* records.whenCommitted(Metrics.cameTo(operation.kind, "queued"))
    return opened
  })

  const complete = Effect.fnUntraced(function* (operation: Operation, input: unknown) {
    if (operation.complete === undefined) return input
    const made = yield* ids.make(prefixOf(operation))
    return operation.complete(input, () => made)
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

  // ---- writes of one person -------------------------------------------------------------------

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
      return operationAnswer(yield* operationById(id), now, { status: 200, replayed: true })
    }
    const input = yield* complete(operation, of.input)
    const { request, sealed } = yield* hide(operation, input)
    yield* precheck(operation, input, {
      act: actOf(operationId, now, { actor: call.caller.sub, signedBy: [], sealed }),
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
    return operationAnswer(opened, now, { status: 202, replayed: false })
  })

  // ---- four eyes ------------------------------------------------------------------------------

  /** What an action is to somebody who calls its route again: contract.md section 4, row b. */
  const standing = Effect.fnUntraced(function* (action: Approval.Approval, now: Instant.Instant) {
    if (action.state === "awaiting") return actionAnswer(action, { status: 200, replayed: true })
    if (action.operationId !== null) {
      const ran = yield* operationById(action.operationId)
      return operationAnswer(ran, now, { status: 200, replayed: true })
    }
    return yield* Effect.fail(
      refused(action.state === "rejected" ? "approval-rejected" : "approval-decided")
    )
  })

  /** The same for whoever repeats a call; a removal that the caller signed leaves nothing to show. */
  const repeated = Effect.fnUntraced(function* (
    operation: Operation,
    action: Approval.Approval,
    of: { readonly caller: Caller; readonly now: Instant.Instant }
  ) {
    const answer = yield* standing(action, of.now)
    const isRemoval = finishesInCall(operation) && action.state === "approved"
    return isRemoval && action.maker !== of.caller.sub ? finished(answer) : answer
  })

  /** Runs an operation in the transaction that opened it: it ends with the call that approved it. */
  const runInCall = Effect.fnUntraced(function* (
    operation: Operation,
    queued: Stored<OperationRecord>,
    of: { readonly input: unknown; readonly act: OperationAct }
  ) {
    if (operation.on !== "records") {
      return yield* Effect.die(new Error(`${operation.kind} cannot finish in a call`))
    }
    const { act } = of
    const running = yield* records.record(operations, queued, { on: "take", at: act.now }, act)
    yield* records.audit([Logged.started(queued)])
    const result = yield* Effect.provideService(operation.run(of.input, act), Records, records)
    yield* records.record(
      operations,
      running,
      { on: "succeed", at: act.now, result: Request.encodeResult(operation, result) },
      act
    )
    yield* records.audit([Logged.ended(queued, null)])
    yield* records.whenCommitted(Metrics.ended(operation.kind, "succeeded", 0n))
  })

  /** One signature; the last opens the operation with the stored request, judged again now. */
  const sign = Effect.fnUntraced(function* (
    before: Stored<Approval.Approval>,
    { caller, identity }: Pick<Call, "caller" | "identity">,
    of: {
      readonly now: Instant.Instant
      readonly outside: Outside
      readonly by: "worker" | "call"
      /** The route that was called: the action's own verb, or the write's. */
      readonly route: string
    }
  ) {
    const { now, route } = of
    if (Approval.signedBy(before).includes(caller.sub)) {
      if (before.state === "awaiting") {
        return actionAnswer(before, { status: 200, replayed: true })
      }
      return yield* standing(before, now)
    }
    const operationId = yield* ids.make("op")
    const fact = yield* Effect.fromResult(Approval.sign(before, caller, { at: now, operationId }))
    const operation = declared.of(before.kind)
    const act = actOf(operationId, now, {
      actor: before.maker,
      signedBy: [...Approval.signedBy(before), caller.sub],
      sealed: before.sealed ?? null,
      trace: traceOf(before)
    })
    const input = inputOf(operation, before)
    if (fact.on === "approve") yield* precheck(operation, input, { act, outside: of.outside })
    const after = yield* records.record(Approval.approvals, before, fact, {
      cause:
        fact.on === "approve"
          ? { by: "operation", operationId }
          : { by: "request", requestId: identity.requestId },
      now,
      trace: traceOf(identity)
    })
    const status = fact.on === "approve" && of.by === "call" ? 204 : 202
    yield* records.audit([Logged.signed(after, { caller, identity, route, status })])
    if (fact.on !== "approve") return actionAnswer(after, { status: 202, replayed: false })
    const opened = yield* open({
      operation,
      operationId,
      input,
      request: before.request,
      sealed: before.sealed ?? null,
      actor: before.maker,
      actorName: before.makerName,
      actorEmail: before.makerEmail,
      role: before.makerRole,
      identity: {
        requestId: before.requestId,
        traceId: before.traceId,
        ...flagsOf(before),
        keyId: null
      },
      action: after,
      now,
      by: of.by
    })
    const answer = operationAnswer(opened, now, { status: 202, replayed: false })
    if (of.by === "worker") return answer
    yield* runInCall(operation, opened, { input, act })
    return finished(answer)
  })

  type Action = Stored<Approval.Approval>

  /** The actions of a request in one state, newest first, until `take` has taken enough. */
  const matching = Effect.fnUntraced(function* (
    of: { readonly fingerprint: string; readonly state: Action["state"] },
    take: (action: Action) => Effect.Effect<boolean, Unavailable>
  ) {
    const taken: Array<Action> = []
    const where = { fingerprint: [of.fingerprint], state: [of.state] }
    for (let after: string | undefined; ; ) {
      const rows = yield* records.list(Approval.approvals, {
        where,
        direction: "desc",
        limit: sameMax,
        ...(after === undefined ? {} : { after })
      })
      for (const { record } of rows) {
        if (!(yield* take(record))) continue
        taken.push(record)
        if (of.state !== "awaiting") return taken
      }
      after = rows.at(-1)?.sortKey
      if (rows.length < sameMax) return taken
    }
  })

  /**
   * Binds the key a call was keyed with to the action it is about. A key that was sent binds once; the
   * one that is made of the body is moved on, once what it named no longer binds.
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
    if (claim.claimed) return
    if (claim.winner.fingerprint !== fingerprint) return yield* reused()
    if (!of.isSent) yield* stored(keys.retarget({ scope, key, target }))
  })

  const shared = Effect.fnUntraced(function* (
    operation: Operation,
    call: Call,
    of: {
      readonly input: unknown
      readonly fingerprint: string
      readonly role: Role | undefined
      readonly method: string
      readonly outside: Outside
    }
  ) {
    const { caller, key } = call
    const now = yield* Instant.now
    const scope = scopeOf(caller)
    yield* records.lock(`write:${settings.tenantId}:${of.fingerprint}`)
    const { fingerprint } = of
    const keyed = {
      scope,
      key: key ?? Idempotency.bodyKey(fingerprint),
      fingerprint,
      isSent: key !== null
    }
    const sortable = Instant.sortable(now)
    const bound = yield* stored(keys.find({ scope, key: keyed.key, now: sortable }))
    // a, b: the caller has used this key; one made of the body binds for a while, or for good once
    // what it named was rejected.
    if (Option.isSome(bound)) {
      if (bound.value.fingerprint !== fingerprint) return yield* reused()
      const action = yield* approvalById(Idempotency.parseTarget(bound.value.target).id)
      if (keyed.isSent || action.state === "rejected" || isWithin(action, now, settings)) {
        return yield* repeated(operation, action, { caller, now })
      }
    }
    // c: the caller made an action with this request that still awaits.
    const awaiting = yield* matching({ fingerprint, state: "awaiting" }, () => Effect.succeed(true))
    const own = awaiting.find((action) => action.maker === caller.sub)
    if (own !== undefined) {
      yield* bindTo(own.actionKey, keyed)
      return actionAnswer(own, { status: 200, replayed: true })
    }
    /** Whether the key that was sent is one the action's maker has used for it. */
    const isNamed = (action: Action): Effect.Effect<boolean, Unavailable> => {
      if (key === null || action.key === key) return Effect.succeed(true)
      const held = keys.find({ scope: scopeOf({ sub: action.maker }), key, now: sortable })
      return Effect.map(stored(held), (row) =>
        Option.exists(row, (one) => one.target === Idempotency.target("action", action.actionKey))
      )
    }
    if (caller.roles.includes("approver")) {
      // d: repeating the call of another's awaiting action is an approval.
      const candidates = yield* Effect.filter(awaiting, isNamed)
      if (candidates.length > 0 && caller.roles.includes("auditor")) {
        return yield* Effect.fail(refused("auditor-never-approves"))
      }
      if (candidates.length > 1) return yield* Effect.fail(refused("approval-ambiguous"))
      const [candidate] = candidates
      if (candidate !== undefined) {
        // The signer has used the key from now on: with another request it is refused. The key before
        // the action, as `approve` and `reject` take them, so that none waits for another in a ring.
        if (keyed.isSent) yield* bindTo(candidate.actionKey, keyed)
        yield* records.lock(`action:${settings.tenantId}:${candidate.actionKey}`)
        return yield* sign(yield* approvalById(candidate.actionKey), call, {
          now,
          outside: of.outside,
          by: finishesInCall(operation) ? "call" : "worker",
          route: operation.route
        })
      }
      // e: the caller signed an action with this request that has run.
      const [ran] = yield* matching({ fingerprint, state: "approved" }, (action) =>
        Approval.signedBy(action).includes(caller.sub) ? isNamed(action) : Effect.succeed(false)
      )
      if (ran !== undefined) return yield* repeated(operation, ran, { caller, now })
    }
    // f: whoever may not make one is told that it was rejected.
    if (of.role === undefined) {
      const [rejected] = yield* matching({ fingerprint, state: "rejected" }, () =>
        Effect.succeed(true)
      )
      if (rejected !== undefined) return yield* Effect.fail(refused("approval-rejected"))
      // h
      return yield* denied("None of the caller's roles makes this write.")
    }
    // g
    const actionKey = yield* ids.make("ak")
    yield* bindTo(actionKey, keyed)
    const input = yield* complete(operation, of.input)
    const { request, sealed } = yield* hide(operation, input)
    yield* precheck(operation, input, {
      act: actOf(actionKey, now, { actor: caller.sub, signedBy: [], sealed }),
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
          key: keyed.key,
          rejectedBy: null,
          rejectedAt: null,
          rejectedKey: null,
          reason: null,
          operationId: null,
          expiresAt:
            settings.approvalExpiry === null
              ? null
              : Instant.fromEpochMillis(Instant.toEpochMillis(now) + settings.approvalExpiry),
          requestId: call.identity.requestId,
          traceId: call.identity.traceId,
          ...flagsOf(call.identity)
        },
        {
          cause: { by: "request", requestId: call.identity.requestId },
          now,
          trace: traceOf(call.identity)
        }
      )
      .pipe(Effect.catchTag("Refused", () => Effect.die(new Error("an action key came twice"))))
    yield* records.enqueue(LapseRunner.itemsOf(made, now))
    yield* records.audit([Logged.awaiting(operation, made, { ...call, fingerprint })])
    return actionAnswer(made, { status: 202, replayed: false })
  })

  const submit = Effect.fnUntraced(function* (operation: Operation, call: Call) {
    const role = roleOf(call.caller, operation.makers)
    const mayApprove = operation.approvers > 0 && call.caller.roles.includes("approver")
    if (role === undefined && !mayApprove) {
      return yield* denied("None of the caller's roles makes or approves this write.")
    }
    const input = yield* Effect.fromResult(decodeInput(operation, call))
    const method = operation.route.slice(0, operation.route.indexOf(" "))
    const fingerprint = crypto.sha256(Idempotency.fingerprintText({ method, ...call }))
    const outside = yield* ask(operation, input)
    return yield* records.transact(
      role !== undefined && operation.approvers === 0
        ? single(operation, call, { input, fingerprint, role, outside })
        : shared(operation, call, { input, fingerprint, role, method, outside })
    )
  })

  /** What the world outside says of an action that awaits; of any other it is not asked. */
  const askOf = Effect.fnUntraced(function* (actionKey: string) {
    const action = yield* records.find(Approval.approvals, actionKey)
    if (Option.isNone(action) || action.value.state !== "awaiting") return Result.void
    const operation = declared.of(action.value.kind)
    if (operation.judge === undefined) return Result.void
    return yield* ask(operation, inputOf(operation, action.value))
  })

  /** The fingerprint of a call on an action's own verb. */
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
    return yield* records.transact(
      Effect.gen(function* () {
        const now = yield* Instant.now
        if (key !== undefined && key !== null) {
          const keyed = { scope: scopeOf(of.caller), key, fingerprint, isSent: true }
          yield* bindTo(actionKey, keyed)
        }
        yield* records.lock(`action:${settings.tenantId}:${of.actionKey}`)
        const action = yield* records.get(Approval.approvals, of.actionKey)
        return yield* sign(action, of, {
          now,
          outside,
          by: "worker",
          route: Logged.approveRoute
        })
      })
    )
  })

  const reject: FourEyes["Service"]["reject"] = Effect.fnUntraced(function* (of) {
    const { caller } = of
    if (!caller.roles.some((role) => role === "approver" || makers.has(role))) {
      return yield* denied("None of the caller's roles makes or approves a four-eyes write.")
    }
    const { actionKey } = of
    const fingerprint = onAction("reject", of)
    const row = {
      scope: scopeOf(caller),
      key: of.key ?? Idempotency.bodyKey(fingerprint),
      fingerprint,
      target: Idempotency.target("action", actionKey),
      // A rejection is for good, and so is what the call of it is answered.
      bindsUntil: null
    }
    return yield* InCallDoor.run({ records, keys }, row, (claimed) =>
      Effect.gen(function* () {
        const now = yield* Instant.now
        yield* records.lock(`action:${settings.tenantId}:${actionKey}`)
        const action = yield* records.get(Approval.approvals, actionKey)
        if (!claimed.first) return decidedAnswer(action, { replayed: true })
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
        return decidedAnswer(after, { replayed: false })
      })
    )
  })

  const openOwn: FourEyes["Service"]["open"] = Effect.fnUntraced(
    function* (operation, request, key) {
      const input = yield* complete(operation, Request.decode(operation, request))
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
            return operationAnswer(yield* operationById(id), now, { status: 200, replayed: true })
          }
          const hidden = yield* hide(operation, input)
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
          return operationAnswer(opened, now, { status: 202, replayed: false })
        })
      )
    }
  )

  return FourEyes.of({ submit, open: openOwn, approve, reject })
})

/** The record a write acts on, as its answer names it. */
const resourceOf = (operation: Operation, input: unknown) => ({
  kind: operation.resource.kind,
  id: operation.resource.id(input),
  href: operation.resource.href(input)
})

/** The prefix of an id the engine makes. */
const prefixOf = ({ resource }: Operation): string =>
  resource.prefix ?? resource.kind.replaceAll("-", "")

const later = (now: Instant.Instant, millis: number): string =>
  Instant.sortable(Instant.fromEpochMillis(Instant.toEpochMillis(now) + millis))

const isWithin = (
  action: Stored<Approval.Approval>,
  now: Instant.Instant,
  settings: { readonly bodyKeyWindow: number }
): boolean => now - action.createdAt < BigInt(settings.bodyKeyWindow) * 1_000_000n

export const layer: Layer.Layer<
  FourEyes,
  never,
  Records | Keys | Ids | Crypto | Ledger | Operations
> = Layer.effect(FourEyes, make)
