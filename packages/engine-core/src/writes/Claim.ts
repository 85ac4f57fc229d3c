/** A worker's claim of an operation: what it may do with the operation's record and its queue item. */
import { Effect, Option, Tracer } from "effect"
import * as Concealment from "./Concealment.ts"
import * as Metrics from "../engine/Metrics.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Problem from "../kernel/Problem.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import * as Trace from "../kernel/Trace.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import type { OperationAct } from "../records/Act.ts"
import { stored } from "../records/PortFailure.ts"
import { Records, type Stored } from "../records/Records.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import { type OperationRecord, operations } from "./OperationRecord.ts"
import * as OperationTransitions from "./OperationTransitions.ts"
import * as QueuedOperation from "./QueuedOperation.ts"

/** One claim, from the lease to its release; `mayCommit` changes while the worker sends. */
export interface Claim {
  readonly lease: Lease
  /**
   * Whether a submission of this claim was taken, or sent and not answered definitely: it may commit
   * whatever becomes of the claim, and nothing on record says so yet.
   */
  mayCommit: boolean
}

export const make = (lease: Lease): Claim => ({ lease, mayCommit: false })

/** Demands that the lease is still this worker's until the transaction ends. Only inside `transact`. */
export const hold = ({ lease }: Claim) =>
  Effect.flatMap(WorkQueue, (work) => stored(work.hold(lease)))

/** Takes the item off the queue; a worker that has lost its lease leaves nothing of the transaction. */
export const finish = ({ lease }: Claim) =>
  Effect.flatMap(WorkQueue, (work) => stored(work.finish(lease)))

/**
 * Gives the item back for so many milliseconds. Unless a submission of this claim may still commit,
 * the item then says that this claim was answered.
 */
export const release = ({ lease, mayCommit }: Claim, delay: number) =>
  Effect.flatMap(WorkQueue, (work) => {
    if (mayCommit) return stored(work.release(lease, { delay }))
    const { kind } = QueuedOperation.decode(lease)
    const payload = QueuedOperation.encode({ kind, answeredAttempt: lease.attempt })
    return stored(work.release(lease, { delay, payload }))
  })

/** Milliseconds, up to a quarter more: spread by the item, which two instances never hold at once. */
export const spread = ({ lease }: Claim, millis: number): number =>
  millis + ((lease.fence * 97) % Math.max(1, Math.floor(millis / 4)))

/** The claimed operation's record. */
export const load = ({ lease }: Claim) =>
  Effect.flatMap(Records, (records) => records.get(operations, lease.itemId)).pipe(
    Effect.catchTag("Refused", () =>
      Effect.die(new Error(`operation ${lease.itemId} is queued but not recorded`))
    )
  )

/** Whether the operation has ended. */
export const isFinal = ({ state }: OperationRecord): boolean =>
  state === "succeeded" || state === "failed"

/** The act of the claimed operation, judged at `now`. */
export const actOf = (record: OperationRecord, now: Instant.Instant) =>
  JudgeWrite.actOf(record.operationId, now, {
    actor: record.actor,
    signedBy: record.signedBy ?? [],
    sealed: record.sealed ?? null,
    trace: Trace.of(record.traceId, record.traceFlags)
  })

/** A claimed operation that runs, and the act it runs as. */
export interface Running {
  readonly record: Stored<OperationRecord>
  readonly act: OperationAct
}

/** The operation as running: its first claim sets when it started, and nothing changes that. */
const asRunning = Effect.fnUntraced(function* ({ lease }: Claim, record: Stored<OperationRecord>) {
  const act = yield* actOf(record, yield* Instant.now)
  if (record.state !== "queued") return { record, act }
  const records = yield* Records
  const at = Instant.of(lease.startedAt)
  const running = yield* OperationTransitions.take(record, { at, act })
  yield* records.whenCommitted(Metrics.cameTo(record.kind, "running"))
  return { record: running, act }
})

/**
 * The claimed operation as running; undefined where it has ended, and then its item has left the
 * queue. Only inside `transact`.
 */
export const begin = Effect.fnUntraced(function* (claim: Claim) {
  const record = yield* load(claim)
  yield* linkSpan(record)
  return isFinal(record) ? void (yield* finish(claim)) : yield* asRunning(claim, record)
})

/** Ends a running operation as failed, and its claim. Only inside `transact`. */
export const end = Effect.fnUntraced(function* (
  claim: Claim,
  { record, act }: Running,
  failure: (requestId: string) => OperationTransitions.Failure
) {
  yield* OperationTransitions.fail(record, { failure: failure(record.requestId), act })
  yield* finish(claim)
})

/** What a refusal is to the readers of the operation that it ended. */
export const failing =
  (cause: Refused | Unavailable) =>
  (requestId: string): OperationTransitions.Failure => {
    const instead = Concealment.substituteFor(cause)
    return {
      problem: Problem.from(cause, requestId),
      ...(instead === null ? {} : { problemInstead: Problem.from(instead, requestId) })
    }
  }

/** Fails the claimed operation, in a transaction of its own. */
export const fail = Effect.fnUntraced(function* (
  claim: Claim,
  failure: (requestId: string) => OperationTransitions.Failure
) {
  const records = yield* Records
  yield* records.transact(
    Effect.gen(function* () {
      const running = yield* asRunning(claim, yield* load(claim))
      yield* end(claim, running, failure)
    })
  )
})

/** Fails the claimed operation because it was refused when it ran. */
export const refuse = (claim: Claim, cause: Refused | Unavailable) => fail(claim, failing(cause))

/**
 * Links the worker's span to the trace of the call that opened the operation. Of that call only its
 * trace is kept; the last digits of the trace's id stand for the call's span, which is not kept.
 */
export const linkSpan = ({ traceId }: OperationRecord) =>
  Effect.map(Effect.option(Effect.currentSpan), (current) => {
    if (traceId === null || Option.isNone(current)) return
    const span = current.value
    // What runs in a transaction may run again.
    if (span.links.some((link) => link.span.traceId === traceId)) return
    const call = Tracer.externalSpan({ traceId, spanId: traceId.slice(16) })
    span.addLinks([{ span: call, attributes: {} }])
  })
