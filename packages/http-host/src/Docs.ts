/** The reference page at /docs, rendered from the document itself; it loads nothing from elsewhere. */
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiScalar, OpenApi } from "effect/http-api"
import type { Document } from "./api/Mend.ts"

export const path = "/docs"

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

/** The bundled viewer, given the mended document instead of one it would generate. */
const layer = (document: Document) =>
  HttpApiScalar.layer(
    HttpApi.make("docs").annotateMerge(OpenApi.annotations({ transform: () => document })),
    { path, scalar: { withDefaultFonts: false } }
  )

/** The page, with the headers that no answer lacks and its own. */
export const make = (document: Document) =>
  Effect.map(HttpRouter.toHttpEffect(layer(document)), (app) => ({
    path,
    app: (requestId: string) =>
      Effect.map(
        app,
        HttpServerResponse.setHeaders({
          "x-request-id": requestId,
          "x-content-type-options": "nosniff",
          "cache-control": "no-store",
          "content-security-policy": policy
        })
      )
  }))
