/** Runs a write on the ledger: looks up, plans, sends and records as `LedgerWriteRules` decides. */
import { Effect, Equal, Option, Result } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
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
import * as SpentCommand from "../templates/Runner.ts"
import * as LeasedOperation from "./LeasedOperation.ts"
import * as Rules from "./LedgerWriteRules.ts"
import type { OnLedger } from "./Operation.ts"
import type { OperationFailure } from "./OperationTransitions.ts"
import { type Fact, operations, type OperationRecord, type Step } from "./OperationRecord.ts"
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
  { isPreviousAnswered, lease }: LeasedOperation.LeasedOperation,
  stage: {
    readonly state: OperationRecord["state"]
    readonly step: Step | null
    readonly dedup: Rules.Dedup
  }
) {
  const { giveUpAfter } = yield* Settings
  const progress: Rules.LedgerWriteProgress = {
    ...stage,
    ...agesOf(stage.step, yield* Instant.now),
    isPreviousAnswered,
    attempt: lease.attempt,
    giveUpAfter
  }
  return progress
})

/** Looks up the fact that the next move depends on, at the projection or the ledger. */
const lookUp = Effect.fnUntraced(function* (
  what: Rules.LookUp["what"],
  {
    leasedOperation,
    step
  }: { readonly leasedOperation: LeasedOperation.LeasedOperation; readonly step: Step }
) {
  const projection = yield* ProjectionLog
  const ledger = yield* Ledger.Ledger
  switch (what) {
    case "isProjected": {
      if (!(yield* orUnavailable(projection.hasCommand(step.commandId)))) {
        return { isProjected: false }
      }
      // The transaction that read a marker has noted it on the operation.
      const { step: noted } = yield* LeasedOperation.load(leasedOperation)
      const isSpent = noted?.commandId === step.commandId && noted.isSpent === true
      return { isProjected: !isSpent, isSpent }
    }
    case "committed": {
      // The ages are taken before the ledger is asked, so that they are never too high.
      const ages = agesOf(step, yield* Instant.now)
      const through = yield* reading(ledger.ledgerEnd)
      const { commandId, dedupOffset: from } = step
      const receipt = yield* reading(ledger.outcome({ commandId, from, through }))
      if (Option.isNone(receipt)) return { ...ages, committed: null }
      const transaction = Option.getOrUndefined(receipt.value.transaction)
      if (transaction === undefined) {
        return yield* Effect.die(new Error(`the ledger shows ${commandId} without its transaction`))
      }
      if (SpentCommand.isSpending(transaction.events)) {
        return { ...ages, committed: null, isSpent: true, spentAt: receipt.value.offset }
      }
      const { horizonOffset, ledgerEpoch } = yield* orUnavailable(projection.head)
      // Of the first epoch every update was read, or is still to be.
      const isBehind = ledgerEpoch > 1 && receipt.value.offset <= horizonOffset
      return { ...ages, committed: { ...receipt.value, isBehind } }
    }
    case "positions": {
      const end = yield* reading(ledger.ledgerEnd)
      const head = yield* orUnavailable(projection.head)
      const positions = {
        end,
        head: Offset.of(head.offset),
        horizon: Offset.of(head.horizonOffset)
      }
      return { positions }
    }
  }
})

/** Appends a fact to the leased operation while it runs, in a transaction of its own. */
const note = Effect.fnUntraced(function* (
  leasedOperation: LeasedOperation.LeasedOperation,
  factOf: (record: OperationRecord, now: Instant.Instant) => Fact | undefined
) {
  const records = yield* Records
  yield* records.transact(
    Effect.gen(function* () {
      yield* LeasedOperation.fence(leasedOperation)
      const record = yield* LeasedOperation.load(leasedOperation)
      const act = yield* LeasedOperation.actOf(record, yield* Instant.now)
      const fact = record.state === "running" ? factOf(record, act.now) : undefined
      if (fact !== undefined) yield* records.append(operations, record, fact, act)
    })
  )
})

/** Records a commit before the projection has read it. */
const noteCommit = (
  leasedOperation: LeasedOperation.LeasedOperation,
  { updateId, offset }: Rules.StepCommit
) =>
  note(leasedOperation, (record) =>
    record.updateId === updateId ? undefined : { on: "commit", updateId, offset }
  )

