/**
 * Takes, succeeds and fails an operation: its fact, its audit record and its metric, in one
 * transaction.
 */
import { Effect } from "effect"
import * as Metrics from "../engine/Metrics.ts"
import type * as Instant from "../kernel/Instant.ts"
import type * as Problem from "../kernel/Problem.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Act } from "../records/Act.ts"
import { Records, type Stored } from "../records/Records.ts"
import * as Logged from "./Logged.ts"
import type { AnyOperation } from "./Operation.ts"
import { operations, type OperationRecord } from "./OperationRecord.ts"
import * as Request from "./Request.ts"

type Transition = Effect.fn.Return<Stored<OperationRecord>, Unavailable, Records>

/** Problem of a failed operation, and its substitute for readers it is concealed from. */
export type OperationFailure = Pick<OperationRecord, "problemInstead"> & {
  readonly problem: Problem.Problem
}

/** Sets a queued operation running since `at`, the time of its first lease. */
export const take = Effect.fnUntraced(function* (
  queued: Stored<OperationRecord>,
  { at, act }: { readonly at: Instant.Instant; readonly act: Act }
): Transition {
  const records = yield* Records
  const running = yield* records.append(operations, queued, { on: "take", at }, act)
  yield* records.audit([Logged.started(queued)])
  return running
})

/** Ends a running operation as succeeded, with the result of its `run` or `finish`. */
export const succeed = Effect.fnUntraced(function* (
  running: Stored<OperationRecord>,
  outcome: { readonly operation: AnyOperation; readonly result: unknown; readonly act: Act }
): Transition {
  const { act, operation } = outcome
  const records = yield* Records
  const result = Request.encodeResult(operation, outcome.result)
  const resultInstead = yield* shownResultOf(operation, running)
  const fact = { on: "succeed", at: act.now, result, ...resultInstead } as const
  const succeeded = yield* records.append(operations, running, fact, act)
  yield* records.audit([Logged.ended(running, null)])
  const nanos = act.now - running.createdAt
  yield* records.whenCommitted(Metrics.ended(running.kind, "succeeded", nanos))
  return succeeded
})

/** Reads the result as investors and apps read it, where the operation declares that it differs. */
const shownResultOf = Effect.fnUntraced(function* (
  operation: AnyOperation,
  { request }: Pick<OperationRecord, "request">
) {
  if (operation.shownResult === undefined) return {}
  const result = yield* operation.shownResult(Request.decode(operation, request))
  return { resultInstead: Request.encodeResult(operation, result) }
})

/** Ends a running operation as failed. */
export const fail = Effect.fnUntraced(function* (
  running: Stored<OperationRecord>,
  { act, failure }: { readonly failure: OperationFailure; readonly act: Act }
): Transition {
  const records = yield* Records
  const fact = { on: "fail", at: act.now, ...failure } as const
  const failed = yield* records.append(operations, running, fact, act)
  yield* records.audit([Logged.ended(running, failure.problem)])
  const nanos = act.now - running.createdAt
  yield* records.whenCommitted(Metrics.ended(running.kind, "failed", nanos))
  return failed
})
