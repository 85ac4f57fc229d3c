/** Runs a write of the engine's own records: judged, recorded and ended in one transaction. */
import { Effect } from "effect"
import { Records } from "../records/Records.ts"
import * as LeasedOperation from "./LeasedOperation.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import type { OnRecords } from "./Operation.ts"
import * as OperationTransitions from "./OperationTransitions.ts"
import * as SignedFigures from "./SignedFigures.ts"

/**
 * Runs the leased write to its end, unless its figures have moved; the caller ends it where it is
 * refused.
 */
export const run = Effect.fnUntraced(function* (
  operation: OnRecords,
  leasedOperation: LeasedOperation.LeasedOperation
) {
  const records = yield* Records
  yield* records.transact(
    Effect.gen(function* () {
      const running = yield* LeasedOperation.begin(leasedOperation)
      if (running === undefined) return
      const { act, record } = running
      const input = yield* JudgeWrite.inputOf(operation, record)
      if (
        yield* SignedFigures.voidIfFiguresMoved(leasedOperation, operation, { ...running, input })
      )
        return
      const result = yield* operation.run(input, act)
      yield* OperationTransitions.succeed(record, { operation, result, act })
      yield* LeasedOperation.finish(leasedOperation)
    })
  )
})
