/** Clock that the program sets: months pass at once, and only where the program says so. */
import { type Clock, Duration, Effect } from "effect"

let now = Date.parse("2026-06-30T12:00:00Z")

/** Sets the time of day of engine, ledger and wallets alike. */
export const setTime = (instant: string) =>
  Effect.sync(() => {
    now = Date.parse(instant)
  })

/** Time of day as it was set; waits, which are of the network, last as long as they do. */
export const clock: Clock.Clock = {
  currentTimeMillisUnsafe: () => now,
  currentTimeMillis: Effect.sync(() => now),
  currentTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => process.hrtime.bigint(),
  monotonicTimeNanos: Effect.sync(() => process.hrtime.bigint()),
  sleep: (duration) =>
    Effect.callback((resume) => {
      const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
      return Effect.sync(() => clearTimeout(timer))
    })
}
