/** In-memory rate limiter: theoretical arrival time of each recent subject. */
import { Clock, Effect } from "effect"
import type { RateWindow, StoreIdentity } from "@bursar/engine-core/ports"

const SUBJECTS_BEFORE_SWEEP = 10_000

/** Outside transactions: a call counts although its write is rolled back. */
export const make = (store: StoreIdentity.StoreIdentity): RateWindow["Service"] => {
  const arrivals = new Map<string, number>()
  let sweepAt = SUBJECTS_BEFORE_SWEEP

  const sweep = (now: number): void => {
    if (arrivals.size < sweepAt) return
    for (const [subject, arrival] of arrivals) if (arrival <= now) arrivals.delete(subject)
    sweepAt = Math.max(SUBJECTS_BEFORE_SWEEP, arrivals.size * 2)
  }

  return {
    store,
    take: ({ subject, cost, interval, tolerance }) =>
      Effect.map(Clock.currentTimeNanos, (nanos) => {
        const now = Number(nanos / 1000n)
        sweep(now)
        const arrival = Math.max(arrivals.get(subject) ?? now, now)
        const moved = arrival + cost * interval
        const admitted = moved - now <= tolerance
        if (admitted) arrivals.set(subject, moved)
        return { admitted, ahead: (admitted ? moved : arrival) - now }
      }),
    forget: ({ idle, limit }) =>
      Effect.map(Clock.currentTimeNanos, (nanos) => {
        const whole = Number(nanos / 1000n) - idle
        let forgotten = 0
        for (const [subject, arrival] of arrivals) {
          if (forgotten >= limit) break
          if (arrival > whole) continue
          arrivals.delete(subject)
          forgotten += 1
        }
        return forgotten
      })
  }
}
