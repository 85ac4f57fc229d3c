/** Limits of a request's line and headers, and negotiation of media types. */
import { Refusal } from "@bursar/engine-core"
import { Result } from "effect"
import type { HttpServerRequest } from "effect/http"

const lineMax = 8 * 1024
const headersMax = 16 * 1024
const headerMax = 8 * 1024
const headerCountMax = 100

/**
 * Header limit of Node's parser: a little above the host's own limits, so that the host refuses
 * first.
 */
export const parserHeadersMax = lineMax + headersMax + 8 * 1024

/**
 * Headers whose repetition matters: Node joins or drops the second value, so all values are
 * collected here.
 */
const watched = {
  host: "hosts",
  tracestate: "tracestates",
  traceparent: "traceparents",
  "if-match": "ifMatches",
  "x-signature": "signatures",
  "x-request-id": "requestIds",
  authorization: "authorizations",
  "idempotency-key": "idempotencyKeys",
  "x-signature-key": "signatureKeys",
  "x-signature-nonce": "signatureNonces",
  "transfer-encoding": "transferEncodings",
  "x-signature-timestamp": "signatureTimestamps"
} as const satisfies Readonly<Record<string, string>>

const watchedBy: ReadonlyMap<string, WatchedHeader> = new Map(Object.entries(watched))
/** Fast path: a header whose name has none of these lengths is not watched. */
const watchedLengths = new Set(Object.keys(watched).map((name) => name.length))

type WatchedHeader = (typeof watched)[keyof typeof watched]
type Values = Readonly<Record<WatchedHeader, ReadonlyArray<string>>>

interface HeaderScan {
  /** All values of the watched headers, in their order. */
  readonly values: Values
  readonly refused:
    | Refusal.Refused<"headers-too-large" | "uri-too-long" | "invalid-request">
    | undefined
}

/** Scans the headers once: sizes, counts, and the headers that must not repeat. */
export const scan = (request: {
  readonly method: string
  readonly target: string
  readonly version: string
  readonly rawHeaders: ReadonlyArray<string>
}): HeaderScan => {
  const values = unsent()
  const { rawHeaders } = request
  let total = 0
  let longest = 0
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ""
    const value = rawHeaders[i + 1] ?? ""
    // Node gives header bytes as Latin-1: a character is a byte. `: ` and CR LF are four more.
    const size = name.length + value.length + 4
    total += size
    if (size > longest) longest = size
    if (!watchedLengths.has(name.length)) continue
    const list = watchedBy.get(name.toLowerCase())
    if (list !== undefined) values[list].push(value)
  }
  const refused =
    sizes(request, { total, longest, count: rawHeaders.length / 2 }) ??
    spoken(request) ??
    framing(values) ??
    addressed(request, values)
  return { values, refused }
}

const unsent = (): Record<WatchedHeader, Array<string>> => ({
  hosts: [],
  tracestates: [],
  traceparents: [],
  ifMatches: [],
  signatures: [],
  requestIds: [],
  authorizations: [],
  idempotencyKeys: [],
  signatureKeys: [],
  signatureNonces: [],
  transferEncodings: [],
  signatureTimestamps: []
})

const versions = new Set(["1.0", "1.1"])

/** Node's parser accepts further versions, and would answer them as 1.1. */
const spoken = ({ version }: { readonly version: string }): HeaderScan["refused"] =>
  versions.has(version) ? undefined : notHttp

/** The refusal of bytes that are no HTTP/1.1 request. */
export const notHttp = Refusal.refused("invalid-request", {
  detail: "The request is not HTTP/1.1."
})

/**
 * Refuses ambiguous framing (request smuggling): two readers could see the body's end in different
 * places.
 */
const framing = ({ transferEncodings }: Values): HeaderScan["refused"] =>
  transferEncodings.every((encoding) => encoding.toLowerCase() === "chunked") &&
  transferEncodings.length <= 1
    ? undefined
    : Refusal.refused("invalid-request", {
        detail: "A body is sent with its length, or chunked.",
        errors: [{ pointer: "/header/transfer-encoding", detail: "only chunked, and only once" }]
      })

