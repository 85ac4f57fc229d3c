/**
 * The reference page at /docs, rendered from the OpenAPI document; it loads nothing from other
 * hosts.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiScalar, OpenApi } from "effect/http-api"
import { hash } from "node:crypto"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import type { Document } from "./api/Corrections.ts"
import * as Licences from "./DocsLicences.ts"
import * as Conditional from "./wire/Conditional.ts"
import { version } from "./version.ts"

export const path = "/docs"
/** Path of the licences of the page's viewer. */
export const licencesPath = "/docs/licences"

/**
 * Content security policy: the page may run its own script and call this host, and nothing else.
 */
const policy = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "img-src data:",
  "font-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** Viewer options that switch off every tool and request of the viewer's makers. */
const viewer = {
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true }
}

/** Adds the release's version to the page; the document itself has the interface's version only. */
const released = (document: Document): Document => ({
  ...document,
  info: {
    ...document.info,
    version,
    description: `${document.info.description ?? ""} Interface version ${document.info.version}. [Licences of this page's viewer](${licencesPath}).`
  }
})

/**
 * Layer of the bundled viewer, given the corrected document instead of one that the viewer's
 * library would generate.
 */
const layer = (document: Document) =>
  HttpApiScalar.layer(
    HttpApi.make("docs").annotateMerge(
      OpenApi.annotations({ transform: () => released(document) })
    ),
    { path, scalar: viewer }
  )

/** Renders the HTML of the page, the same for every caller. */
const render = (document: Document): Effect.Effect<string> =>
  Effect.promise(async () => {
    const { dispose, handler } = HttpRouter.toWebHandler(layer(document), { disableLogger: true })
    const response = await handler(new Request(`http://localhost${path}`))
    const text = await response.text()
    await dispose()
    return text
  })

/** Cache of a static text: rendered and compressed at the first request. */
const kept = Effect.fnUntraced(function* (of: {
  readonly text: Effect.Effect<string>
  readonly contentType: string
}) {
  const made = yield* Effect.cached(
    Effect.gen(function* () {
      const text = yield* of.text
      const plain = Buffer.from(text, "utf8")
      const packed = yield* Effect.promise(() => promisify(gzip)(plain))
      return { plain, packed, digest: hash("sha256", text, "base64url") }
      // Uninterruptible: the first caller may disconnect while later callers wait for the same
      // text.
    }).pipe(Effect.uninterruptible)
  )
  return (requestId: string) =>
    Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const { digest, packed, plain } = yield* made
      const takesGzip = acceptsGzip(headers["accept-encoding"])
      // The plain and the compressed form are two representations, each with an ETag of its own.
      const etag = takesGzip ? `"${digest}-gzip"` : `"${digest}"`
      const answerHeaders = {
        "x-request-id": requestId,
        "x-content-type-options": "nosniff",
        // Cached by the caller and revalidated by its ETag.
        "cache-control": "no-cache",
        "content-security-policy": policy,
        vary: "accept-encoding",
        etag
      }
      if (Conditional.matches(headers["if-none-match"], etag)) {
        return HttpServerResponse.empty({ status: 304, headers: answerHeaders })
      }
      return HttpServerResponse.uint8Array(takesGzip ? packed : plain, {
        contentType: of.contentType,
        headers: takesGzip ? { ...answerHeaders, "content-encoding": "gzip" } : answerHeaders
      })
    })
})

/** Checks whether an Accept-Encoding header accepts gzip with a weight above 0. */
const acceptsGzip = (accepted: string | undefined): boolean =>
  accepted !== undefined &&
  /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[0-9.]+\s*)?(,|$)/i.test(accepted)

/**
 * Routes of the page and of the licences of its viewer, with the headers of every answer and their
 * own.
 */
export const make = Effect.fnUntraced(function* (document: Document) {
  return [
    { path, app: yield* kept({ text: render(document), contentType: "text/html; charset=utf-8" }) },
    {
      path: licencesPath,
      app: yield* kept({
        text: Effect.succeed(Licences.text),
        contentType: "text/plain; charset=utf-8"
      })
    }
  ]
})
