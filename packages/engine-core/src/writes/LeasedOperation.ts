/**
 * An operation that a worker has leased: the fenced lease of its queue item, and changes of its record
 * under the lease.
 */
import { Clock, Effect, Option, Tracer } from "effect"
import * as Concealment from "./Concealment.ts"
import * as Metrics from "../engine/Metrics.ts"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Problem from "../kernel/Problem.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import * as Trace from "../kernel/Trace.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import type { OperationAct } from "../records/Act.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import { Records, type Stored } from "../records/Records.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import type { OnLedger } from "./Operation.ts"
import { type OperationRecord, operations } from "./OperationRecord.ts"
import * as OperationTransitions from "./OperationTransitions.ts"
import * as QueuedOperation from "./QueuedOperation.ts"
import * as Request from "./Request.ts"

/** One lease of an operation, from its beginning to its release; the worker changes `mayCommit` as it sends. */
export interface LeasedOperation {
  readonly lease: Lease
  /** True where every lease before this one got an answer to all that it sent. */
  readonly isPreviousAnswered: boolean
  /**
   * True where a submission of this lease or of an earlier one may still commit after this lease has
   * ended, and the record does not say so yet: the ledger took it, gave no definite answer to it, or
   * nobody knows whether it was sent.
   */
  mayCommit: boolean
}

export const make = (lease: Lease): LeasedOperation => {
  const isPreviousAnswered = QueuedOperation.isPreviousAnswered(lease)
  return { lease, isPreviousAnswered, mayCommit: !isPreviousAnswered }
}

/**
 * Fences the transaction; fails where the worker has lost the lease. Returns when, in milliseconds, for
 * `renewAfter`. Only inside `transact`.
 */
export const fence = ({ lease }: LeasedOperation) =>
  Effect.andThen(
    Effect.flatMap(WorkQueue, (work) => orUnavailable(work.fence(lease))),
    Clock.currentTimeMillis
  )

/**
 * Renews the lease at the end of the transaction that was fenced at an instant, where the transaction took
 * longer than the time between two renewals: renewals from outside leave a lease as it is while it fences
 * a transaction, and it could run out between the plan of a long step and its submission.
 */
export const renewAfter = Effect.fnUntraced(function* (
  { lease }: LeasedOperation,
  fencedAt: number
) {
  const { lease: leaseMillis } = yield* Settings
  if ((yield* Clock.currentTimeMillis) - fencedAt <= leaseMillis / 3) return
  const work = yield* WorkQueue
  yield* orUnavailable(work.renew(lease, leaseMillis))
})

/**
 * Deletes the item from the queue; where the worker has lost its lease, the transaction rolls back.
 */
export const finish = ({ lease }: LeasedOperation) =>
  Effect.flatMap(WorkQueue, (work) => orUnavailable(work.finish(lease)))

/**
 * Releases the item for so many milliseconds. Unless a submission may still commit of which the
 * record says nothing, the item then records that every lease up to this one got an answer to
 * everything it sent. It keeps the number of its deaths, or records another.
 */
export const release = (
  { lease, mayCommit }: LeasedOperation,
  delay: number,
  changed: { readonly deaths?: number } = {}
) =>
  Effect.flatMap(WorkQueue, (work) => {
    // An item that does not parse dies at each lease, and is released as it is.
    const before = Option.getOrUndefined(QueuedOperation.read(lease))
    if (before === undefined) return orUnavailable(work.release(lease, { delay }))
    const answered = mayCommit ? {} : { answeredAttempt: lease.attempt }
    const payload = QueuedOperation.encode({ ...before, ...answered, ...changed })
    return orUnavailable(work.release(lease, { delay, payload }))
  })

/** Number of leases that ended in a defect, were this one to end in one, since the last progress. */
export const deathsWith = ({ lease }: LeasedOperation): number =>
  1 +
  Option.match(QueuedOperation.read(lease), {
    onNone: () => lease.attempt - 1,
    onSome: ({ deaths }) => deaths
  })

/** Jitter: lengthens a pause by up to a quarter, depending on the item. */
export const spread = ({ lease }: LeasedOperation, millis: number): number =>
  millis + ((lease.fence * 97) % Math.max(1, Math.floor(millis / 4)))

/** Loads the leased operation's record. */
export const load = ({ lease }: LeasedOperation) =>
  Effect.flatMap(Records, (records) => records.get(operations, lease.itemId)).pipe(
    Effect.catchTag("Refused", () =>
      Effect.die(new Error(`operation ${lease.itemId} is queued but not recorded`))
    )
  )

