/** Runs a write that calls an outside system, between a transaction before and one after. */
import { Effect } from "effect"
import { Records } from "../records/Records.ts"
import * as Claim from "./Claim.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import type { OnOutside } from "./Operation.ts"
import * as OperationTransitions from "./OperationTransitions.ts"
import * as SignedFigures from "./SignedFigures.ts"

/** Records the attempt before the call; undefined where the operation has ended. */
const begin = Effect.fnUntraced(function* (operation: OnOutside, claim: Claim.Claim) {
  yield* Claim.hold(claim)
  const running = yield* Claim.begin(claim)
  if (running === undefined) return undefined
  const { act, record } = running
  const input = yield* JudgeWrite.inputOf(operation, record)
  if (yield* SignedFigures.voidIfFiguresMoved(claim, operation, { ...running, input }))
    return undefined
  yield* operation.begin(input, act)
  return { input, act }
})

/** Records the outcome of the call, and ends the operation. */
const finish = Effect.fnUntraced(function* (
  operation: OnOutside,
  claim: Claim.Claim,
  { input, reached }: { readonly input: unknown; readonly reached: unknown }
) {
  yield* Claim.hold(claim)
  const running = yield* Claim.begin(claim)
  if (running === undefined) return
  const { act, record } = running
  const result = yield* operation.finish(input, act, reached)
  yield* OperationTransitions.succeed(record, { operation, result, act })
  yield* Claim.finish(claim)
})

/**
 * Runs the claimed write to its end, unless its figures have moved; the caller ends it where it is
 * refused.
 */
export const run = Effect.fnUntraced(function* (operation: OnOutside, claim: Claim.Claim) {
  const records = yield* Records
  const begun = yield* records.transact(begin(operation, claim))
  if (begun === undefined) return
  const { input, act } = begun
  const reached = yield* operation.reach(input, act)
  yield* records.transact(finish(operation, claim, { input, reached }))
})
