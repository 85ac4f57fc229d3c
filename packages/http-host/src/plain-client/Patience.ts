/** Pauses of both clients: between tries of a call, and between looks at what has not ended. */

/** Longest pause between two tries where the service names none, in seconds. */
const backoffMax = 60

/** Number of retries after which the last failure is returned. */
const triesMax = 100

/** Seconds that a client waits for an end, and the longest Retry-After that it waits for, by default. */
export const withinDefault = 86_400

/** Seconds between two looks at an operation without a Retry-After. */
export const lookAgain = 1

/** Seconds between two looks at an action, which waits for people. */
export const askAgain = 5

/**
 * Seconds for which the service is asked to hold an answer back: below the usual time limits of
 * proxies, and far below that of a fetch.
 */
export const heldFor = 25

/** A failed call: the status of its answer and its Retry-After in seconds; null: there was none. */
export interface FailedCall {
  readonly status: number | null
  readonly retryAfter: number | null
}

/**
 * Seconds to wait before the next try, never fewer than Retry-After says; without one the pause doubles
 * up to a minute. Null for a failure that a retry would not change, for the last try, and where
 * Retry-After is longer than `within`, the caller's own limit in seconds.
 */
export const pauseOf = (
  { retryAfter, status }: FailedCall,
  { tries, within }: { readonly tries: number; readonly within: number }
): number | null => {
  if (tries >= triesMax) return null
  if (status !== null && status !== 429 && status !== 503) return null
  const pause = retryAfter === null ? Math.min(backoffMax, 2 ** tries) : Math.max(1, retryAfter)
  return pause > within ? null : pause
}