/**
 * Ends an operation as succeeded whose last step the projection never reads: a snapshot of the ledger
 * shows what it led to. What its result names and nobody knows any more fails it as a bug does.
 */
const conclude = Effect.fnUntraced(function* (
  operation: OnLedger,
  leasedOperation: LeasedOperation.LeasedOperation,
  { offset, updateId }: Rules.StepCommit
) {
  const records = yield* Records
  const transact = transactionOf(operation, records)
  yield* transact(
    Effect.gen(function* () {
      yield* LeasedOperation.fence(leasedOperation)
      const running = yield* LeasedOperation.begin(leasedOperation)
      if (running === undefined) return
      const { act } = running
      const fact = { on: "commit", updateId, offset } as const
      const record =
        running.record.updateId === updateId
          ? running.record
          : yield* records.append(operations, running.record, fact, act)
      yield* LeasedOperation.settle(leasedOperation, operation, { record, act })
    })
  )
})

/** Records that a step may have committed, so that no lease fails the operation too early. */
export const doubt = Effect.fnUntraced(function* (
  leasedOperation: LeasedOperation.LeasedOperation,
  step: Step,
  why: string
) {
  const { commandId } = step
  yield* Effect.logWarning("the outcome of a ledger write is unknown", { commandId, why })
  const now = yield* Instant.now
  yield* note(leasedOperation, () => ({ on: "unknown", at: now }))
  leasedOperation.mayCommit = false
  return { ...step, unknownSince: now }
})

/** Records the ledger's end after it first refused the step as stale, so that no later end is awaited. */
const noteStale = (
  leasedOperation: LeasedOperation.LeasedOperation,
  { commandId, ...stale }: Pick<Step, "commandId" | "staleEnd">
) =>
  note(leasedOperation, ({ step }) =>
    step?.commandId === commandId ? { on: "plan", step: { ...step, ...stale } } : undefined
  )

/** Records that the step is never sent again, and how the operation fails once its id is spent. */
export const abandon = Effect.fnUntraced(function* (
  leasedOperation: LeasedOperation.LeasedOperation,
  step: Step,
  failureOf: ((requestId: string) => OperationFailure) | null
) {
  const { commandId } = step
  yield* Effect.logWarning("a ledger write is abandoned: its command id is spent first", {
    commandId
  })
  const now = yield* Instant.now
  let abandoned: NonNullable<Step["abandoned"]> = { at: now }
  yield* note(leasedOperation, ({ requestId }) => {
    abandoned = { at: now, ...(failureOf === null ? {} : { failure: failureOf(requestId) }) }
    return { on: "abandon", ...abandoned }
  })
  return { ...step, abandoned }
})

/** The transaction that judges a step: of a long write one that no other write shares. */
const transactionOf = ({ isLong = false }: OnLedger, records: Records["Service"]) =>
  isLong ? records.transactAlone : records.transact

/** Trace of the call that opened an operation. */
const traceOf = ({ traceId, traceFlags }: OperationRecord) => Trace.of(traceId, traceFlags)

/** A running operation with its decoded request. */
type RunningWrite = LeasedOperation.RunningOperation & { readonly input: unknown }

/** Members of a step by which it and the next one are divided. */
type Parts = Pick<Step, "itemsMax" | "divided" | "leftOut">

/** Largest number of items of the step after one that was divided: twice as many. */
const grown = ({ items = [], itemsMax }: Step): Parts =>
  // A limit that the step did not reach limits nothing any more.
  itemsMax === undefined || items.length < itemsMax ? {} : { itemsMax: 2 * itemsMax }

/** Divides a refused step: into half as many items; a single one was left out. */
const halved = ({ divided: times = 0, items = [], leftOut = 0 }: Step): Parts =>
  items.length > 1
    ? { divided: times + 1, leftOut, itemsMax: Math.floor(items.length / 2) }
    : { divided: times + 1, leftOut: leftOut + 1, itemsMax: 1 }

/** Computes by what a new plan of a step is divided, from the recorded step that it follows. */
const partsOf = (
  step: Step | null,
  { isChanged = false, refusal, step: count }: Rules.Plan
): Parts => {
  if (step === null) return {}
  if (step.step !== count) return grown(step)
  if (refusal !== undefined) return halved(step)
  const { divided: times = 0, itemsMax, leftOut } = step
  const divided = isChanged ? times + 1 : times
  return {
    ...(itemsMax === undefined ? {} : { itemsMax }),
    ...(divided === 0 ? {} : { divided }),
    ...(leftOut === undefined ? {} : { leftOut })
  }
}

