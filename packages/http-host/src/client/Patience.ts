/** Retry policy of the client for 429, 503 and calls without an answer. */
import { Duration, Effect } from "effect"
import type { CallError } from "./Errors.ts"

/** The longest pause between two tries. */
const longest = 60

/** After this many tries without an answer in a row the last failure stands. */
const triesMax = 100

/** Seconds to wait before the same is asked again; null for a failure that will not change. */
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

/** Asks again for as long as the answer is 429, 503 or none, never sooner than it was told. */
export const patiently = <A>(ask: Effect.Effect<A, CallError>): Effect.Effect<A, CallError> => {
  const from = (tries: number): Effect.Effect<A, CallError> =>
    Effect.catch(ask, (error) => {
      const pause = tries < triesMax ? pauseOf(error, tries) : null
      return pause === null
        ? Effect.fail(error)
        : Effect.andThen(Effect.sleep(Duration.seconds(pause)), from(tries + 1))
    })
  return from(0)
}
