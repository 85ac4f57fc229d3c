/**
 * Settable clock of one process: engine, ledger and wallets read one time of day from it, which stands
 * until it is moved, or runs on with the machine's. Waits, which are of the network, last as long as
 * they do.
 */
import { Date, Instant } from "@bursar/engine-core/kernel"
import { type Clock, Duration, Effect, Result } from "effect"

/** An instant, or its text: RFC 3339 in UTC, or a date, which is its midnight in UTC. */
export type InstantInput = Instant.Instant | string

/** Reads an instant or its text; throws on a text that is neither an instant nor a date. */
export const instantOf = (input: InstantInput): Instant.Instant => {
  if (typeof input !== "string") return input
  return Result.match(Date.parse(input), {
    onSuccess: Instant.fromDate,
    onFailure: () => Instant.of(input)
  })
}

/** Nanoseconds since the program's start, which no clock moves. */
const monotonic = (): bigint => BigInt(Math.round(performance.now() * 1_000)) * 1_000n

/** Clock of a time of day in nanoseconds since 1970; its timers keep the real time. */
export const clockOf = (nanos: () => bigint): Clock.Clock => {
  const millis = () => Number(nanos() / 1_000_000n)
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) =>
      Effect.callback((resume) => {
        const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
        return Effect.sync(() => clearTimeout(timer))
      })
  }
}

export interface SettableClock {
  readonly clock: Clock.Clock
  /** Moves the time of day forward; throws on an instant before it. */
  readonly set: (to: Instant.Instant) => void
}

const machine = (): bigint => BigInt(globalThis.Date.now()) * 1_000_000n

/** Makes a clock that stands at an instant until it is moved; null: the machine's, which runs on. */
export const make = (start: InstantInput | null): SettableClock => {
  let ahead = 0n
  let stands = start === null ? null : BigInt(instantOf(start))
  const now = () => stands ?? machine() + ahead
  return {
    clock: clockOf(now),
    set: (to) => {
      const from = now()
      if (to < from) {
        const [before, after] = [to, Instant.fromNanos(from)].map(Instant.format)
        throw new RangeError(`the clock runs forward: ${before} is before ${after}`)
      }
      if (stands === null) ahead = to - machine()
      else stands = to
    }
  }
}
