/** What is known of one request while it is answered: what its log lines, span and figures are told. */
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

/** The request that the work at hand belongs to; null outside of any. */
export const Current = Context.Reference<Exchange | null>(
  "@bursar/http-host/observability/Exchange",
  { defaultValue: () => null }
)

/** From here on it is known who asks. */
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

/** Which refusal an answer's body tells: known by its body, which stays when headers are added. */
const slugs = new WeakMap<object, string>()

/** Notes that an answer tells a refusal. */
export const tells = (
  response: HttpServerResponse.HttpServerResponse,
  slug: string
): HttpServerResponse.HttpServerResponse => {
  slugs.set(response.body, slug)
  return response
}

/** The refusal an answer tells; undefined: it tells none. */
export const slugOf = (response: HttpServerResponse.HttpServerResponse): string | undefined =>
  slugs.get(response.body)
