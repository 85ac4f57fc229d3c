/** Retry policy of the client for 429, 503 and calls without an answer. */
import { Duration, Effect } from "effect"
import type { CallError } from "./Errors.ts"

/** Longest pause between two tries where the service names none, in seconds. */
const backoffMax = 60

/** Number of retries after which the last failure is returned. */
const triesMax = 100

/** Timeout of `wait`, and longest Retry-After that is waited for, where the caller gives no limit. */
export const withinDefault: Duration.Input = "1 day"

/** Seconds to wait before the next try; null for a failure that a retry would not change. */
const pauseOf = (error: CallError, tries: number): number | null => {
  const backoff = Math.min(backoffMax, 2 ** tries)
  if (error._tag === "HttpClientError") {
    return error.reason._tag === "TransportError" ? backoff : null
  }
  if (error._tag !== "CallRefused") return null
  const { retryAfter, status } = error.problem
  if (status !== 429 && status !== 503) return null
  return retryAfter === null ? backoff : Math.max(1, retryAfter)
}

/**
 * Retries a call while the answer is 429, 503 or none, never sooner than Retry-After says; without
 * one the pause doubles up to a minute. Returns the last failure where Retry-After is longer than
 * `within`, the caller's own limit.
 */
export const withRetries = <A>(
  ask: Effect.Effect<A, CallError>,
  within: Duration.Input = withinDefault
): Effect.Effect<A, CallError> => {
  const longest = Duration.toSeconds(within)
  const from = (tries: number): Effect.Effect<A, CallError> =>
    Effect.catch(ask, (error) => {
      const pause = tries < triesMax ? pauseOf(error, tries) : null
      return pause === null || pause > longest
        ? Effect.fail(error)
        : Effect.andThen(Effect.sleep(Duration.seconds(pause)), from(tries + 1))
    })
  return from(0)
}
