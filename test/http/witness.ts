/**
 * Witness: watches every answer of a host under test, and validates it against the document of the
 * host's routes.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from "node:http"
import { createRequire } from "node:module"
import { Catalogue } from "@bursar/engine-core"
import { Duration } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import * as Document from "#host/api/Document.ts"
import * as Refusals from "#host/api/document/Refusals.ts"
import type { Route } from "#host/api/Route.ts"
import * as RawPath from "#host/middleware/RawPath.ts"
import { undeclared } from "../engine/declared-refusals.ts"

/** A request and its answer, as they left the process. */
export interface Exchange {
  readonly method: string
  readonly target: string
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  /** The request's If-None-Match. */
  readonly ifNoneMatch?: string | undefined
  /** Null for a body that is longer than is kept. */
  readonly body: string | null
}

export interface Witness {
  /** Breaches of the OpenAPI document found in the answers so far. */
  readonly breaches: () => ReadonlyArray<string>
  readonly stop: () => void
}

/** Of a stream of a hundred thousand records the shape is that of the first thousand. */
const keptMax = 1024 * 1024
/** Of the ten thousand equal calls of a flood as many are judged. */
const equalMax = 2000

const channel = "http.server.request.start"

interface Started {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly server: Server
}

/** Watches the server that listens on a port of this process, from now on. */
export const watch = (options: {
  readonly port: number
  readonly routes: ReadonlyArray<Route>
}): Witness => {
  const judge = judgeOf(options.routes)
  const kept: Array<Exchange> = []
  const seen = new Map<string, number>()
  const started = (message: unknown): void => {
    const { request, response, server } = message as Started
    const address = server.address()
    if (typeof address !== "object" || address?.port !== options.port) return
    record(request, response, (exchange) => {
      const path = exchange.target.split("?", 1)[0]
      const same = `${exchange.method} ${path} ${exchange.status}`
      const times = (seen.get(same) ?? 0) + 1
      seen.set(same, times)
      if (times <= equalMax) kept.push(exchange)
    })
  }
  subscribe(channel, started)
  return {
    breaches: () => [...new Set(kept.splice(0).flatMap(judge))],
    stop: () => void unsubscribe(channel, started)
  }
}

const record = (
  request: IncomingMessage,
  response: ServerResponse,
  done: (exchange: Exchange) => void
): void => {
  const parts: Array<Buffer> = []
  let length = 0
  const keep = (chunk: unknown): void => {
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return
    const bytes = Buffer.from(chunk as string)
    length += bytes.length
    if (length <= keptMax) parts.push(bytes)
  }
  const { write, end, writeHead } = response
  let written: OutgoingHttpHeaders = {}
  // Headers that are handed over with the status are in no table that could be asked later.
  response.writeHead = ((...args: Parameters<typeof writeHead>) => {
    const last: unknown = args.at(-1)
    if (typeof last === "object" && last !== null && !Array.isArray(last)) {
      written = Object.fromEntries(
        Object.entries(last).map(([name, value]) => [name.toLowerCase(), value])
      )
    }
    return writeHead.apply(response, args)
  }) as typeof writeHead
  response.write = ((...args: Parameters<typeof write>) => {
    keep(args[0])
    return write.apply(response, args)
  }) as typeof write
  response.end = ((...args: Parameters<typeof end>) => {
    keep(args[0])
    return end.apply(response, args)
  }) as typeof end
  response.once("finish", () => {
    const headers = { ...response.getHeaders(), ...written }
    done({
      method: request.method ?? "",
      target: request.url ?? "",
      status: response.statusCode,
      headers,
      ifNoneMatch: request.headers["if-none-match"],
      body: length > keptMax ? null : textOf(Buffer.concat(parts), headers["content-encoding"])
    })
  })
}

/** Text of a body as its reader has it; null where that is longer than is kept. */
const textOf = (bytes: Buffer, encoding: OutgoingHttpHeaders[string]): string | null => {
  const unpacked =
    bytes.length === 0
      ? bytes
      : encoding === "br"
        ? brotliDecompressSync(bytes)
        : encoding === "gzip"
          ? gunzipSync(bytes)
          : bytes
  return unpacked.length > keptMax ? null : unpacked.toString("utf8")
}

// The judgement

type Json =
  | null
  | boolean
  | number
  | string
  | ReadonlyArray<Json>
  | { readonly [name: string]: Json }

const at = (json: Json | undefined, ...path: ReadonlyArray<string>): Json | undefined =>
  path.reduce<Json | undefined>(
    (found, name) =>
      typeof found === "object" && found !== null && !Array.isArray(found)
        ? (found as { readonly [name: string]: Json })[name]
        : undefined,
    json
  )

/** Headers about the call, which an answer has only where the document declares them. */
const telling = [
  "location",
  "retry-after",
  "idempotent-replayed",
  "etag",
  "www-authenticate",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset"
]

