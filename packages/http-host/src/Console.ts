/**
 * The venue console under /console/: static files, built beforehand, which the host serves from memory
 * (docs/console.md).
 */
import { Refusal, type Vocabulary } from "@bursar/engine-core"
import { Effect } from "effect"
import type { HttpServerResponse, HttpServerRequest } from "effect/http"
import { existsSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Venue } from "./api/SystemApi.ts"
import * as Answer from "./middleware/Answer.ts"
import type { FindPage } from "./middleware/Arrival.ts"
import * as Problems from "./middleware/Problems.ts"
import * as PublicText from "./middleware/PublicText.ts"
import * as RawPath from "./middleware/RawPath.ts"
import { version } from "./version.ts"

/** Settings of the console. */
export interface Options {
  /** Origins besides that of the issuer that its page may call. */
  readonly origins: ReadonlyArray<string>
  /** Pointer to the claim of a token that names its caller's roles. */
  readonly roles: string
  /** Roles by the provider's names for them; null: a name is the word of a role. */
  readonly roleNames: ReadonlyMap<string, ReadonlyArray<Vocabulary.Role>> | null
  /** Folder of the built files; that of this package by default. */
  readonly folder?: string
}

const root = "/console"
const prefix = `${root}/`
/** Files whose name has the hash of their content. */
const hashed = `${prefix}assets/`

/** Folder of the built files: in a checkout beside the sources, in what is packed beside this file. */
const ownFolder = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../dist/console" : "./console", import.meta.url)
)

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8"
}

/** Content security policy of the console: its own files, this host, the identity provider. */
const policyOf = (origins: ReadonlyArray<string>): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...origins].join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join("; ")

const headersOf = (origins: ReadonlyArray<string>): Answer.Extra => ({
  "content-security-policy": policyOf(origins),
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin"
})

type FindConsolePage = FindPage<never, HttpServerRequest.HttpServerRequest>

/** The console of a host that does not serve it. */
export const notServed: FindConsolePage = () => undefined

/**
 * Loads the files and returns what answers each path: the page for every path that could be one of its
 * own, a file by its name, 404 for a file that is not there and for what no route's path could be. A
 * host whose files are not built logs a warning and serves none.
 */
export const make = Effect.fnUntraced(function* ({
  tenant,
  ...options
}: Options & { readonly tenant: Venue }) {
  const folder = options.folder ?? ownFolder
  if (!existsSync(join(folder, "index.html"))) {
    yield* Effect.logWarning(
      "the venue console is not served: its files are not built (npm run console); console.enabled=false serves none"
    )
    return notServed
  }
  const origins = [...new Set([new URL(tenant.signIn.issuer).origin, ...options.origins])]
  const headers = headersOf(origins)
  const files = yield* Effect.promise(() => filesOf(folder))
  const html = yield* Effect.promise(() => readFile(join(folder, "index.html"), "utf8"))
  const pages = yield* Effect.all(
    Array.from({ length: depthMax }, (_, depth) =>
      PublicText.make({
        text: Effect.succeed(
          pageText(html, {
            depth,
            settings: {
              tenantId: tenant.tenantId,
              version,
              roles: options.roles,
              roleNames: options.roleNames === null ? null : Object.fromEntries(options.roleNames)
            }
          })
        ),
        contentType: "text/html; charset=utf-8",
        headers: { ...headers, "cache-control": "no-cache" }
      })
    )
  )
  const pathOf = (path: string): ((requestId: string) => App) | undefined => {
    if (path === root) return toPage
    const file = files.get(path)
    if (file !== undefined) {
      const cached = path.startsWith(hashed) ? "public, max-age=31536000, immutable" : "no-cache"
      return (requestId) =>
        PublicText.answer({
          ...file,
          requestId,
          headers: { ...headers, "cache-control": cached }
        })
    }
    if (path.startsWith(hashed)) return undefined
    const segments = RawPath.below(prefix, path)
    // A page at the path /console/a/b finds its files one step above.
    return segments === undefined ? undefined : pages[Math.max(0, segments.length - 1)]
  }
  return (({ method, path }) => {
    if (path !== root && !path.startsWith(prefix)) return undefined
    const isRead = method === "GET" || method === "HEAD"
    const app = pathOf(path)
    return {
      // One label of metrics and logs for all paths, which have ids.
      path: `${prefix}{path}`,
      app: app === undefined ? notThere : isRead ? app : notRead
    }
  }) satisfies FindConsolePage
})

type App = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest
>

/** Largest number of segments of a page's path below /console/. */
const depthMax = 8

/** Relative: a proxy in front may have added a path. */
const toPage = (requestId: string): App =>
  Effect.succeed(Answer.empty({ requestId, status: 308, extra: { location: "console/" } }))

const notThere = (requestId: string): App =>
  Effect.succeed(
    Problems.answer(
      Refusal.refused("not-found", { detail: "The console has no such file." }),
      requestId
    )
  )

const notRead = (requestId: string): App =>
  Effect.succeed(
    Problems.answer(
      Refusal.refused("method-not-allowed", { detail: "The console takes GET, HEAD." }),
      requestId,
      { allow: "GET, HEAD" }
    )
  )

interface File {
  readonly representations: PublicText.Representations
  readonly contentType: string
}

/** Reads every file but the page, with its encoded forms beside it, by its path. */
const filesOf = async (folder: string): Promise<ReadonlyMap<string, File>> => {
  const names = (await readdir(folder, { recursive: true })).filter(
    (name) => mediaTypes[extname(name)] !== undefined
  )
  return new Map(
    await Promise.all(
      names.map(async (name) => {
        const [identity, gzip, br] = await Promise.all(
          ["", ".gz", ".br"].map((extension) => readFile(join(folder, name + extension)))
        )
        if (identity === undefined || gzip === undefined || br === undefined) {
          throw new Error(`${name} of the console has no encoded form`)
        }
        const file: File = {
          representations: PublicText.representationsOf({ identity, gzip, br }),
          contentType: mediaTypes[extname(name)] ?? ""
        }
        return [prefix + name.replaceAll("\\", "/"), file] as const
      })
    )
  )
}

/** Settings of the host that the page needs before anybody has signed in. */
interface PageSettings {
  readonly tenantId: string
  readonly version: string
  readonly roles: string
  readonly roleNames: Readonly<Record<string, ReadonlyArray<string>>> | null
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")

/** The page as a path of some depth needs it: the addresses of its files are relative to that path. */
const pageText = (
  html: string,
  { depth, settings }: { readonly depth: number; readonly settings: PageSettings }
): string => {
  const steps = "../".repeat(Math.max(0, depth))
  return html
    .replaceAll(
      /(src|href)="\.\//gu,
      (_, name: string) => `${name}="${steps === "" ? "./" : steps}`
    )
    .replace(
      'name="bursar" content=""',
      () => `name="bursar" content="${escaped(JSON.stringify(settings))}"`
    )
}