/**
 * Records that the ledger refused the only item of a step, in a transaction of its own: the plan that
 * follows leaves it out. Where an instance dies in between, the step is sent and refused once more.
 * Refuses by that refusal where the write cannot do without the item.
 */
const leaveOut = Effect.fnUntraced(function* (
  operation: OnLedger,
  leasedOperation: LeasedOperation.LeasedOperation,
  { items: [item, ...others] = [], refusal }: Pick<Step, "items"> & { readonly refusal: Refused }
) {
  const { divide } = operation
  if (divide === undefined || item === undefined) return yield* Effect.fail(refusal)
  if (others.length > 0) return
  const records = yield* Records
  const isLeftOut = yield* records.transact(
    Effect.gen(function* () {
      yield* LeasedOperation.fence(leasedOperation)
      const record = yield* LeasedOperation.load(leasedOperation)
      const act = yield* LeasedOperation.actOf(record, yield* Instant.now)
      return yield* divide.leaveOut(
        Request.decode(operation, record.request),
        { item, refusal },
        act
      )
    })
  )
  if (!isLeftOut) return yield* Effect.fail(refusal)
})

/**
 * Ends a write of which nothing is left to send: as succeeded, or as failed by the refusal of the items
 * that it left out. Only inside `transact`.
 */
const settle = Effect.fnUntraced(function* (
  operation: OnLedger,
  leasedOperation: LeasedOperation.LeasedOperation,
  running: RunningWrite
) {
  const refusal = yield* operation.divide?.end(running.input, running.act) ?? Effect.succeed(null)
  yield* refusal === null
    ? LeasedOperation.settle(leasedOperation, operation, running)
    : LeasedOperation.end(leasedOperation, running, LeasedOperation.failing(refusal))
})

/**
 * Fails a write. One that divides ends the items that it left out in the same transaction, so that
 * the write that follows it begins without them.
 */
export const fail = (
  {
    leasedOperation,
    operation: { divide, ...operation }
  }: Pick<LedgerWrite, "leasedOperation" | "operation">,
  failure: Parameters<typeof LeasedOperation.fail>[1]
) =>
  LeasedOperation.fail(leasedOperation, failure, ({ act, record }) =>
    divide === undefined ? Effect.void : divide.end(Request.decode(operation, record.request), act)
  )

/**
 * Judges a step and records it before its first submission, under the trace of the operation;
 * undefined where the operation has ended: its figures have moved, or nothing is left to send.
 */
const plan = Effect.fnUntraced(function* (
  operation: OnLedger,
  leasedOperation: LeasedOperation.LeasedOperation,
  move: Rules.Plan
) {
  const { replan, step: count } = move
  const records = yield* Records
  const ledger = yield* Ledger.Ledger
  const dedupOffset = yield* reading(ledger.ledgerEnd)
  const transact = transactionOf(operation, records)
  const planned = yield* transact(
    Effect.gen(function* () {
      const fencedAt = yield* LeasedOperation.fence(leasedOperation)
      const running = yield* LeasedOperation.begin(leasedOperation)
      if (running === undefined) return undefined
      const { act, record } = running
      if (count === 1 && replan === 0 && record.step !== null) {
        return yield* Effect.die(new Error("an operation at its first lease has a step"))
      }
      const input = Request.decode(operation, record.request)
      const write: RunningWrite = { ...running, input }
      // A later step is not stopped by moved figures: the first step has committed already.
      const isFirst = count === 1
      if (isFirst && (yield* SignedFigures.voidIfFiguresMoved(leasedOperation, operation, write))) {
        return undefined
      }
      const parts = partsOf(record.step, move)
      const plan = yield* operation.plan(input, act, count, parts.itemsMax)
      if (plan === null) return void (yield* settle(operation, leasedOperation, write))
      const suffix = replan === 0 ? "" : `.${replan}`
      const step: Step = {
        step: count,
        replan,
        commandId: `${record.operationId}:${count}${suffix}`,
        dedupOffset,
        commands: plan.commands,
        disclosed: plan.disclosed ?? [],
        last: plan.last,
        ...(plan.items === undefined ? {} : { items: plan.items }),
        ...parts,
        plannedAt: act.now,
        unknownSince: null
      }
      yield* records.append(operations, record, { on: "plan", step }, act)
      yield* LeasedOperation.renewAfter(leasedOperation, fencedAt)
      return { step, trace: traceOf(record) }
    })
  )
  // Only the holder of the lease plans: of this step nothing can have been sent.
  leasedOperation.mayCommit = false
  return planned
})

