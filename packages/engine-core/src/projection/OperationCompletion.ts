/**
 * Completion of an operation by the projection: the transaction that commits its last step ends the
 * operation as succeeded, with the result that its declaration reads from the records.
 */
import { Effect, Option } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import * as Trace from "../kernel/Trace.ts"
import * as Ledger from "../ports/Ledger.ts"
import { WorkQueue } from "../ports/storage/WorkQueue.ts"
import type { Act } from "../records/Act.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import * as SpentCommand from "../templates/Runner.ts"
import { Records, type Stored } from "../records/Records.ts"
import { type OperationRecord, operations } from "../writes/OperationRecord.ts"
import { Operations } from "../writes/Operations.ts"
import * as OperationTransitions from "../writes/OperationTransitions.ts"
import { queue } from "../writes/QueuedOperation.ts"
import * as Request from "../writes/Request.ts"
import * as Unexpected from "./Unexpected.ts"

/**
 * Parses the operation's id from a command id, `operation:step`; null: the venue's engine did not
 * submit the transaction for an operation.
 */
export const operationIdOf = (commandId: Option.Option<Ledger.CommandId>): string | null => {
  const text = Option.getOrElse(commandId, () => "")
  const colon = text.indexOf(":")
  return colon < 0 ? null : text.slice(0, colon)
}

/** An operation of which the projection has read a step. */
export interface CompletedStep {
  readonly operationId: string
  /** True: the step was the last one, and the operation has succeeded. */
  readonly isEnded: boolean
}

/**
 * Marks the running operation whose step the transaction commits, and completes it where the step
 * is the last. A marker that spends the step's command id is noted instead. Returns the operation,
 * which `dequeue` and then `hasten` are to be called for; nothing where the transaction commits no
 * step. Only inside `transact`, after the transaction was folded.
 */
export const complete = Effect.fnUntraced(function* (
  update: Ledger.Transaction
): Effect.fn.Return<
  ReadonlyArray<CompletedStep>,
  Unavailable,
  Records | Operations | Ledger.Ledger
> {
  const submitted = yield* submittedFor(update)
  if (submitted === undefined) return []
  const isSpending = SpentCommand.isSpending(update.events)
  if (!isWaiting(submitted, update)) {
    // The runner may have read the marker before the projection has, and have ended the operation.
    if (!isSpending) yield* keepUnexpected(submitted, update)
    return []
  }
  const running = submitted
  const { operationId } = running
  const act: Act = {
    cause: { by: "operation", operationId },
    now: yield* Instant.now,
    offset: update.offset,
    trace: Trace.of(running.traceId, running.traceFlags)
  }
  if (isSpending) {
    const records = yield* Records
    yield* records.append(operations, running, { on: "spent" }, act)
    return [{ operationId, isEnded: false }]
  }
  const committed = yield* markCommitted(running, update, act)
  // The next step is planned from the records that this one has just changed.
  if (running.step?.last !== true) return [{ operationId, isEnded: false }]
  const operation = (yield* Operations).anyOf(running.kind)
  if (operation.on !== "ledger") {
    return yield* Effect.die(new Error(`${running.kind} has no step on the ledger`))
  }
  const result = yield* operation.finish(Request.decode(operation, running.request), {
    ...act,
    operationId,
    venue: (yield* Ledger.Ledger).venue,
    actor: running.actor,
    role: running.role,
    signedBy: running.signedBy ?? [],
    sealed: null
  })
  yield* OperationTransitions.succeed(committed, { operation, result, act })
  return [{ operationId, isEnded: true }]
})

const idsOf = (completed: ReadonlyArray<CompletedStep>, state: Pick<CompletedStep, "isEnded">) =>
  completed.filter(({ isEnded }) => isEnded === state.isEnded).map(({ operationId }) => operationId)

/** Takes the operations that have ended off the queue. Only inside the transaction that completed them. */
export const dequeue = (completed: ReadonlyArray<CompletedStep>) =>
  Effect.flatMap(WorkQueue, (work) =>
    orUnavailable(work.settle({ queue, itemIds: idsOf(completed, { isEnded: true }) }))
  )

/**
 * Makes the operations that have a next step due at once. Only after the transaction that completed
 * them: a runner that gives an operation back looks for its step among what is committed, so that
 * either the runner or this call finds the operation waiting. After a crash between the two the
 * operation is due when its runner said.
 */
export const hasten = (completed: ReadonlyArray<CompletedStep>) =>
  Effect.flatMap(WorkQueue, (work) =>
    orUnavailable(work.hasten({ queue, itemIds: idsOf(completed, { isEnded: false }) }))
  )

/** Finds the operation that the venue submitted this transaction for; undefined: there is none. */
const submittedFor = Effect.fnUntraced(function* ({ commandId }: Ledger.Transaction) {
  const operationId = operationIdOf(commandId)
  if (operationId === null) return undefined
  const records = yield* Records
  return Option.getOrUndefined(yield* records.find(operations, operationId))
})

/** Checks whether the operation runs and waits for this transaction. */
const isWaiting = (
  { state, step }: Stored<OperationRecord>,
  { commandId }: Ledger.Transaction
): boolean => state === "running" && step?.commandId === Option.getOrNull(commandId)

/**
 * Keeps a commit that no running operation waits for as a breach, which every reconciliation run
 * reports: the operation ended failed, or has committed already, and the ledger took it nevertheless
 * (docs/domain/ledger-writes.md#commits-after-the-end).
 */
const keepUnexpected = Effect.fnUntraced(function* (
  { operationId, state }: Stored<OperationRecord>,
  { commandId, effectiveAt, events, offset, updateId }: Ledger.Transaction
) {
  yield* Effect.logError("a ledger write committed that no running operation waits for", {
    commandId: Option.getOrNull(commandId),
    updateId,
    state
  })
  yield* Unexpected.keep(
    {
      updateId,
      nodeId: 0,
      contractId: events[0]?.contractId ?? "",
      act: {
        cause: { by: "update", updateId, offset, effectiveAt },
        now: effectiveAt,
        offset
      }
    },
    {
      resourceKind: "operation",
      resourceId: operationId,
      on: "commit",
      detail: `The ledger committed it although it is ${state} and does not wait for a commit.`
    }
  )
})

/** Records the commit, unless the runner has recorded it from the ledger's answer already. */
const markCommitted = Effect.fnUntraced(function* (
  running: Stored<OperationRecord>,
  { offset, updateId }: Ledger.Transaction,
  act: Act
) {
  if (running.updateId === updateId) return running
  const records = yield* Records
  return yield* records.append(operations, running, { on: "commit", updateId, offset }, act)
})
