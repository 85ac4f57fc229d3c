/** Fallback rate limiter of one instance, while the shared one is unavailable. */

/** Size of the LRU of subjects. */
const subjectsMax = 10_000

export interface Cost {
  readonly subject: string
  readonly cost: number
  /** Microseconds that one call takes from the budget. */
  readonly interval: number
  /** Microseconds by which the theoretical arrival time may be ahead of now. */
  readonly tolerance: number
}

export interface BudgetVerdict {
  readonly admitted: boolean
  /** Microseconds by which the theoretical arrival time is ahead of now after this call. */
  readonly ahead: number
}

/**
 * Generic cell rate algorithm in the memory of this process, with the semantics of the port
 * RateWindow. `now` is in microseconds.
 */
export const make = (): ((cost: Cost, now: number) => BudgetVerdict) => {
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
