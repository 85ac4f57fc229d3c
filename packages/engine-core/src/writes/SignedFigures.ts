/** Guard at the run: voids the signatures of an action whose figures have moved. */
import { Effect, Result } from "effect"
import { Settings } from "../engine/Settings.ts"
import { refused } from "../kernel/Refusal.ts"
import { Records } from "../records/Records.ts"
import { approvals } from "./Approval.ts"
import * as LeasedOperation from "./LeasedOperation.ts"
import * as Figures from "./Figures.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import * as Logged from "./Logged.ts"
import type { AnyOperation } from "./Operation.ts"

/** Judges the write and derives its figures again; undefined where they have not moved. */
const movement = Effect.fnUntraced(function* (
  operation: AnyOperation,
  { act, input, record }: LeasedOperation.RunningOperation & { readonly input: unknown }
) {
  if (operation.figures === undefined || record.actionKey === null) return undefined
  const derived = yield* JudgeWrite.precheck(operation, input, { act, outside: Result.void })
  const moved = derived === undefined ? [] : Figures.moved(record.figures ?? {}, derived)
  return derived === undefined || moved.length === 0
    ? undefined
    : { actionKey: record.actionKey, derived, moved }
})

/** Checks whether the figures that were signed have moved; changes nothing. */
export const areMoved = (
  operation: AnyOperation,
  run: LeasedOperation.RunningOperation & { readonly input: unknown }
) => Effect.map(movement(operation, run), (found) => found !== undefined)

/**
 * Judges the write and derives its figures again. Where they have moved, the operation ends refused
 * and its action awaits signatures of the new figures, in the transaction that would have run the
 * write. Returns whether they have moved.
 */
export const voidIfFiguresMoved = Effect.fnUntraced(function* (
  leasedOperation: LeasedOperation.LeasedOperation,
  operation: AnyOperation,
  run: LeasedOperation.RunningOperation & { readonly input: unknown }
) {
  const { act, record } = run
  const found = yield* movement(operation, run)
  if (found === undefined) return false
  const { actionKey, derived, moved } = found
  const records = yield* Records
  const { tenantId } = yield* Settings
  yield* records.lock(`action:${tenantId}:${actionKey}`)
  const refusal = refused("rule-refused", Figures.movedDetails(moved, actionKey))
  yield* LeasedOperation.end(leasedOperation, run, LeasedOperation.failing(refusal))
  const action = yield* records
    .get(approvals, actionKey)
    .pipe(
      Effect.catchTag("Refused", () =>
        Effect.die(new Error(`operation ${record.operationId} names no action`))
      )
    )
  const storedFigures = yield* JudgeWrite.keep(derived)
  const fact = { on: "void", at: act.now, ...storedFigures } as const
  const voided = yield* records.append(approvals, action, fact, act)
  yield* records.audit([Logged.voidedAtRun(voided, record)])
  return true
})
