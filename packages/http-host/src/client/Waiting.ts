/** Polling of an operation or action until it has ended, as often as Retry-After allows. */
import { Duration, Effect } from "effect"
import type { Answered } from "./Call.ts"
import { ActionEnded, type CallError, OperationFailed } from "./Errors.ts"
import { patiently } from "./Patience.ts"
import type { Problem } from "../api/Problem.ts"
import type { Seen } from "./Seen.ts"

export type Ended = OperationFailed | ActionEnded

export interface Options<W> {
  /** Told of the write each time it has been read, and changed or not; it may store it. */
  readonly progress?: (written: W) => Effect.Effect<void>
  /** How long at most; then the wait fails with a timeout while the write goes on. A day unless given. */
  readonly within?: Duration.Input
}

/** Members of a write answer that waiting needs. */
export interface Waited {
  readonly state: Seen<string> | { readonly unknown: string }
  readonly operationId: string | null
  readonly actionKey: string | null
  readonly problem: unknown
}

/** A record of an action that may have run. */
interface Action {
  readonly state: string | { readonly unknown: string }
  readonly operationId: string | null
  readonly reason: string | null
}

/** Between two looks where the service names no time: people take longer than machines. */
const lookAgain = 1
const askAgain = 5

/** Reads until the end; `operation` and `action` are how one of each is read. */
export const wait = <W extends Waited>(
  of: {
    readonly operation: (operationId: string) => Effect.Effect<Answered<W>, CallError>
    readonly action: (actionKey: string) => Effect.Effect<Action, CallError>
  },
  written: W,
  { progress = () => Effect.void }: Pick<Options<W>, "progress">
): Effect.Effect<W, CallError | Ended> => {
  const followed = (operationId: string): Effect.Effect<W, CallError | Ended> =>
    Effect.gen(function* () {
      for (;;) {
        const { retryAfter, value } = yield* patiently(of.operation(operationId))
        yield* progress(value as W)
        if (value.state === "succeeded") return value as W
        if (value.state === "failed") {
          const problem = value.problem as Problem
          return yield* Effect.fail(new OperationFailed({ operationId, problem }))
        }
        yield* Effect.sleep(Duration.seconds(retryAfter ?? lookAgain))
      }
    })
  const approved = (actionKey: string): Effect.Effect<W, CallError | Ended> =>
    Effect.gen(function* () {
      for (;;) {
        const { operationId, reason, state } = yield* patiently(of.action(actionKey))
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
