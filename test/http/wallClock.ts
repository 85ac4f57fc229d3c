/** Wall clock of a venue over HTTP, set by a test and running on from there: engine, ledger and wallets share it. */
import { Clock, Layer } from "effect"
import { vi } from "vitest"
import { clockOf } from "#adapters/venue/SettableClock.ts"

export interface WallClock {
  /** Layer of the clock for `Wallets.open`. */
  readonly plugged: Layer.Layer<never>
  /** Sets the time to an instant, from which it runs on. */
  readonly set: (instant: string) => void
  readonly stop: () => void
}

/** Replaces the time of day of the process until it is stopped; timers keep the real time. */
export const start = (instant: string): WallClock => {
  vi.useFakeTimers({ toFake: ["Date"] })
  let from = { wall: 0, at: 0 }
  const runOn = () => vi.setSystemTime(from.wall + (performance.now() - from.at))
  const set = (to: string) => {
    from = { wall: Date.parse(to), at: performance.now() }
    runOn()
  }
  set(instant)
  const ticking = setInterval(runOn, 1)
  return {
    plugged: Layer.succeed(
      Clock.Clock,
      clockOf(() => BigInt(Date.now()) * 1_000_000n)
    ),
    set,
    stop: () => {
      clearInterval(ticking)
      vi.useRealTimers()
    }
  }
}
