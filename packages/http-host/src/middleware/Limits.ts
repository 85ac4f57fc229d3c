/** The limits of a request's line and headers, and the forms a body and an answer may have. */
import { Refusal } from "@bursar/engine-core"
import type { HttpServerRequest } from "effect/http"
import * as Body from "../wire/Body.ts"

const lineMax = 8 * 1024
const headersMax = 16 * 1024
const headerMax = 8 * 1024
const headerCountMax = 100

/** What a parser is told to hold at most: a little over our own limits, so that we judge them. */
export const parserHeadersMax = lineMax + headersMax + 8 * 1024

/** Headers that must not come twice: Node joins or drops the second, so they are kept apart here. */
export interface Singles {
  readonly requestIds: Array<string>
  readonly authorizations: Array<string>
  readonly idempotencyKeys: Array<string>
  readonly transferEncodings: Array<string>
  readonly hosts: Array<string>
}

export interface Scanned extends Singles {
  readonly refused:
    | Refusal.Refused<"headers-too-large" | "uri-too-long" | "invalid-request">
    | undefined
}

/** One pass over what came: sizes and counts, and the headers whose repetition matters. */
export const scan = (of: {
  readonly method: string
  readonly target: string
  readonly version: string
  readonly rawHeaders: ReadonlyArray<string>
}): Scanned => {
  const singles: Singles = {
    requestIds: [],
    authorizations: [],
    idempotencyKeys: [],
    transferEncodings: [],
    hosts: []
  }
  const { rawHeaders } = of
  let total = 0
  let longest = 0
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ""
    const value = rawHeaders[i + 1] ?? ""
    // Node gives header bytes as Latin-1: a character is a byte. `: ` and CR LF are four more.
    const size = name.length + value.length + 4
    total += size
    if (size > longest) longest = size
    listOf(singles, name)?.push(value)
  }
  const refused =
    sizes(of, { total, longest, count: rawHeaders.length / 2 }) ??
    framing(singles) ??
    addressed(of, singles)
  return { ...singles, refused }
}

/** A body whose end two readers could see in different places is not read at all. */
const framing = ({ transferEncodings }: Singles): Scanned["refused"] =>
  transferEncodings.every((encoding) => encoding.toLowerCase() === "chunked") &&
  transferEncodings.length <= 1
    ? undefined
    : Refusal.refused("invalid-request", {
        detail: "A body is sent with its length, or chunked.",
        errors: [{ pointer: "/header/transfer-encoding", detail: "only chunked, and only once" }]
      })

/** HTTP/1.1 names its host, once (RFC 9112 3.2). Node's own answer to this has no form of ours. */
const addressed = (
  { version }: { readonly version: string },
  { hosts }: Singles
): Scanned["refused"] =>
  hosts.length === 1 || (hosts.length === 0 && version === "1.0")
    ? undefined
    : Refusal.refused("invalid-request", {
        detail: "A request names its host once.",
        errors: [{ pointer: "/header/host", detail: "exactly one header" }]
      })

const listOf = (singles: Singles, name: string): Array<string> | undefined => {
  switch (name.length) {
    case 4:
      return name.toLowerCase() === "host" ? singles.hosts : undefined
    case 12:
      return name.toLowerCase() === "x-request-id" ? singles.requestIds : undefined
    case 13:
      return name.toLowerCase() === "authorization" ? singles.authorizations : undefined
    case 15:
      return name.toLowerCase() === "idempotency-key" ? singles.idempotencyKeys : undefined
    case 17:
      return name.toLowerCase() === "transfer-encoding" ? singles.transferEncodings : undefined
    default:
      return undefined
  }
}

const sizes = (
  line: { readonly method: string; readonly target: string },
  headers: { readonly total: number; readonly longest: number; readonly count: number }
): Scanned["refused"] => {
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

/** Whether the caller takes JSON: 406 when its Accept excludes it. */
export const acceptable = (
  accept: string | undefined
): Refusal.Refused<"not-acceptable"> | undefined => {
  if (accept === undefined || accept === "" || accept === "*/*") return undefined
  const taken = accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
    const refused = parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter))
    return !refused && (type === "*/*" || type === "application/*" || type === Body.mediaType)
  })
  return taken ? undefined : Refusal.refused("not-acceptable", { detail: "Answers are JSON." })
}

const json = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** Whether the body has a form the route takes: 415 else. */
export const readable = (
  request: HttpServerRequest.HttpServerRequest
): Refusal.Refused<"unsupported-media-type"> | undefined => {
  const encoding = request.headers["content-encoding"]
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") {
    return Refusal.refused("unsupported-media-type", { detail: "A body is sent uncompressed." })
  }
  return json.test(request.headers["content-type"] ?? "")
    ? undefined
    : Refusal.refused("unsupported-media-type", { detail: "A body is application/json." })
}
