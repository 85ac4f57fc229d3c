/**
 * Runner of queued operations: leases them, and runs each exactly once, one at a time for a
 * resource.
 */
import { Cause, Context, Duration, Effect, FiberSet, Layer, Queue, Stream } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Problem from "../kernel/Problem.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { Ledger } from "../ports/Ledger.ts"
import { WebhookSender } from "../ports/WebhookSender.ts"
import { Bulk } from "../ports/storage/Bulk.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import * as LeasedWork from "../records/LeasedWork.ts"
import { LedgerReach } from "../records/LedgerReach.ts"
import { Records } from "../records/Records.ts"
import * as Claim from "./Claim.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import * as LedgerRunner from "./LedgerRunner.ts"
import * as LedgerWriteRules from "./LedgerWriteRules.ts"
import type { AnyOperation } from "./Operation.ts"
import { Operations } from "./Operations.ts"
import * as OutsideRunner from "./OutsideRunner.ts"
import * as QueuedOperation from "./QueuedOperation.ts"
import * as RecordsRunner from "./RecordsRunner.ts"

/** Number of attempts after which an operation that dies of a defect is failed. */
const deathsMax = 5

export class OperationRunner extends Context.Service<
  OperationRunner,
  {
    /**
     * Leases the operations that are due, runs each as far as possible, and returns how many were
     * leased. For tests and for embedders that drive the engine themselves.
     */
    readonly runOnce: Effect.Effect<number, Unavailable>
    /** Runs until interrupted; then leases no more operations, and finishes the running ones. */
    readonly run: Effect.Effect<never>
  }
>()("@bursar/engine-core/writes/OperationRunner") {}

/** Milliseconds that running operations get to finish when the engine stops. */
const stopWithin = 20_000

type Needs =
  | Records
  | Bulk
  | LedgerReach
  | WorkQueue
  | ProjectionLog
  | Ledger
  | Operations
  | Crypto
  | Ids

/** Runs the claimed operation by the runner of its kind: records, ledger or outside system. */
const perform = (claim: Claim.Claim) =>
  Effect.gen(function* () {
    const declared = yield* Operations
    const operation: AnyOperation = declared.anyOf(QueuedOperation.decode(claim.lease).kind)
    if (operation.on === "ledger") return yield* LedgerRunner.run(operation, claim)
    yield* askOutside(operation, claim)
    return operation.on === "records"
      ? yield* RecordsRunner.run(operation, claim)
      : yield* OutsideRunner.run(operation, claim)
  }).pipe(Effect.catchTag("Refused", (refusal) => Claim.refuse(claim, refusal)))

/** Asks for the outside judgement of a running write, where its declaration has one. */
const askOutside = Effect.fnUntraced(function* (operation: AnyOperation, claim: Claim.Claim) {
  if (operation.judge === undefined) return
  const record = yield* Claim.load(claim)
  if (Claim.isFinal(record)) return
  const input = yield* JudgeWrite.inputOf(operation, record)
  yield* Effect.fromResult(yield* JudgeWrite.ask(operation, input))
})

/**
 * Reason for which an operation is not retried: repeated defects, or a ledger that stayed
 * unavailable.
 */
