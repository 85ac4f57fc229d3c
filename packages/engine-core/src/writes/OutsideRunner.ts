/** Runs a write that calls an outside system, between a transaction before and one after. */
import { Effect } from "effect"
import { Records } from "../records/Records.ts"
import * as LeasedOperation from "./LeasedOperation.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import type { OnOutside } from "./Operation.ts"
import * as OperationTransitions from "./OperationTransitions.ts"
import * as SignedFigures from "./SignedFigures.ts"

/** Records the attempt before the call; undefined where the operation has ended. */
const begin = Effect.fnUntraced(function* (
  operation: OnOutside,
  leasedOperation: LeasedOperation.LeasedOperation
) {
  yield* LeasedOperation.fence(leasedOperation)
  const running = yield* LeasedOperation.begin(leasedOperation)
  if (running === undefined) return undefined
  const { act, record } = running
  const input = yield* JudgeWrite.inputOf(operation, record)
  if (yield* SignedFigures.voidIfFiguresMoved(leasedOperation, operation, { ...running, input }))
    return undefined
  yield* operation.begin(input, act)
  return { input, act }
})

/** Records the outcome of the call, and ends the operation. */
const finish = Effect.fnUntraced(function* (
  operation: OnOutside,
  leasedOperation: LeasedOperation.LeasedOperation,
  { input, reached }: { readonly input: unknown; readonly reached: unknown }
) {
  yield* LeasedOperation.fence(leasedOperation)
  const running = yield* LeasedOperation.begin(leasedOperation)
  if (running === undefined) return
  const { act, record } = running
  const result = yield* operation.finish(input, act, reached)
  yield* OperationTransitions.succeed(record, { operation, result, act })
  yield* LeasedOperation.finish(leasedOperation)
})

/**
 * Runs the leased write to its end, unless its figures have moved; the caller ends it where it is
 * refused.
 */
export const run = Effect.fnUntraced(function* (
  operation: OnOutside,
  leasedOperation: LeasedOperation.LeasedOperation
) {
  const records = yield* Records
  const begun = yield* records.transact(begin(operation, leasedOperation))
  if (begun === undefined) return
  const { input, act } = begun
  const reached = yield* operation.reach(input, act)
  yield* records.transact(finish(operation, leasedOperation, { input, reached }))
})
