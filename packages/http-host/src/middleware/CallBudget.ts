/** Fallback rate limiter of one instance, while the shared one is unavailable. */

/** Size of the LRU of subjects. */
const subjectsMax = 10_000

export interface Cost {
  readonly subject: string
  readonly cost: number
  /** Microseconds one call takes from the budget. */
  readonly interval: number
  /** Microseconds the theoretical arrival time may run ahead of now. */
  readonly tolerance: number
}

export interface Taken {
  readonly admitted: boolean
  /** How far the theoretical arrival time is ahead of now after this call, in microseconds. */
  readonly ahead: number
}

/**
 * The generic cell rate algorithm, as the port RateWindow promises it, on this process's memory.
 * `now` is in microseconds.
 */
export const make = (): ((cost: Cost, now: number) => Taken) => {
  const arrivals = new Map<string, number>()
  return ({ subject, cost, interval, tolerance }, now) => {
    const arrival = Math.max(arrivals.get(subject) ?? now, now)
    const moved = arrival + cost * interval
    if (moved - now > tolerance) return { admitted: false, ahead: arrival - now }
    arrivals.delete(subject)
    arrivals.set(subject, moved)
    const oldest = arrivals.size > subjectsMax ? arrivals.keys().next().value : undefined
    if (oldest !== undefined) arrivals.delete(oldest)
    return { admitted: true, ahead: moved - now }
  }
}