/** The leased operation with its act and its input, to be judged again. Only inside `transact`. */
const recorded = Effect.fnUntraced(function* (
  operation: OnLedger,
  leasedOperation: LeasedOperation.LeasedOperation
) {
  const record = yield* LeasedOperation.load(leasedOperation)
  const act = yield* LeasedOperation.actOf(record, yield* Instant.now)
  return { record, act, input: Request.decode(operation, record.request) }
})

/**
 * How a recorded step is judged again: it is sent as it is, or planned anew because the records ask for
 * something else by now, or nothing of it is left to say.
 */
type Rejudgement = "same" | "changed" | "said"

/**
 * Plans a recorded step again, and rolls back. Of a write that divides, the commands are compared: a line
 * may wait by now that the recorded step leaves as it is.
 */
const compared = Effect.fnUntraced(function* (
  operation: OnLedger,
  { commands, itemsMax, step }: Step,
  { act, input }: RunningWrite
) {
  const records = yield* Records
  const planned = yield* records.rehearse(operation.plan(input, act, step, itemsMax))
  if (planned === null) return "said"
  const isSame = operation.divide === undefined || Equal.equals(planned.commands, commands)
  return isSame ? "same" : "changed"
})

/**
 * Judges again a recorded step that the ledger has not taken: a hold or a restriction may have been
 * set since it was planned, or its figures may have moved. The step and its command id do not
 * change. Where its figures have moved, or what it says is said already, the operation has ended.
 */
const judgeBeforeSend = Effect.fnUntraced(function* (
  operation: OnLedger,
  leasedOperation: LeasedOperation.LeasedOperation,
  step: Step
) {
  const transact = transactionOf(operation, yield* Records)
  return yield* transact(
    Effect.gen(function* () {
      const fencedAt = yield* LeasedOperation.fence(leasedOperation)
      const running = yield* recorded(operation, leasedOperation)
      const isFirst = step.step === 1
      if (
        isFirst &&
        (yield* SignedFigures.voidIfFiguresMoved(leasedOperation, operation, running))
      ) {
        return "said" satisfies Rejudgement
      }
      const judgement: Rejudgement = yield* compared(operation, step, running)
      if (judgement === "said") yield* settle(operation, leasedOperation, running)
      else yield* LeasedOperation.renewAfter(leasedOperation, fencedAt)
      return judgement
    })
  )
})

/**
 * Judges a step again of which a submission may still commit: whether it would still be sent as it
 * is. Changes nothing, since the operation can end only once the command id is spent.
 */
const isStillSent = Effect.fnUntraced(
  function* (operation: OnLedger, leasedOperation: LeasedOperation.LeasedOperation, step: Step) {
    const transact = transactionOf(operation, yield* Records)
    return yield* transact(
      Effect.gen(function* () {
        const fencedAt = yield* LeasedOperation.fence(leasedOperation)
        const running = yield* recorded(operation, leasedOperation)
        const isMoved = step.step === 1 && (yield* SignedFigures.areMoved(operation, running))
        const isSent = !isMoved && (yield* compared(operation, step, running)) === "same"
        yield* LeasedOperation.renewAfter(leasedOperation, fencedAt)
        return isSent
      })
    )
  },
  Effect.catchTag("Refused", () => Effect.succeed(false))
)

/** Offset from which the ledger is to recognise an earlier commit of the command id. */
const sinceOf = ({ progress, step }: LedgerWrite & { readonly step: Step }, dedup: Rules.Dedup) =>
  Effect.suspend(() => {
    if (dedup === "since-planned") return Effect.succeed(step.dedupOffset)
    const { positions } = progress
    return positions === undefined
      ? Effect.die(new Error("a window of what is not projected, without the projection's head"))
      : Effect.succeed(positions.head)
  })

/**
 * Submits commands under the command id of a step once, under the trace of the call that opened its
 * operation, with a new parent span.
 */