const failureOf = Effect.fnUntraced(function* (
  { lease }: Claim.Claim,
  cause: Cause.Cause<Unavailable | LeaseLost>
) {
  if (cause.reasons.some(Cause.isDieReason)) {
    return lease.attempt >= deathsMax
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
    ? Claim.failing(error)
    : undefined
})

/**
 * After an unavailable port or a defect: requeues the operation, or fails it where no commit is
 * possible. Where its step may still commit, the next claim spends its command id and fails it then.
 */
const afterFault = (claim: Claim.Claim, cause: Cause.Cause<Unavailable | LeaseLost>) =>
  Effect.gen(function* () {
    const { lease } = claim
    yield* Effect.logError(`operation ${lease.itemId} did not finish`, cause)
    const record = yield* Claim.load(claim)
    if (Claim.isFinal(record)) return yield* Claim.finish(claim)
    const step =
      record.step !== null && claim.mayCommit
        ? yield* LedgerRunner.doubt(claim, record.step, "it died before the answer")
        : record.step
    const failure = yield* failureOf(claim, cause)
    if (failure !== undefined) {
      const may = yield* LedgerRunner.mayGiveUp(claim, { ...record, step })
      if (may === "at-once") return yield* Claim.fail(claim, failure)
      if (may === "once-spent" && step !== null) yield* LedgerRunner.abandon(claim, step, failure)
      if (may === "not-now") {
        const commandId = step?.commandId ?? null
        yield* Effect.logError("a ledger write may still commit and is not given up", { commandId })
      }
    }
    yield* Claim.release(claim, Claim.spread(claim, LedgerWriteRules.backoff(lease.attempt)))
  }).pipe(
    Effect.catchCause((again) =>
      Effect.logError(`lease of ${claim.lease.itemId} runs out by itself`, again)
    )
  )

/** Runs a leased operation while renewing its lease, and releases the lease after any failure. */
const workOn = Effect.fnUntraced(function* (lease: Lease) {
  const work = yield* WorkQueue
  const { lease: leaseMillis } = yield* Settings
  const claim = Claim.make(lease)
  yield* Effect.raceFirst(perform(claim), LeasedWork.kept({ work, lease, leaseMillis })).pipe(
    Effect.catchTag("LeaseLost", () =>
      Effect.logDebug(`the lease of ${lease.itemId} is somebody else's`)
    ),
    Effect.catchCause((cause) => afterFault(claim, cause)),
    Effect.onInterrupt(() => Effect.ignore(Claim.release(claim, 0))),
    Effect.withSpan(
      "operation",
      { attributes: { operationId: lease.itemId } },
      { captureStackTrace: false }
    )
  )
})

/**
 * Services of the runner; `Settings` and `WebhookSender` have defaults, so that no type demands
 * them.
 */
const needs = [
  Records,
  Bulk,
  LedgerReach,
  WorkQueue,
  ProjectionLog,
  Ledger,
  Operations,
  Crypto,
  Ids,
  Settings,
  WebhookSender
] as const

const make = Effect.gen(function* () {
  const work = yield* WorkQueue
  const settings = yield* Settings
  const worker = `runner-${Math.floor(Number(yield* Instant.now) / 1e3)}`
  // These services alone: the context at the start holds its span, which no operation may inherit.
  const services = Context.pick(...needs)(yield* Effect.context<Needs>())

  const lease = (limit: number) =>
    orUnavailable(
      work.lease({ queue: QueuedOperation.queue, worker, limit, leaseMillis: settings.lease })
    )

  const runOnce = Effect.gen(function* () {
    const leases = yield* lease(settings.operationsAtOnce)
    yield* Effect.forEach(leases, workOn, { concurrency: "unbounded", discard: true })
    return leases.length
  })

  const run = Effect.scoped(
    Effect.gen(function* () {
      const running = yield* FiberSet.make<void>()
      const bell = yield* Queue.sliding<void>(1)
      const ring = Queue.offer(bell, undefined)
      yield* work.wakes(QueuedOperation.queue).pipe(
        Stream.runForEach(() => ring),
        // If no wake-up arrives, the poll below finds the work.
        Effect.catchTag("StorageUnavailable", () => Effect.sleep(Duration.millis(settings.poll))),
        Effect.forever,
        Effect.forkScoped
      )
      const pause = Effect.raceFirst(Queue.take(bell), Effect.sleep(Duration.millis(settings.poll)))
      const cycle = Effect.gen(function* () {
        const free = settings.operationsAtOnce - (yield* FiberSet.size(running))
        const leases = free > 0 ? yield* lease(free) : []
        for (const it of leases) yield* FiberSet.run(running, Effect.ensuring(workOn(it), ring))
        // The queue has no further item that is due where it gave fewer than were asked for.
        if (leases.length < Math.max(1, free)) yield* pause
      })
      const round = LeasedWork.round(cycle, { failed: "the queue could not be read", pause })
      return yield* Effect.forever(round).pipe(
        Effect.onInterrupt(() =>
          FiberSet.awaitEmpty(running).pipe(Effect.timeoutOption(Duration.millis(stopWithin)))
        )
      )
    })
  )

  return OperationRunner.of({
    runOnce: Effect.provideContext(runOnce, services),
    run: Effect.provideContext(run, services)
  })
})

export const layer = Layer.effect(OperationRunner, make)
