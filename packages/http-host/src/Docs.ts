/**
 * The reference page at /docs, rendered from the OpenAPI document; it loads nothing from other
 * hosts.
 */
import type { Catalogue } from "@bursar/engine-core"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiScalar, OpenApi } from "effect/http-api"
import { hash } from "node:crypto"
import type { Document } from "./api/Corrections.ts"
import * as Licences from "./DocsLicences.ts"
import * as PublicText from "./middleware/PublicText.ts"
import * as ProblemsPage from "./ProblemsPage.ts"
import { version } from "./version.ts"

export const path = "/docs"
/** Path of the licences of the page's viewer. */
export const licencesPath = "/docs/licences"

/**
 * Content security policy: a page may run the scripts that it is served with, by their hashes, and call
 * this host, and nothing else. The console shares the origin: a text that the viewer took for markup
 * could otherwise run beside it.
 */
const policy = (html: string): string =>
  [
    "default-src 'none'",
    `script-src ${scriptsOf(html)}`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "font-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** Sources of a page's inline scripts: the hash of each (CSP 3, hash-source); none has another source. */
const scriptsOf = (html: string): string => {
  const hashes = new Set<string>()
  const opening = /<script\b/giu
  const closing = /<\/script/giu
  // Two searches in turn: one expression for both would go over the rest of the page for each tag without an end.
  for (let tag = opening.exec(html); tag !== null; tag = opening.exec(html)) {
    const from = html.indexOf(">", tag.index) + 1
    closing.lastIndex = from
    const to = closing.exec(html)?.index ?? html.length
    hashes.add(`'sha256-${hash("sha256", html.slice(from, to), "base64")}'`)
    opening.lastIndex = to
  }
  return hashes.size === 0 ? "'none'" : [...hashes].join(" ")
}

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

/**
 * Routes of the page, of the page of problems and of the licences of its viewer, with the headers of every answer and their
 * own.
 */
export const make = Effect.fnUntraced(function* (
  document: Document,
  catalogue: Pick<Catalogue.Catalogue, "refusals">
) {
  // Cached by the caller and revalidated by its ETag.
  const headers = (html: string) => ({
    "cache-control": "no-cache",
    "content-security-policy": policy(html)
  })
  const page = yield* PublicText.make({
    text: render(document),
    contentType: "text/html; charset=utf-8",
    headers
  })
  const problems = yield* PublicText.make({
    text: Effect.succeed(ProblemsPage.textOf(catalogue)),
    contentType: "text/html; charset=utf-8",
    headers
  })
  const licences = yield* PublicText.make({
    text: Effect.succeed(Licences.text),
    contentType: "text/plain; charset=utf-8",
    headers
  })
  return [
    { path, app: page },
    { path: ProblemsPage.path, app: problems },
    { path: licencesPath, app: licences }
  ]
})
