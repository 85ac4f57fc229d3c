/** CORS: a web page of another origin may call only where the deployment lists its origin. */
import { HttpServerResponse } from "effect/http"

/** Request headers that such a page may send. */
const requestHeaders = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "Prefer",
  "X-Request-Id",
  "X-Signature",
  "X-Signature-Key",
  "X-Signature-Nonce",
  "X-Signature-Timestamp",
  "traceparent",
  "tracestate"
].join(", ")

/** Response headers that such a page may read. */
const answerHeaders = [
  "Deprecation",
  "ETag",
  "Idempotent-Replayed",
  "Link",
  "Location",
  "Preference-Applied",
  "Retry-After",
  "Sunset",
  "WWW-Authenticate",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id"
].join(", ")

/** Seconds for which a browser may cache a preflight answer. */
const rememberedFor = "600"

type Response = HttpServerResponse.HttpServerResponse

export interface Cors {
  /** True: any origin is permitted, so that OPTIONS is answered at all. */
  readonly speaks: boolean
  /** Headers of a preflight answer; `allow` lists the path's methods. */
  readonly permission: (
    origin: string | undefined,
    allow: string
  ) => Readonly<Record<string, string>>
  /** Adds the CORS headers for an origin to an answer. */
  readonly dress: (response: Response, origin: string | undefined) => Response
}

/**
 * Makes the middleware. Credentials are not permitted: the page sets the bearer header itself, and
 * cookies have no meaning.
 */
export const make = (origins: ReadonlyArray<string>): Cors => {
  const permitted = new Set(origins)
  const speaks = permitted.size > 0
  const isKnown = (origin: string | undefined): origin is string =>
    origin !== undefined && permitted.has(origin)
  return {
    speaks,
    permission: (origin, allow) =>
      isKnown(origin)
        ? {
            "access-control-allow-methods": allow,
            "access-control-allow-headers": requestHeaders,
            "access-control-max-age": rememberedFor
          }
        : {},
    dress: (response, origin) => {
      if (!speaks) return response
      const varying = response.headers["vary"]
      const vary = varying === undefined ? "Origin" : `${varying}, Origin`
      return HttpServerResponse.setHeaders(
        response,
        isKnown(origin)
          ? {
              vary,
              "access-control-allow-origin": origin,
              "access-control-expose-headers": answerHeaders
            }
          : { vary }
      )
    }
  }
}
