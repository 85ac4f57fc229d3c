/** Clocks of hosts that do not agree. */
import { Clock, Effect } from "effect"

/** A clock that is wrong by an offset; its sleeps have the right length. */
export const wrongBy = (clock: Clock.Clock, millis: number): Clock.Clock => {
  const nanos = BigInt(millis) * 1_000_000n
  return {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + nanos,
    currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}

/** Runs an effect as a host whose clock is wrong by so many milliseconds. */
export const onHost =
  (millis: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.Clock, (clock) =>
      Effect.provideService(effect, Clock.Clock, wrongBy(clock, millis))
    )
