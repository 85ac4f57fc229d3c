/** Runs a write on the ledger: looks up, plans, sends and records as `LedgerWriteRules` decides. */
import { Duration, Effect, Option, Result } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import * as Trace from "../kernel/Trace.ts"
import type { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import * as Ledger from "../ports/Ledger.ts"
import type { Bulk } from "../ports/storage/Bulk.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { WorkQueue } from "../ports/storage/WorkQueue.ts"
import { orUnavailable, ledgerUnavailable } from "../records/PortFailure.ts"
import type { LedgerReach } from "../records/LedgerReach.ts"
import { Records } from "../records/Records.ts"
import * as Claim from "./Claim.ts"
import * as Rules from "./LedgerWriteRules.ts"
import type { OnLedger } from "./Operation.ts"
import { type Fact, operations, type OperationRecord, type Step } from "./OperationRecord.ts"
import * as QueuedOperation from "./QueuedOperation.ts"
import * as Request from "./Request.ts"
import * as SignedFigures from "./SignedFigures.ts"

type Needs = Records | Bulk | LedgerReach | WorkQueue | ProjectionLog | Ledger.Ledger | Crypto | Ids

const reading = <A, R>(effect: Effect.Effect<A, Ledger.ReadError, R>) =>
  Effect.mapError(effect, ledgerUnavailable)

const millisSince = (then: Instant.Instant, now: Instant.Instant): number =>
  Instant.toEpochMillis(now) - Instant.toEpochMillis(then)

/** Milliseconds since the step was planned, and since an answer left open whether it committed. */
const agesOf = (step: Step | null, now: Instant.Instant) => ({
  age: step === null ? 0 : millisSince(step.plannedAt, now),
  inDoubtFor:
    step === null || step.unknownSince === null ? null : millisSince(step.unknownSince, now)
})

/** Progress of a ledger write as its record and its lease show it, before any look-up. */
const progressOf = Effect.fnUntraced(function* (
  { lease }: Claim.Claim,
  of: {
    readonly state: OperationRecord["state"]
    readonly step: Step | null
    readonly dedup: Rules.Dedup
  }
) {
  const { giveUpAfter } = yield* Settings
  const { answeredAttempt } = QueuedOperation.decode(lease)
  const progress: Rules.LedgerWriteProgress = {
    ...of,
    ...agesOf(of.step, yield* Instant.now),
    isPreviousAnswered: answeredAttempt === lease.attempt - 1,
    attempt: lease.attempt,
    giveUpAfter
  }
  return progress
})

/** Looks up the fact that the next move depends on, at the projection or the ledger. */
const lookUp = Effect.fnUntraced(function* (what: Rules.LookUp["what"], step: Step) {
  const projection = yield* ProjectionLog
  const ledger = yield* Ledger.Ledger
  switch (what) {
    case "isProjected": {
      return { isProjected: yield* orUnavailable(projection.hasCommand(step.commandId)) }
    }
    case "committed": {
      // The ages are taken before the ledger is asked, so that they are never too high.
      const ages = agesOf(step, yield* Instant.now)
      const through = yield* reading(ledger.ledgerEnd)
      const { commandId, dedupOffset: from } = step
      const receipt = yield* reading(ledger.outcome({ commandId, from, through }))
      if (Option.isNone(receipt)) return { ...ages, committed: null }
      const { horizonOffset, ledgerEpoch } = yield* orUnavailable(projection.head)
      // Of the first epoch every update was read, or is still to be.
      const isBehind = ledgerEpoch > 1 && receipt.value.offset <= horizonOffset
      return { ...ages, committed: { ...receipt.value, isBehind } }
    }
    case "positions": {
      const end = yield* reading(ledger.ledgerEnd)
      const { offset: head, horizonOffset: horizon } = yield* orUnavailable(projection.head)
      return { positions: { end, head, horizon } }
    }
  }
})

/** Appends a fact to the claimed operation while it runs, in a transaction of its own. */
const note = Effect.fnUntraced(function* (
  claim: Claim.Claim,
  factOf: (record: OperationRecord, now: Instant.Instant) => Fact | undefined
) {
  const records = yield* Records
  yield* records.transact(
    Effect.gen(function* () {
      yield* Claim.hold(claim)
      const record = yield* Claim.load(claim)
      const act = yield* Claim.actOf(record, yield* Instant.now)
      const fact = record.state === "running" ? factOf(record, act.now) : undefined
      if (fact !== undefined) yield* records.record(operations, record, fact, act)
    })
  )
})

/** Records a commit before the projection has read it. */
const noteCommit = (claim: Claim.Claim, { updateId, offset }: Rules.Committed) =>
  note(claim, (record) =>
    record.updateId === updateId ? undefined : { on: "commit", updateId, offset }
  )

/**
 * Ends an operation as succeeded whose last step the projection never reads: a snapshot of the ledger
 * shows what it led to. What its result names and nobody knows any more fails it as a bug does.
 */
const conclude = Effect.fnUntraced(function* (
  operation: OnLedger,
  claim: Claim.Claim,
  { offset, updateId }: Rules.Committed
) {
  const records = yield* Records
  yield* transactionOf(
    operation,
    records
  )(
    Claim.holding(claim)(
      Effect.gen(function* () {
        const running = yield* Claim.begin(claim)
        if (running === undefined) return
        const { act } = running
        const fact = { on: "commit", updateId, offset } as const
        const record =
          running.record.updateId === updateId
            ? running.record
            : yield* records.record(operations, running.record, fact, act)
        yield* Claim.settle(claim, operation, { record, act })
      })
    )
  )
})

/** Records that a step may have committed, so that no claim fails the operation too early. */
export const doubt = Effect.fnUntraced(function* (claim: Claim.Claim, step: Step, why: string) {
  const { commandId } = step
  yield* Effect.logWarning("the outcome of a ledger write is unknown", { commandId, why })
  const now = yield* Instant.now
  yield* note(claim, () => ({ on: "unknown", at: now }))
  claim.mayCommit = false
  return { ...step, unknownSince: now }
})

/** The transaction that judges a step: of a long write one that no other write shares. */
const transactionOf = ({ isLong = false }: OnLedger, records: Records["Service"]) =>
  isLong ? records.transactAlone : records.transact

/** Trace of the call that opened an operation. */
const traceOf = ({ traceId, traceFlags }: OperationRecord) => Trace.of(traceId, traceFlags)

/**
 * Judges a step and records it before its first submission, under the trace of the operation;
 * undefined where the operation has ended: its figures have moved, or nothing is left to send.
 */
const plan = Effect.fnUntraced(function* (
  operation: OnLedger,
  claim: Claim.Claim,
  { step: count, replan }: Pick<Step, "step" | "replan">
) {
  const records = yield* Records
  const ledger = yield* Ledger.Ledger
  const dedupOffset = yield* reading(ledger.ledgerEnd)
  return yield* transactionOf(
    operation,
    records
  )(
    Claim.holding(claim)(
      Effect.gen(function* () {
        const running = yield* Claim.begin(claim)
        if (running === undefined) return undefined
        const { act, record } = running
        if (count === 1 && replan === 0 && record.step !== null) {
          return yield* Effect.die(new Error("an operation that is claimed first has a step"))
        }
        const input = Request.decode(operation, record.request)
        // A later step is not stopped by moved figures: the first step has committed already.
        const isFirst = count === 1
        if (isFirst && (yield* SignedFigures.haveMoved(claim, operation, { ...running, input }))) {
          return undefined
        }
        const planned = yield* operation.plan(input, act, count)
        if (planned === null) return void (yield* Claim.settle(claim, operation, running))
        const suffix = replan === 0 ? "" : `.${replan}`
        const step: Step = {
          step: count,
          replan,
          commandId: `${record.operationId}:${count}${suffix}`,
          dedupOffset,
          commands: planned.commands,
          disclosed: planned.disclosed ?? [],
          last: planned.last,
          plannedAt: act.now,
          unknownSince: null
        }
        yield* records.record(operations, record, { on: "plan", step }, act)
        return { step, trace: traceOf(record) }
      })
    )
  )
})

/**
 * Judges again a recorded step that the ledger has not taken: a hold or a restriction may have been
 * set since it was planned, or its figures may have moved. The step and its command id do not
 * change. Returns whether to send it; where its figures have moved, or what it says is said already,
 * the operation has ended.
 */
const maySend = Effect.fnUntraced(function* (
  operation: OnLedger,
  claim: Claim.Claim,
  { step }: Step
) {
  const records = yield* Records
  return yield* transactionOf(
    operation,
    records
  )(
    Claim.holding(claim)(
      Effect.gen(function* () {
        const record = yield* Claim.load(claim)
        const act = yield* Claim.actOf(record, yield* Instant.now)
        const input = Request.decode(operation, record.request)
        const running = { record, act, input }
        if (step === 1 && (yield* SignedFigures.haveMoved(claim, operation, running))) return false
        const planned = yield* records.rehearse(operation.plan(input, act, step))
        if (planned !== null) return true
        yield* Claim.settle(claim, operation, running)
        return false
      })
    )
  )
})

const dedups: Readonly<Record<Rules.Dedup, (step: Step) => Ledger.Dedup>> = {
  "since-planned": ({ dedupOffset }) => ({ _tag: "Since", offset: dedupOffset }),
  "seven-days": () => ({ _tag: "For", duration: Duration.days(7) })
}

/**
 * Sends a step once, under the trace of the call that opened its operation, with a new parent span.
 */
const submit = Effect.fnUntraced(function* (
  claim: Claim.Claim,
  step: Step,
  of: { readonly dedup: Rules.Dedup; readonly trace: Trace.Trace | null }
) {
  const ledger = yield* Ledger.Ledger
  const { commandId, commands, disclosed } = step
  const submission: Ledger.Submission = {
    commandId,
    commands,
    dedup: dedups[of.dedup](step),
    workflowId: commandId.slice(0, commandId.indexOf(":")),
    ...(disclosed.length === 0 ? {} : { disclosed }),
    ...(of.trace === null
      ? {}
      : { traceparent: Trace.traceparent(of.trace, yield* (yield* Ids).bytes(8)) })
  }
  claim.mayCommit = true
  const answer = yield* Effect.result(ledger.submit(submission))
  if (Result.isSuccess(answer)) return Rules.receipt
  claim.mayCommit = Rules.isOpen(answer.failure)
  return answer.failure
})

/** State of a ledger write while one claim works on it. */
interface LedgerWrite {
  readonly operation: OnLedger
  readonly claim: Claim.Claim
  readonly trace: Trace.Trace | null
  readonly step: Step | null
  readonly progress: Rules.LedgerWriteProgress
  /** The answer to this claim's latest submission; undefined: it has sent none. */
  readonly answer: Rules.SubmitAnswer | undefined
  readonly move: Rules.Move
}

/** Decides the next move from the progress of the write. */
const decided = (write: Omit<LedgerWrite, "move">): LedgerWrite => {
  const { answer, progress } = write
  const { step } = progress
  const isSent = answer !== undefined && step !== null
  const move = isSent ? Rules.afterAnswer(answer, { ...progress, step }) : Rules.next(progress)
  return { ...write, move }
}

/**
 * Makes the operation due at once where the projection read its step while this claim still had the
 * lease: the projection hastens only an item that is not leased.
 */
const hastened = Effect.fnUntraced(function* ({ answer, claim, step }: LedgerWrite) {
  if (answer?._tag !== "Receipt" || step === null || step.last) return
  const projection = yield* ProjectionLog
  const work = yield* WorkQueue
  const { itemId, queue } = claim.lease
  if (!(yield* orUnavailable(projection.hasCommand(step.commandId)))) return
  yield* orUnavailable(work.hasten({ queue, itemIds: [itemId] }))
})

const alarm = ({ step }: LedgerWrite, message: string | undefined) =>
  message === undefined
    ? Effect.void
    : Effect.logError(message, { commandId: step?.commandId ?? null })

/**
 * Performs the write's move and returns the write with its next one; undefined: the claim has
 * ended.
 */
const perform = Effect.fnUntraced(function* (
  write: LedgerWrite
): Effect.fn.Return<LedgerWrite | undefined, Refused | Unavailable | LeaseLost, Needs> {
  const { claim, move, operation, trace } = write
  switch (move.move) {
    case "finish":
      return void (yield* Claim.finish(claim))
    case "refuse":
      yield* alarm(write, move.alarm)
      return void (yield* Claim.refuse(claim, move.cause))
    case "conclude":
      return void (yield* conclude(operation, claim, move.committed))
    case "wait":
      yield* alarm(write, move.alarm)
      yield* Claim.release(claim, move.isSpread ? Claim.spread(claim, move.millis) : move.millis)
      return void (yield* hastened(write))
    case "plan": {
      const planned = yield* plan(operation, claim, move)
      return planned === undefined ? undefined : { ...write, ...planned, move: Rules.firstSend }
    }
  }
  const step = write.step ?? (yield* Effect.die(new Error("a step is asked for before its plan")))
  switch (move.move) {
    case "look-up": {
      const found = yield* lookUp(move.what, step)
      return decided({ ...write, progress: { ...write.progress, ...found } })
    }
    case "doubt":
      return { ...write, step: yield* doubt(claim, step, move.why), move: move.then }
    case "note":
      yield* noteCommit(claim, move.committed)
      return { ...write, move: move.then }
    case "send": {
      if (move.isJudged && !(yield* maySend(operation, claim, step))) return undefined
      const { dedup } = move
      const answer = yield* submit(claim, step, { dedup, trace })
      const progress = yield* progressOf(claim, { state: "running", step, dedup })
      return decided({ ...write, answer, progress })
    }
  }
})

/** Runs the claimed write as far as possible; the caller ends it where its rules refuse. */
export const run = Effect.fnUntraced(function* (operation: OnLedger, claim: Claim.Claim) {
  // Before its first claim nothing of an operation is planned: the plan loads its record.
  const record = claim.lease.attempt === 1 ? undefined : yield* Claim.load(claim)
  if (record !== undefined) yield* Claim.linkSpan(record)
  const { state, step } = record ?? ({ state: "queued", step: null } as const)
  const progress = yield* progressOf(claim, { state, step, dedup: "since-planned" })
  const trace = record === undefined ? null : traceOf(record)
  let write: LedgerWrite | undefined = decided({
    ...{ operation, claim, trace, step, progress },
    answer: undefined
  })
  while (write !== undefined) write = yield* perform(write)
})

/**
 * Checks whether the operation may be failed after a fault other than the ledger's answer: not
 * while a step of it may commit. False where a port is unavailable.
 */
export const mayGiveUp = (claim: Claim.Claim, record: Pick<OperationRecord, "state" | "step">) =>
  Effect.gen(function* () {
    const { state, step } = record
    let progress = yield* progressOf(claim, { state, step, dedup: "since-planned" })
    for (;;) {
      const may = Rules.mayGiveUp(progress)
      if (typeof may === "boolean" || step === null) return may === true
      progress = { ...progress, ...(yield* lookUp(may.what, step)) }
    }
  }).pipe(Effect.orElseSucceed(() => false))
