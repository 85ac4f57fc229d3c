/** The reference page at /docs, rendered from the document itself; it loads nothing from elsewhere. */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiScalar, OpenApi } from "effect/http-api"
import { hash } from "node:crypto"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import type { Document } from "./api/Mend.ts"
import * as Licences from "./DocsLicences.ts"
import { isKnown } from "./wire/Conditional.ts"
import { version } from "./version.ts"

export const path = "/docs"
/** Under which licences the page's viewer is served. */
export const licencesPath = "/docs/licences"

/** The page may run its own script and ask this host; whatever else it names is not fetched. */
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

/** The bundled viewer, given the mended document instead of one it would generate. */
const layer = (document: Document) =>
  HttpApiScalar.layer(
    HttpApi.make("docs").annotateMerge(
      OpenApi.annotations({ transform: () => released(document) })
    ),
    { path, scalar: viewer }
  )

/** The page's text, the same for everybody. */
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
      // The first caller may disconnect: rendering is not interrupted with it.
    }).pipe(Effect.uninterruptible)
  )
  return (requestId: string) =>
    Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const { digest, packed, plain } = yield* made
      const takesGzip = acceptsGzip(headers["accept-encoding"])
      // Two forms of one text are two representations, each with a tag of its own.
      const etag = takesGzip ? `"${digest}-gzip"` : `"${digest}"`
      const told = {
        "x-request-id": requestId,
        "x-content-type-options": "nosniff",
        // Cached by the caller and revalidated by its ETag.
        "cache-control": "no-cache",
        "content-security-policy": policy,
        vary: "accept-encoding",
        etag
      }
      if (isKnown(headers["if-none-match"], etag)) {
        return HttpServerResponse.empty({ status: 304, headers: told })
      }
      return HttpServerResponse.uint8Array(takesGzip ? packed : plain, {
        contentType: of.contentType,
        headers: takesGzip ? { ...told, "content-encoding": "gzip" } : told
      })
    })
})

/** Whether gzip is among what is accepted, and not with a weight of nothing. */
const acceptsGzip = (accepted: string | undefined): boolean =>
  accepted !== undefined &&
  /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[0-9.]+\s*)?(,|$)/i.test(accepted)

/** The page and the licences of its viewer, with the headers that no answer lacks and their own. */
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
