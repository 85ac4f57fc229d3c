/** Context of one request for its log lines, span and metrics. */
import { Context, Effect } from "effect"
import type { HttpServerResponse } from "effect/http"

export interface Exchange {
  readonly requestId: string
  readonly traceId: string
  readonly spanId: string
  readonly method: string
  /** Template of the route, which contains no id; null: the request has no route. */
  readonly route: string | null
  /** Subject of the caller; null before sign-in. */
  sub: string | null
  /** Reason why the caller was refused, for the log only. */
  refusedBy: string | null
  /** The answer; null before there is one. */
  response: HttpServerResponse.HttpServerResponse | null
}

/** Fiber-local request context; null outside of a request. */
export const Current = Context.Reference<Exchange | null>(
  "@bursar/http-host/observability/Exchange",
  { defaultValue: () => null }
)

/** Records the signed-in subject. */
export const signedIn = (sub: string): Effect.Effect<void> =>
  Effect.map(Current, (exchange) => {
    if (exchange !== null) exchange.sub = sub
  })

/**
 * Refuses a caller with an answer that does not help a forger, and records the exact reason for the
 * log. `reason` is a word of a closed list, never text of the caller.
 */
export const refusing = <E>(refused: E, reason: string): Effect.Effect<never, E> =>
  Effect.flatMap(Current, (exchange) => {
    if (exchange !== null) exchange.refusedBy = reason
    return Effect.fail(refused)
  })

/**
 * Slugs of problems, keyed by the answer's body, which stays the same object when headers are
 * added.
 */
const slugs = new WeakMap<object, string>()

/** Records the slug of a refusal with its answer. */
export const tells = (
  response: HttpServerResponse.HttpServerResponse,
  slug: string
): HttpServerResponse.HttpServerResponse => {
  slugs.set(response.body, slug)
  return response
}

/** Returns the slug of a refusal's answer; undefined for any other answer. */
export const slugOf = (response: HttpServerResponse.HttpServerResponse): string | undefined =>
  slugs.get(response.body)
