/** Retry policy of the client for 429, 503 and calls without an answer. */
import { Duration, Effect } from "effect"
import type { CallError } from "./Errors.ts"
import {
  type FailedCall,
  pauseOf,
  withinDefault as secondsDefault
} from "../plain-client/Patience.ts"

/** Timeout of `wait`, and longest Retry-After that is waited for, where the caller gives no limit. */
export const withinDefault: Duration.Input = Duration.seconds(secondsDefault)

const failedCallOf = (error: CallError): FailedCall | null => {
  if (error._tag === "HttpClientError") {
    return error.reason._tag === "TransportError" ? { status: null, retryAfter: null } : null
  }
  return error._tag === "CallRefused" ? error.problem : null
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
      const failed = failedCallOf(error)
      const pause = failed === null ? null : pauseOf(failed, { tries, within: longest })
      return pause === null
        ? Effect.fail(error)
        : Effect.andThen(Effect.sleep(Duration.seconds(pause)), from(tries + 1))
    })
  return from(0)
}