const always = ["x-request-id", "cache-control", "x-content-type-options"]

const documentOf = (routes: ReadonlyArray<Route>) => {
  const document: Json = JSON.parse(Document.text(routes))
  const find = RawPath.compile(routes, ({ path }) => path)
  return { document, find, shapes: shapesOf(document) }
}

/** Memo of the parsed document of a table of routes: many hosts of a run serve the same one. */
const documents = new WeakMap<ReadonlyArray<Route>, ReturnType<typeof documentOf>>()

/** Lists the parts of an exchange that the document does not allow. */
export const judgeOf = (
  routes: ReadonlyArray<Route>
): ((exchange: Exchange) => ReadonlyArray<string>) => {
  const memo = documents.get(routes) ?? documentOf(routes)
  documents.set(routes, memo)
  const { document, find, shapes } = memo
  const declared = writesOf(routes)

  /** The answer itself, and the pointer at which it lies in the document. */
  const answerAt = (route: Route, status: number) => {
    const method = route.path.method.toLowerCase()
    const own = ["paths", route.path.template, method, "responses", String(status)]
    const reference = at(document, ...own, "$ref")
    return typeof reference === "string" ? reference.slice(2).split("/") : own
  }

  const judgeBody = (exchange: Exchange, answer: ReadonlyArray<string>): ReadonlyArray<string> => {
    const { body, headers, method } = exchange
    if (body === null || method === "HEAD" || body === "") return []
    const media = String(headers["content-type"] ?? "none").split(";", 1)[0] ?? ""
    const schema = [...answer, "content", media, "schema"]
    if (at(document, ...schema) === undefined) return [`answers ${media}, which is not listed`]
    if (!media.endsWith("json")) return []
    // The document says which: nothing follows the last bracket.
    const end = /\s$/.test(body) ? ["ends with a space or a newline"] : []
    return [...end, ...shapes(schema, JSON.parse(body))]
  }

  const judgeTag = tagJudge()
  const judge = (exchange: Exchange): ReadonlyArray<string> => {
    const { headers, method, status, target } = exchange
    const found = find(method === "HEAD" ? "GET" : method, target.split("?", 1)[0] ?? "")
    const missing = always
      .filter((name) => headers[name] === undefined)
      .map((one) => `has no ${one}`)
    if (found.match !== "route") {
      if (status < 400) return missing
      const problem = ["components", "responses", "public.404"]
      return [...missing, ...judgeBody(exchange, problem)]
    }
    const { route } = found
    const answer = answerAt(route, status)
    const listed = at(document, ...answer)
    if (listed === undefined) return [`answers ${status}, which is not listed: ${exchange.body}`]
    const named = new Set(
      Object.keys(at(listed, "headers") ?? {}).map((name) => name.toLowerCase())
    )
    const unlisted = telling
      .filter((name) => headers[name] !== undefined && !named.has(name))
      .map((name) => `has ${name}, which is not listed for ${status}`)
    return [
      ...missing,
      ...unlisted,
      ...judgeSlug(exchange, route),
      ...judgeWrites(exchange, route, declared),
      ...judgeTag(exchange),
      ...judgeBody(exchange, answer)
    ]
  }
  return (exchange) =>
    judge(exchange).map(
      (breach) =>
        `${exchange.method} ${exchange.target.slice(0, 100)} ${exchange.status}: ${breach}`
    )
}