/** Checks whether the operation has ended. */
export const isFinal = ({ state }: OperationRecord): boolean =>
  state === "succeeded" || state === "failed"

/** Builds the act of the leased operation, judged at `now`. */
export const actOf = (record: OperationRecord, now: Instant.Instant) =>
  JudgeWrite.actOf(record.operationId, now, {
    actor: record.actor,
    role: record.role,
    signedBy: record.signedBy ?? [],
    sealed: record.sealed ?? null,
    trace: Trace.of(record.traceId, record.traceFlags),
    ledgerEnd: record.ledgerEnd
  })

/** A leased operation that is running, and its act. */
export interface RunningOperation {
  readonly record: Stored<OperationRecord>
  readonly act: OperationAct
}

/** Sets the operation running; only its first lease sets the time at which it started. */
const asRunning = Effect.fnUntraced(function* (
  { lease }: LeasedOperation,
  record: Stored<OperationRecord>
) {
  const act = yield* actOf(record, yield* Instant.now)
  if (record.state !== "queued") return { record, act }
  const records = yield* Records
  const at = Instant.of(lease.startedAt)
  const running = yield* OperationTransitions.take(record, { at, act })
  yield* records.whenCommitted(Metrics.cameTo(record.kind, "running"))
  return { record: running, act }
})

/**
 * Sets the leased operation running; where it has ended, deletes its queue item and returns
 * undefined. Only inside `transact`.
 */
export const begin = Effect.fnUntraced(function* (leasedOperation: LeasedOperation) {
  const record = yield* load(leasedOperation)
  yield* linkSpan(record)
  return isFinal(record)
    ? void (yield* finish(leasedOperation))
    : yield* asRunning(leasedOperation, record)
})

/**
 * Ends a running ledger write as succeeded, and its lease, where no step is left to send. Only inside
 * `transact`.
 */
export const settle = Effect.fnUntraced(function* (
  leasedOperation: LeasedOperation,
  operation: OnLedger,
  { record, act }: RunningOperation
) {
  const result = yield* operation.finish(Request.decode(operation, record.request), act)
  yield* OperationTransitions.succeed(record, { operation, result, act })
  yield* finish(leasedOperation)
})

/** Ends a running operation as failed, and its lease. Only inside `transact`. */
export const end = Effect.fnUntraced(function* (
  leasedOperation: LeasedOperation,
  { record, act }: RunningOperation,
  failure: (requestId: string) => OperationTransitions.OperationFailure
) {
  yield* OperationTransitions.fail(record, { failure: failure(record.requestId), act })
  yield* finish(leasedOperation)
})

/** Maps the refusal that ended an operation to the problems that its readers are shown. */
export const failing =
  (cause: Refused | Unavailable) =>
  (requestId: string): OperationTransitions.OperationFailure => {
    const instead = Concealment.substituteFor(cause)
    return {
      problem: Problem.from(cause, requestId),
      ...(instead === null ? {} : { problemInstead: Problem.from(instead, requestId) })
    }
  }

/** Fails the leased operation, in a transaction of its own that begins with `before`. */
export const fail = Effect.fnUntraced(function* <E = never, R = never>(
  leasedOperation: LeasedOperation,
  failure: (requestId: string) => OperationTransitions.OperationFailure,
  before: (running: RunningOperation) => Effect.Effect<unknown, E, R> = () => Effect.void
) {
  const records = yield* Records
  yield* records.transact(
    Effect.gen(function* () {
      const running = yield* asRunning(leasedOperation, yield* load(leasedOperation))
      yield* before(running)
      yield* end(leasedOperation, running, failure)
    })
  )
})

/** Fails the leased operation because it was refused when it ran. */
export const refuse = (leasedOperation: LeasedOperation, cause: Refused | Unavailable) =>
  fail(leasedOperation, failing(cause))

/**
 * Links the worker's span to the trace of the call that opened the operation. The record
 * keeps the trace of the call and not its span, so the last digits of the trace's id serve as span
 * id.
 */
export const linkSpan = ({ traceId }: OperationRecord) =>
  Effect.map(Effect.option(Effect.currentSpan), (current) => {
    if (traceId === null || Option.isNone(current)) return
    const span = current.value
    // A transaction may be retried, and the span would be linked twice.
    if (span.links.some((link) => link.span.traceId === traceId)) return
    const call = Tracer.externalSpan({ traceId, spanId: traceId.slice(16) })
    span.addLinks([{ span: call, attributes: {} }])
  })
