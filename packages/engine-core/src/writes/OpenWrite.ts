/**
 * Opens operations: writes of one person, actions that all approvers have signed, the engine's own
 * writes.
 */
import { Effect } from "effect"
import * as Metrics from "../engine/Metrics.ts"
import * as Concealment from "./Concealment.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import * as Trace from "../kernel/Trace.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { Role } from "../vocabulary/Role.ts"
import * as Answers from "./AnswerSteps.ts"
import * as Approval from "./Approval.ts"
import * as Concerns from "./ConcernLookups.ts"
import { engine, type RequestIdentity } from "./Caller.ts"
import type { Call } from "./FourEyes.ts"
import * as Idempotency from "./Idempotency.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import * as KeyedCall from "./KeyedCall.ts"
import * as Logged from "./Logged.ts"
import type { AnyOperation, Operation } from "./Operation.ts"
import * as Lasting from "./LastingLookups.ts"
import { type OperationRecord, operations } from "./OperationRecord.ts"
import * as QueuedOperation from "./QueuedOperation.ts"
import * as Request from "./Request.ts"
import type { SealedSecrets } from "../records/Act.ts"

/** Members of a stored record that hold the trace of its call. */
type KeptTrace = Pick<RequestIdentity, "traceId" | "traceFlags">
export const traceOf = ({ traceId, traceFlags }: KeptTrace) => Trace.of(traceId, traceFlags)
export const flagsOf = ({ traceFlags }: KeptTrace) =>
  traceFlags === undefined ? {} : { traceFlags }

/** Names the record that a write acts on. */
export const resourceOf = (operation: AnyOperation, input: unknown) => ({
  kind: operation.resource.kind,
  id: operation.resource.id(input),
  href: operation.resource.href(input)
})

/** An operation to open, with the origin that its record stores. */
interface ToOpen {
  readonly operation: AnyOperation
  readonly operationId: string
  readonly input: unknown
  readonly request: Plain
  /** The request as it was sent, where it differs. */
  readonly given?: Plain | undefined
  readonly sealed: SealedSecrets | null
  readonly actor: string
  readonly actorName: string | null
  readonly actorEmail: string | null
  readonly role: Role | null
  readonly identity: RequestIdentity
  readonly action: Approval.Approval | null
  readonly now: Instant.Instant
  /** A worker runs it after the commit, or the call runs it in the same transaction. */
  readonly by: "worker" | "call"
}

/** Opens an operation and queues it, in the transaction of the call or signature that led to it. */
export const open = Effect.fnUntraced(function* (write: ToOpen) {
  const records = yield* Records
  const { operation, operationId, input, action } = write
  const resource = resourceOf(operation, input)
  const opened = yield* records
    .open(
      operations,
      {
        operationId,
        kind: operation.kind,
        state: "queued",
        resource,
        ...(yield* Concerns.of(operation, input)),
        request: write.request,
        ...(write.given === undefined ? {} : { given: write.given }),
        ...(write.sealed === null ? {} : { sealed: write.sealed }),
        result: null,
        problem: null,
        actor: write.actor,
        actorName: write.actorName,
        actorEmail: write.actorEmail,
        role: write.role,
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
        ...(action?.ledgerEnd === undefined ? {} : { ledgerEnd: action.ledgerEnd }),
        requestId: write.identity.requestId,
        traceId: write.identity.traceId,
        ...flagsOf(write.identity),
        step: null
      },
      { cause: { by: "operation", operationId }, now: write.now, trace: traceOf(write.identity) }
    )
    .pipe(Effect.catchTag("Refused", () => Effect.die(new Error("an operation id came twice"))))
  if (write.by === "call") return opened
  yield* records.enqueue([
    {
      queue: QueuedOperation.queue,
      itemId: operationId,
      resource: operation.resource.turnOf?.(input) ?? `${resource.kind}:${resource.id}`,
      payload: QueuedOperation.encode({ kind: operation.kind, answeredAttempt: null, deaths: 0 }),
      delay: 0
    }
  ])
  yield* records.whenCommitted(Metrics.cameTo(operation.kind, "queued"))
  return opened
})

