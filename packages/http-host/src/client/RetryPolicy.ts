/** Retry policy of the client for 429, 503 and calls without an answer. */
import { Duration, Effect } from "effect"
import type { CallError } from "./Errors.ts"

/** Longest pause between two tries, in seconds. */
const longest = 60

/** Number of retries after which the last failure is returned. */
const triesMax = 100

/** Seconds to wait before the next try; null for a failure that a retry would not change. */
const pauseOf = (error: CallError, tries: number): number | null => {
  const backoff = Math.min(longest, 2 ** tries)
  if (error._tag === "HttpClientError") {
    return error.reason._tag === "TransportError" ? backoff : null
  }
  if (error._tag !== "CallRefused") return null
  const { retryAfter, status } = error.problem
  if (status !== 429 && status !== 503) return null
  return retryAfter === null ? backoff : Math.min(longest, Math.max(1, retryAfter))
}

/**
 * Retries a call while the answer is 429, 503 or none, after Retry-After but at most 60 seconds;
 * without one the pause doubles.
 */
export const withRetries = <A>(ask: Effect.Effect<A, CallError>): Effect.Effect<A, CallError> => {
  const from = (tries: number): Effect.Effect<A, CallError> =>
    Effect.catch(ask, (error) => {
      const pause = tries < triesMax ? pauseOf(error, tries) : null
      return pause === null
        ? Effect.fail(error)
        : Effect.andThen(Effect.sleep(Duration.seconds(pause)), from(tries + 1))
    })
  return from(0)
}
