/**
 * Wall clock that a test moves and that runs on from there: for storage whose driver waits on timers of
 * its own, which a `TestClock` stops. Steps of other tests set it as if it were a `TestClock`.
 */
import { Duration, Effect } from "effect"
import { clockOf } from "#adapters/venue/SettableClock.ts"

export const movedClock = () => {
  let offset = 0
  return {
    /** Milliseconds that it is ahead of the machine's. */
    offset: () => offset,
    clock: {
      ...clockOf(() => BigInt(Date.now() + offset) * 1_000_000n),
      adjust: (by: Duration.Input) =>
        Effect.sync(() => {
          offset += Duration.toMillis(Duration.fromInputUnsafe(by))
        }),
      setTime: (to: number) =>
        Effect.sync(() => {
          offset = to - Date.now()
        })
    }
  }
}