/** Loads the operation that a key or an action names; a missing one is a defect. */
export const operationById = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(operations, id)).pipe(
    Effect.catchTag("Refused", () =>
      Effect.die(new Error(`a key names operation ${id}, which is not there`))
    )
  )

/** Loads the operation that a key's target names. */
const operationOf = (target: string) => operationById(Idempotency.parseTarget(target).id)

/** Judges and opens one person's write, or returns the operation that its key opened earlier. */
export const single = Effect.fnUntraced(function* (
  operation: Operation,
  call: Call,
  write: {
    readonly input: unknown
    readonly key: KeyedCall.CallKey
    readonly role: Role
    readonly outside: JudgeWrite.Outside
  }
) {
  const records = yield* Records
  const ids = yield* Ids
  const now = yield* Instant.now
  const { caller, identity } = call
  const { fingerprint } = write.key
  const operationId = yield* ids.make("op")
  const target = Idempotency.target("operation", operationId)
  let judged: Stored<OperationRecord> | undefined
  const bound = yield* KeyedCall.bind(write.key, {
    target,
    // The key of a body ends with what its write made.
    isOver: Effect.fnUntraced(function* (earlier) {
      judged = yield* operationOf(earlier)
      return !(yield* Lasting.lasts(operation, judged))
    })
  })
  if (!bound.first) {
    const { id } = Idempotency.parseTarget(bound.target)
    const found = judged?.operationId === id ? judged : yield* operationById(id)
    const shown = Concealment.operationFor(found, write.role)
    return yield* Answers.ofOperation(shown, now, { status: 200, replayed: true })
  }
  const input = yield* JudgeWrite.complete(operation, write.input)
  const { request, sealed } = yield* JudgeWrite.hide(operation, input)
  const signer = { actor: caller.sub, role: write.role, signedBy: [], sealed }
  const act = yield* JudgeWrite.actOf(operationId, now, signer)
  yield* JudgeWrite.precheck(operation, input, { act, outside: write.outside })
  const opened = yield* open({
    operation,
    operationId,
    input,
    request,
    ...Request.asSent(operation, call, request),
    sealed,
    actor: caller.sub,
    actorName: caller.name,
    actorEmail: caller.email,
    role: write.role,
    identity,
    action: null,
    now,
    by: "worker"
  })
  yield* records.audit([Logged.requested(operation, opened, { caller, identity, fingerprint })])
  return yield* Answers.ofOperation(opened, now, { status: 202, replayed: false })
})

/** Opens a write of the engine's own, once for its key; its rules are judged only when it runs. */
export const openOwn = Effect.fnUntraced(function* (
  operation: AnyOperation,
  request: Plain,
  key: string
) {
  const records = yield* Records
  const { sha256 } = yield* Crypto
  const input = yield* JudgeWrite.complete(operation, Request.decode(operation, request))
  const fingerprint = sha256(`${operation.kind}\n${PlainJson.canonical(request)}`)
  const keyed = yield* KeyedCall.engineKey({ key, fingerprint })
  return yield* records.transact(
    Effect.gen(function* () {
      const ids = yield* Ids
      const now = yield* Instant.now
      const operationId = yield* ids.make("op")
      const target = Idempotency.target("operation", operationId)
      const bound = yield* KeyedCall.bind(keyed, { target })
      if (!bound.first) {
        const earlier = yield* operationOf(bound.target)
        return yield* Answers.ofOperation(earlier, now, { status: 200, replayed: true })
      }
      const hidden = yield* JudgeWrite.hide(operation, input)
      const opened = yield* open({
        operation,
        operationId,
        input,
        ...hidden,
        ...Request.asSent(operation, { body: request, params: {} }, hidden.request),
        actor: engine,
        actorName: null,
        actorEmail: null,
        role: null,
        identity: { requestId: operationId, traceId: null, keyId: null },
        action: null,
        now,
        by: "worker"
      })
      yield* records.audit([Logged.requested(operation, opened, null)])
      return yield* Answers.ofOperation(opened, now, { status: 202, replayed: false })
    })
  )
})