/** A tag as it is compared weakly (RFC 9110). */
const opaque = (tag: string): string => tag.trim().replace(/^W\//, "")

/**
 * Judges ETag and 304. All answers of a target with the same tag have the same body, whoever asked,
 * but for `now` and the text of the cursor. A 304 has no body, and its tag is one that the request
 * lists. An answer with a tag is private, no-cache; one without is no-store.
 */
const tagJudge = () => {
  const bodies = new Map<string, string>()
  return ({
    body,
    headers,
    ifNoneMatch,
    method,
    status,
    target
  }: Exchange): ReadonlyArray<string> => {
    const tag = headers["etag"]
    const stored = String(headers["cache-control"])
    if (status === 304) {
      const sent = ifNoneMatch?.split(",").map(opaque) ?? []
      return [
        ...(typeof tag === "string" && (sent.includes(opaque(tag)) || sent.includes("*"))
          ? []
          : [`says that ${ifNoneMatch} is ${String(tag)}`]),
        ...(body === "" && headers["content-type"] === undefined ? [] : ["has a body"])
      ]
    }
    if (stored.startsWith("public")) return []
    if (typeof tag !== "string") return stored === "no-store" ? [] : [`may be stored: ${stored}`]
    const faults = [
      ...(status === 200 ? [] : ["has an ETag"]),
      ...(stored === "private, no-cache" ? [] : [`may not be stored: ${stored}`]),
      ...(headers["vary"] === undefined ? ["does not vary with its caller"] : [])
    ]
    if (method === "HEAD" || body === null) return faults
    const compared = body
      .replace(/"now":"[^"]*"/, "")
      .replace(/"next":"[^"]*"\}$/, '"next":"cursor"}')
    const name = `${target} ${tag}`
    const first = bodies.get(name) ?? compared
    bodies.set(name, first)
    return first === compared ? faults : [...faults, `has the ETag of another body: ${first}`]
  }
}

/** A refusal is one of those that its route lists (docs/contract/problems.md#slugs). */
const judgeSlug = ({ body, status }: Exchange, route: Route): ReadonlyArray<string> => {
  if (status < 400 || body === null || body === "") return []
  const slug = String(at(JSON.parse(body), "type")).replace("urn:bursar:problem:", "")
  const listed: ReadonlyArray<string> = Refusals.of(route)
  return listed.includes(slug) ? [] : [`refuses with ${slug}, which ${route.name} does not list`]
}

/** Kinds of the routes' writes that are the catalogue's own: a toy of a test has other refusals. */
const writesOf = (routes: ReadonlyArray<Route>): ReadonlySet<string> =>
  new Set(
    routes.flatMap(({ answers }) =>
      answers.with === "write" && Catalogue.operations.includes(answers.operation)
        ? [answers.operation.kind]
        : []
    )
  )

/** A write is refused by what it declares: in the answer of its call, and in each record of a write. */
const judgeWrites = (
  { body, status }: Exchange,
  { answers }: Route,
  declared: ReadonlySet<string>
): ReadonlyArray<string> => {
  if (body === null || body === "" || answers.with === "export") return []
  const judge = (kind: Json | undefined, problem: Json | undefined): ReadonlyArray<string> => {
    const type = at(problem, "type")
    if (typeof type !== "string" || typeof kind !== "string" || !declared.has(kind)) return []
    const check = at(problem, "check")
    return undeclared(kind, {
      slug: type.replace("urn:bursar:problem:", ""),
      check: typeof check === "string" ? check : null
    })
  }
  const visit = (json: Json): ReadonlyArray<string> => {
    if (typeof json !== "object" || json === null) return []
    return [
      ...judge(at(json, "kind"), at(json, "problem")),
      ...Object.values(json).flatMap((member: Json) => visit(member))
    ]
  }
  if (!/^[{[]/u.test(body)) return []
  const json: Json = JSON.parse(body)
  // Refusals that every route has, such as one of a body that is too large, are none of the write.
  const isOfWrite =
    status >= 400 &&
    answers.with === "write" &&
    !Refusals.common.has(String(at(json, "type")).replace("urn:bursar:problem:", ""))
  return [...(isOfWrite ? judge(answers.operation.kind, json) : []), ...visit(json)]
}

// The outside judge

interface Ajv {
  readonly addSchema: (schema: Json, key: string) => void
  readonly addFormat: (name: string, format: object) => void
  readonly compile: (schema: object) => Validate
}
interface Validate {
  (value: unknown): boolean
  readonly errors?: ReadonlyArray<{ readonly instancePath: string; readonly message?: string }>
}

const tools = createRequire(new URL("../tools/package.json", import.meta.url))

const load = <A>(name: string): A | undefined => {
  try {
    return tools(name) as A
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined
    throw error
  }
}

/** Whether the packages of the judges are installed in test/tools: `npm ci --prefix test/tools`. */
export const installed = load("ajv/package.json") !== undefined

export const shapesOf = (
  document: Json
): ((pointer: ReadonlyArray<string>, value: unknown) => ReadonlyArray<string>) => {
  const found = load<{ readonly default: new (options: object) => Ajv }>("ajv/dist/2020")
  const formats = load<{ readonly default: (ajv: Ajv) => void }>("ajv-formats")
  if (found === undefined || formats === undefined) return () => []
  const ajv = new found.default({ strict: false, allErrors: true, validateSchema: false })
  formats.default(ajv)
  // Its digits are judged by the codec's own tests; a reader of JSON sees a number.
  // As ISO 8601 has it: the checker's own format knows neither weeks beside days nor a fraction of a second.
  ajv.addFormat("duration", {
    type: "string",
    validate: (text: string) => Result.isSuccess(Duration.parse(text))
  })
  ajv.addFormat("decimal", { type: "number", validate: () => true })
  ajv.addSchema(document, "document")
  const compiled = new Map<string, Validate>()
  return (pointer, value) => {
    const path = pointer.map((name) =>
      encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))
    )
    const reference = `document#/${path.join("/")}`
    const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference })
    compiled.set(reference, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message }) =>
        `${instancePath === "" ? "the answer" : instancePath} ${message}`
    )
  }
}