const submit = Effect.fnUntraced(function* (
  { leasedOperation, trace }: LedgerWrite,
  submission: Pick<Ledger.Submission, "commandId" | "commands" | "disclosed"> & {
    readonly since: Offset.Offset
  }
) {
  const ledger = yield* Ledger.Ledger
  const { since, ...commands } = submission
  const { commandId } = commands
  leasedOperation.mayCommit = true
  const answer = yield* Effect.result(
    ledger.submit({
      ...commands,
      dedup: { _tag: "Since", offset: since },
      workflowId: commandId.slice(0, commandId.indexOf(":")),
      ...(trace === null
        ? {}
        : { traceparent: Trace.traceparent(trace, yield* (yield* Ids).bytes(8)) })
    })
  )
  if (Result.isSuccess(answer)) return Rules.receipt
  leasedOperation.mayCommit = Rules.isOpen(answer.failure)
  return answer.failure
})

/** Submits a step, or the marker that spends its command id. */
const submitStep = Effect.fnUntraced(function* (
  write: LedgerWrite & { readonly step: Step },
  { dedup, move }: Rules.Send | Rules.Spend
) {
  const { commandId, commands, disclosed } = write.step
  const since = yield* sinceOf(write, dedup)
  if (move === "send") {
    return yield* submit(write, {
      commandId,
      commands,
      since,
      ...(disclosed.length === 0 ? {} : { disclosed })
    })
  }
  const { venue } = yield* Ledger.Ledger
  return yield* submit(write, {
    commandId,
    commands: [SpentCommand.spend({ venue, commandId })],
    since
  })
})

/** State of a ledger write while one lease works on it. */
interface LedgerWrite {
  readonly operation: OnLedger
  readonly leasedOperation: LeasedOperation.LeasedOperation
  readonly trace: Trace.Trace | null
  readonly step: Step | null
  readonly progress: Rules.LedgerWriteProgress
  /** The answer to this lease's latest submission; undefined: it has sent none. */
  readonly answer: Rules.SubmitAnswer | undefined
  readonly move: Rules.Move
}

/** Decides the next move from the progress of the write. */
const decided = (write: Omit<LedgerWrite, "move">): LedgerWrite => {
  const { answer, progress } = write
  const { step } = progress
  if (answer === undefined || step === null) return { ...write, move: Rules.next(progress) }
  const sent = { ...progress, step }
  const move =
    step.abandoned === undefined
      ? Rules.afterAnswer(answer, sent)
      : Rules.afterSpending(answer, sent)
  return { ...write, move }
}

/**
 * Makes the operation due at once where the projection read its step while this lease still had the
 * lease: the projection hastens only an item that is not leased.
 */
const hastened = Effect.fnUntraced(function* ({ answer, leasedOperation, step }: LedgerWrite) {
  if (answer?._tag !== "Receipt" || step === null || step.last) return
  const projection = yield* ProjectionLog
  const work = yield* WorkQueue
  const { itemId, queue } = leasedOperation.lease
  if (!(yield* orUnavailable(projection.hasCommand(step.commandId)))) return
  yield* orUnavailable(work.hasten({ queue, itemIds: [itemId] }))
})

const alarm = ({ step }: LedgerWrite, message: string | undefined) =>
  message === undefined
    ? Effect.void
    : Effect.logError(message, { commandId: step?.commandId ?? null })

/**
 * Performs the write's move and returns the write with its next one; undefined: the lease has
 * ended.
 */
