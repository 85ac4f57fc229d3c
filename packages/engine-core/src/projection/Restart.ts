/** Restart with exponential backoff: runs a background task again whenever it ends or fails. */
import { Cause, Duration, Effect, Exit } from "effect"
import * as Instant from "../kernel/Instant.ts"

/** Milliseconds before the next try after so many failures in a row: doubling, at most 30 s. */
export const backoff = (failures: number): number =>
  Math.min(30_000, 250 * 2 ** Math.min(failures, 7))

/** Nanoseconds a task must have run for its failure to count as the first one. */
const settledAfter = 60_000_000_000n

/** Failures in a row, with the failure of a task that ran for so many nanoseconds. */
export const failuresAfter = (before: number, lasted: bigint): number =>
  lasted > settledAfter ? 1 : before + 1

/** Runs the task until interrupted: at once when it has ended, after a pause when it failed. */
export const forever = <E, R>(
  task: Effect.Effect<void, E, R>,
  { failed }: { readonly failed: string }
): Effect.Effect<never, never, R> =>
  Effect.suspend(() => {
    let failures = 0
    const attempt = Effect.gen(function* () {
      const began = yield* Instant.now
      const exit = yield* Effect.exit(task)
      if (Exit.isSuccess(exit)) {
        failures = 0
        return
      }
      if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.failCause(exit.cause)
      yield* Effect.logError(failed, exit.cause)
      failures = failuresAfter(failures, (yield* Instant.now) - began)
      yield* Effect.sleep(Duration.millis(backoff(failures)))
    })
    return Effect.orDie(Effect.forever(attempt))
  })
