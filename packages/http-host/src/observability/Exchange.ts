/** Context of one request for its log lines, span and metrics. */
import { Context, Effect } from "effect"
import type { HttpServerResponse } from "effect/http"

export interface Exchange {
  readonly requestId: string
  readonly traceId: string
  readonly spanId: string
  readonly method: string
  /** The route's template, which names no record; null: the request found no route. */
  readonly route: string | null
  /** Who asked, once it is known. */
  sub: string | null
  /** Why the caller was not taken for who it says it is: for the log, never for the caller. */
  refusedBy: string | null
  /** The answer, once there is one. */
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
 * Refuses a caller, in words that help no forger, and keeps for the log what exactly was wrong.
 * `reason` is a word of a closed list, and nothing that the caller sent.
 */
export const refusing = <E>(refused: E, reason: string): Effect.Effect<never, E> =>
  Effect.flatMap(Current, (exchange) => {
    if (exchange !== null) exchange.refusedBy = reason
    return Effect.fail(refused)
  })

/**
 * Slug of an answer's problem, keyed by the answer's body, which stays the same when headers are
 * added.
 */
const slugs = new WeakMap<object, string>()

/** Records the refusal of an answer. */
export const tells = (
  response: HttpServerResponse.HttpServerResponse,
  slug: string
): HttpServerResponse.HttpServerResponse => {
  slugs.set(response.body, slug)
  return response
}

/** The refusal of an answer; undefined: it is none. */
export const slugOf = (response: HttpServerResponse.HttpServerResponse): string | undefined =>
  slugs.get(response.body)