const perform = Effect.fnUntraced(function* (
  write: LedgerWrite
): Effect.fn.Return<LedgerWrite | undefined, Refused | Unavailable | LeaseLost, Needs> {
  const { leasedOperation, move, operation } = write
  switch (move.move) {
    case "finish":
      return void (yield* LeasedOperation.finish(leasedOperation))
    case "refuse":
      yield* alarm(write, move.alarm)
      return void (yield* fail(write, LeasedOperation.failing(move.cause)))
    case "end": {
      const { failure } = move
      return void (yield* fail(write, () => failure))
    }
    case "conclude":
      return void (yield* conclude(operation, leasedOperation, move.committed))
    case "wait":
      yield* alarm(write, move.alarm)
      yield* LeasedOperation.release(
        leasedOperation,
        move.isSpread ? LeasedOperation.spread(leasedOperation, move.millis) : move.millis,
        write.answer?._tag === "Receipt" ? { deaths: 0 } : {}
      )
      return void (yield* hastened(write))
    case "plan": {
      const { refusal } = move
      if (refusal !== undefined)
        yield* leaveOut(operation, leasedOperation, { ...write.step, refusal })
      const planned = yield* plan(operation, leasedOperation, move)
      return planned === undefined ? undefined : { ...write, ...planned, move: Rules.firstSend }
    }
  }
  const step = write.step ?? (yield* Effect.die(new Error("a step is asked for before its plan")))
  switch (move.move) {
    case "look-up": {
      const found = yield* lookUp(move.what, { leasedOperation, step })
      return decided({ ...write, progress: { ...write.progress, ...found } })
    }
    case "doubt":
      return { ...write, step: yield* doubt(leasedOperation, step, move.why), move: move.then }
    case "note":
      yield* noteCommit(leasedOperation, move.committed)
      return { ...write, move: move.then }
    case "await-stale": {
      const { staleEnd } = move
      yield* noteStale(leasedOperation, { commandId: step.commandId, staleEnd })
      return { ...write, step: { ...step, staleEnd }, move: move.then }
    }
    case "abandon": {
      yield* alarm(write, move.alarm)
      const failing = move.cause === null ? null : LeasedOperation.failing(move.cause)
      return {
        ...write,
        step: yield* abandon(leasedOperation, step, failing),
        move: Rules.firstSpend
      }
    }
    case "send":
      if (!move.isJudged) {
        const isRepeated = operation.divide !== undefined && step.unknownSince !== null
        if (!isRepeated || (yield* isStillSent(operation, leasedOperation, step))) break
        return { ...write, move: Rules.awaitedInDoubt }
      }
      if (!Rules.mustSpend(write.progress)) {
        const judgement = yield* judgeBeforeSend(operation, leasedOperation, step)
        if (judgement === "same") break
        return judgement === "said" ? undefined : { ...write, move: Rules.changed(step) }
      }
      if (yield* isStillSent(operation, leasedOperation, step)) break
      return { ...write, step: yield* abandon(leasedOperation, step, null), move: Rules.firstSpend }
    case "spend":
      break
  }
  const answer = yield* submitStep({ ...write, step }, move)
  const progress = yield* progressOf(leasedOperation, { state: "running", step, dedup: move.dedup })
  return decided({ ...write, answer, progress })
})

/** Runs the leased write as far as possible, and ends it where its rules refuse. */
export const run = Effect.fnUntraced(function* (
  operation: OnLedger,
  leasedOperation: LeasedOperation.LeasedOperation
) {
  // Before its first lease nothing of an operation is planned: the plan loads its record.
  const record =
    leasedOperation.lease.attempt === 1 ? undefined : yield* LeasedOperation.load(leasedOperation)
  if (record !== undefined) yield* LeasedOperation.linkSpan(record)
  const { state, step } = record ?? ({ state: "queued", step: null } as const)
  const progress = yield* progressOf(leasedOperation, { state, step, dedup: "since-planned" })
  const trace = record === undefined ? null : traceOf(record)
  const first = decided({
    ...{ operation, leasedOperation, trace, step, progress },
    answer: undefined
  })
  const performed = Effect.gen(function* () {
    let write: LedgerWrite | undefined = first
    while (write !== undefined) write = yield* perform(write)
  })
  return yield* Effect.catchTag(performed, "Refused", (refusal) =>
    fail({ leasedOperation, operation }, LeasedOperation.failing(refusal))
  )
})

/**
 * Decides whether the operation may be failed after a fault other than the ledger's answer: not while
 * a step of it may commit, and not now where a port is unavailable.
 */
export const mayGiveUp = (
  leasedOperation: LeasedOperation.LeasedOperation,
  record: Pick<OperationRecord, "state" | "step">
) =>
  Effect.gen(function* () {
    const { state, step } = record
    let progress = yield* progressOf(leasedOperation, { state, step, dedup: "since-planned" })
    for (;;) {
      const may = Rules.mayGiveUp(progress)
      if (typeof may === "string") return may
      if (step === null) return yield* Effect.die(new Error("an operation without a step has none"))
      progress = { ...progress, ...(yield* lookUp(may.what, { leasedOperation, step })) }
    }
  }).pipe(Effect.orElseSucceed(() => "not-now" as const))