/** HTTP/1.1 requires one Host header (RFC 9112 3.2). Node's own refusal has no problem body. */
const addressed = (
  { version }: { readonly version: string },
  { hosts }: Values
): HeaderScan["refused"] =>
  hosts.length === 1 || (hosts.length === 0 && version === "1.0")
    ? undefined
    : Refusal.refused("invalid-request", {
        detail: "A request names its host once.",
        errors: [{ pointer: "/header/host", detail: "exactly one header" }]
      })

const sizes = (
  line: { readonly method: string; readonly target: string },
  headers: { readonly total: number; readonly longest: number; readonly count: number }
): HeaderScan["refused"] => {
  if (headers.count > headerCountMax || headers.total > headersMax || headers.longest > headerMax) {
    return Refusal.refused("headers-too-large", {
      detail: `Headers are at most ${headerCountMax}, of ${headerMax} bytes each and ${headersMax} in all.`
    })
  }
  // "METHOD target HTTP/1.1"
  return line.method.length + line.target.length + 10 > lineMax
    ? Refusal.refused("uri-too-long", { detail: `A request line has at most ${lineMax} bytes.` })
    : undefined
}

/** Negotiates the answer's media type: 406 where Accept excludes all that the route has. */
export const acceptable = (
  accept: string | undefined,
  forms: ReadonlyArray<string>
): Refusal.Refused<"not-acceptable"> | undefined => {
  if (accept === undefined || accept === "" || accept === "*/*") return undefined
  const taken = accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
    const refused = parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter))
    return !refused && forms.some((form) => type === form || type === "*/*" || type === anyOf(form))
  })
  if (taken) return undefined
  const detail = `The answer is ${forms.join(" or ")}.`
  return Refusal.refused("not-acceptable", { detail })
}

/** `text/csv` → `text/*`. */
const anyOf = (form: string): string => `${form.slice(0, form.indexOf("/"))}/*`

/** Refuses a body that is compressed. */
const compressed = (
  request: HttpServerRequest.HttpServerRequest
): Refusal.Refused<"unsupported-media-type"> | undefined => {
  const encoding = request.headers["content-encoding"]
  return encoding === undefined || encoding.trim().toLowerCase() === "identity"
    ? undefined
    : Refusal.refused("unsupported-media-type", { detail: "A body is sent uncompressed." })
}

/** Media type of a file, with the charset that its sender declares. */
export interface FileType<M extends string = string> {
  readonly mediaType: M
  /** In lower case; null: none was sent. */
  readonly charset: string | null
}

const charset = /^charset=(?:"([a-z0-9_-]{1,40})"|([a-z0-9_-]{1,40}))$/i

/**
 * Reads the media type of a body that is a file: 415 where the route does not take it, where it has
 * another parameter than a charset, and where the body is compressed.
 */
export const fileTypeOf = <const M extends string>(
  request: HttpServerRequest.HttpServerRequest,
  mediaTypes: ReadonlyArray<M>
): Result.Result<FileType<M>, Refusal.Refused<"unsupported-media-type">> => {
  const refused = compressed(request)
  if (refused !== undefined) return Result.fail(refused)
  const [type = "", ...parameters] = (request.headers["content-type"] ?? "").split(";")
  const mediaType = mediaTypes.find((candidate) => candidate === type.trim().toLowerCase())
  const [charsetParameter, quoted, plain] = charset.exec(parameters.join(";").trim()) ?? []
  return mediaType === undefined || (parameters.length > 0 && charsetParameter === undefined)
    ? Refusal.refuse("unsupported-media-type", {
        detail: `A file is ${mediaTypes.join(" or ")}, with no parameter but its charset.`
      })
    : Result.succeed({ mediaType, charset: (quoted ?? plain)?.toLowerCase() ?? null })
}

const json = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** Checks the media type of the body: 415 where the route does not take it. */
export const readable = (
  request: HttpServerRequest.HttpServerRequest
): Refusal.Refused<"unsupported-media-type"> | undefined => {
  const refused = compressed(request)
  if (refused !== undefined) return refused
  return json.test(request.headers["content-type"] ?? "")
    ? undefined
    : Refusal.refused("unsupported-media-type", { detail: "A body is application/json." })
}
