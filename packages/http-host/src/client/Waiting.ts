/**
 * Waits for an operation or action until it has ended: the service holds the answer back where it can,
 * and is polled otherwise, as often as Retry-After allows.
 */
import { Duration, Effect } from "effect"
import type { DecodedAnswer } from "./Call.ts"
import { ActionEnded, type CallError, OperationFailed } from "./Errors.ts"
import { withRetries } from "./RetryPolicy.ts"
import { askAgain, lookAgain } from "../plain-client/Patience.ts"
import type { Problem } from "../api/Problem.ts"
import type { DecodedValue } from "./OpenSets.ts"

export type WaitError = OperationFailed | ActionEnded

export interface Options<W> {
  /** Called after each poll, also where nothing has changed; it may store the write. */
  readonly progress?: (written: W) => Effect.Effect<void>
  /**
   * Timeout of the wait, one day by default; the write itself goes on. A refusal with a longer
   * Retry-After ends the wait at once.
   */
  readonly within?: Duration.Input
}

/** Members of a write answer that waiting needs. */
interface AwaitedWrite {
  readonly state: DecodedValue<string> | { readonly unknown: string }
  readonly operationId: string | null
  readonly actionKey: string | null
  readonly problem: unknown
}

/** Members of an approval that waiting needs. */
interface Action {
  readonly state: string | { readonly unknown: string }
  readonly operationId: string | null
  readonly reason: string | null
}

/** Polls until the write has ended; `operation` and `action` read one of each. */
export const wait = <W extends AwaitedWrite>(
  {
    operation,
    action
  }: {
    readonly operation: (operationId: string) => Effect.Effect<DecodedAnswer<W>, CallError>
    readonly action: (actionKey: string) => Effect.Effect<Action, CallError>
  },
  written: W,
  { progress = () => Effect.void, within }: Options<W>
): Effect.Effect<W, CallError | WaitError> => {
  const followed = (operationId: string): Effect.Effect<W, CallError | WaitError> =>
    Effect.gen(function* () {
      for (;;) {
        const { hasWaited, retryAfter, value } = yield* withRetries(operation(operationId), within)
        yield* progress(value as W)
        if (value.state === "succeeded") return value as W
        if (value.state === "failed") {
          const problem = value.problem as Problem
          return yield* Effect.fail(new OperationFailed({ operationId, problem }))
        }
        // The service has waited in place of the caller.
        if (!hasWaited) yield* Effect.sleep(Duration.seconds(retryAfter ?? lookAgain))
      }
    })
  const approved = (actionKey: string): Effect.Effect<W, CallError | WaitError> =>
    Effect.gen(function* () {
      for (;;) {
        const { operationId, reason, state } = yield* withRetries(action(actionKey), within)
        if (operationId !== null) return yield* followed(operationId)
        if (state === "rejected" || state === "lapsed") {
          return yield* Effect.fail(new ActionEnded({ actionKey, state, reason }))
        }
        yield* Effect.sleep(Duration.seconds(askAgain))
      }
    })
  if (written.operationId !== null) return followed(written.operationId)
  return approved(written.actionKey ?? "")
}
