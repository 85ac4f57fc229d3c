/** Worker of queued operations: runs each exactly once, one at a time for a resource. */
import { Cause, Effect } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Problem from "../kernel/Problem.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import * as LeasedWork from "../records/LeasedWork.ts"
import * as Worker from "../records/Worker.ts"
import * as LeasedOperation from "./LeasedOperation.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import * as LedgerRunner from "./LedgerRunner.ts"
import * as LedgerWriteRules from "./LedgerWriteRules.ts"
import type { AnyOperation } from "./Operation.ts"
import { Operations } from "./Operations.ts"
import * as OutsideRunner from "./OutsideRunner.ts"
import * as QueuedOperation from "./QueuedOperation.ts"
import * as RecordsRunner from "./RecordsRunner.ts"

/**
 * Number of leases that ended in a defect, since the ledger last took a step, at which an operation is
 * failed. Leases that ended otherwise do not count: a write of many steps, or one that waited for the
 * ledger, has had many.
 */
const deathsMax = 5

/** Runs the leased operation by the runner of its kind: records, ledger or outside system. */
const perform = (leasedOperation: LeasedOperation.LeasedOperation) =>
  Effect.gen(function* () {
    const operations = yield* Operations
    const operation: AnyOperation = operations.anyOf(
      QueuedOperation.decode(leasedOperation.lease).kind
    )
    if (operation.on === "ledger") return yield* LedgerRunner.run(operation, leasedOperation)
    yield* askOutside(operation, leasedOperation)
    return operation.on === "records"
      ? yield* RecordsRunner.run(operation, leasedOperation)
      : yield* OutsideRunner.run(operation, leasedOperation)
  }).pipe(Effect.catchTag("Refused", (refusal) => LeasedOperation.refuse(leasedOperation, refusal)))

/** Asks for the outside judgement of a running write, where its declaration has one. */
const askOutside = Effect.fnUntraced(function* (
  operation: AnyOperation,
  leasedOperation: LeasedOperation.LeasedOperation
) {
  if (operation.judge === undefined) return
  const record = yield* LeasedOperation.load(leasedOperation)
  if (LeasedOperation.isFinal(record)) return
  const input = yield* JudgeWrite.inputOf(operation, record)
  yield* Effect.fromResult(yield* JudgeWrite.ask(operation, input))
})

const isDefect = (cause: Cause.Cause<unknown>): boolean => cause.reasons.some(Cause.isDieReason)

/**
 * Reason for which an operation is not retried: repeated defects, or a ledger that stayed
 * unavailable.
 */
const failureOf = Effect.fnUntraced(function* (
  leasedOperation: LeasedOperation.LeasedOperation,
  cause: Cause.Cause<Unavailable | LeaseLost>
) {
  const { lease } = leasedOperation
  if (isDefect(cause)) {
    return LeasedOperation.deathsWith(leasedOperation) >= deathsMax
      ? (requestId: string) => ({ problem: Problem.internal(requestId) })
      : undefined
  }
  const { giveUpAfter } = yield* Settings
  const error = cause.reasons.find(Cause.isFailReason)?.error
  const millis =
    Instant.toEpochMillis(yield* Instant.now) - Instant.toEpochMillis(Instant.of(lease.startedAt))
  return error?._tag === "Unavailable" &&
    error.slug === "ledger-unavailable" &&
    millis > giveUpAfter
    ? LeasedOperation.failing(error)
    : undefined
})

/**
 * Fails an operation that is given up. A ledger write ends what it left out first; where that has a defect
 * too, the operation is failed without it, since it would be tried for ever.
 */
const givenUp = Effect.fnUntraced(function* (
  leasedOperation: LeasedOperation.LeasedOperation,
  failure: Parameters<typeof LeasedOperation.fail>[1]
) {
  const { lease } = leasedOperation
  const operations = yield* Operations
  const alone = LeasedOperation.fail(leasedOperation, failure)
  yield* Effect.suspend(() => {
    const operation = operations.anyOf(QueuedOperation.decode(lease).kind)
    return operation.on === "ledger"
      ? LedgerRunner.fail({ leasedOperation, operation }, failure)
      : alone
  }).pipe(
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logError(`operation ${lease.itemId} fails without the end of its items`, defect),
        alone
      )
    )
  )
})

/**
 * After an unavailable port or a defect: requeues the operation, or fails it where no commit is
 * possible. Where its step may still commit, the next lease spends its command id and fails it then.
 */
const afterFault = (
  leasedOperation: LeasedOperation.LeasedOperation,
  cause: Cause.Cause<Unavailable | LeaseLost>
) =>
  Effect.gen(function* () {
    const { lease } = leasedOperation
    yield* Effect.logError(`operation ${lease.itemId} did not finish`, cause)
    const record = yield* LeasedOperation.load(leasedOperation)
    if (LeasedOperation.isFinal(record)) return yield* LeasedOperation.finish(leasedOperation)
    const step =
      record.step !== null && leasedOperation.mayCommit
        ? yield* LedgerRunner.doubt(leasedOperation, record.step, "it died before the answer")
        : record.step
    const failure = yield* failureOf(leasedOperation, cause)
    if (failure !== undefined) {
      const may = yield* LedgerRunner.mayGiveUp(leasedOperation, { ...record, step })
      if (may === "at-once") return yield* givenUp(leasedOperation, failure)
      if (may === "once-spent" && step !== null)
        yield* LedgerRunner.abandon(leasedOperation, step, failure)
      if (may === "not-now") {
        const commandId = step?.commandId ?? null
        yield* Effect.logError("a ledger write may still commit and is not given up", { commandId })
      }
    }
    yield* LeasedOperation.release(
      leasedOperation,
      LeasedOperation.spread(leasedOperation, LedgerWriteRules.backoff(lease.attempt)),
      isDefect(cause) ? { deaths: LeasedOperation.deathsWith(leasedOperation) } : {}
    )
  }).pipe(
    Effect.catchCause((again) =>
      Effect.logError(`lease of ${leasedOperation.lease.itemId} runs out by itself`, again)
    )
  )

/** Runs a leased operation while renewing its lease, and releases the lease after any failure. */
const workOn = Effect.fnUntraced(function* (lease: Lease) {
  const work = yield* WorkQueue
  const { lease: leaseMillis } = yield* Settings
  const leased = LeasedOperation.make(lease)
  const running = Effect.as(perform(leased), "done" as const)
  return yield* Effect.raceFirst(running, LeasedWork.renewing({ work, lease, leaseMillis })).pipe(
    Effect.catchTag("LeaseLost", () => LeasedWork.lost(lease)),
    Effect.catchCause((cause) => Effect.as(afterFault(leased, cause), "failed" as const)),
    Effect.onInterrupt(() => Effect.ignore(LeasedOperation.release(leased, 0)))
  )
})

/** Worker of the writes that have been opened; a failure decides by itself when one is leased again. */
export const operationWorker = Worker.defineByJob({
  name: "operations",
  doc: "Runs writes that have been opened, those of one record one at a time.",
  queue: QueuedOperation.queue,
  item: "operation",
  atOnce: ({ operationsAtOnce }) => operationsAtOnce,
  jobOf: workOn
})
