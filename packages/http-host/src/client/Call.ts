/** One HTTP call of the interface: its path, headers and body, and the decoding of its answer. */
import { PlainJson } from "@bursar/engine-core/kernel"
import { Clock, Context, Effect, Option, Result, type Schema, type Stream } from "effect"
import {
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse
} from "effect/http"
import { Problem } from "../api/Problem.ts"
import type * as Verb from "../api/Verb.ts"
import { AnswerUnreadable, type CallError, CallRefused } from "./Errors.ts"
import * as OpenSets from "./OpenSets.ts"
import * as Signature from "./Signature.ts"
import { traceparentOfSpan } from "./SpanTrace.ts"

/** Options of a client: the venue's address and how its caller is authenticated. */
export interface Options {
  readonly httpClient: HttpClient.HttpClient
  readonly baseUrl: string
  /** Value of the Authorization header, evaluated for every call. */
  readonly authorization: Effect.Effect<string>
  /** Makes an Idempotency-Key for a write without one; random UUIDs by default. */
  readonly makeKey?: () => string
  /** HMAC key with which a service client signs each request, besides the bearer token. */
  readonly signing?: Signature.SigningKey
  /**
   * W3C traceparent of the caller's trace; null: no header. Absent: that of the current span, if there
   * is one.
   */
  readonly traceparent?: Effect.Effect<string | null>
}

/** Query parameters as texts; a list is a repeated parameter. */
export type Texts = Readonly<Record<string, string | ReadonlyArray<string>>>

/** A file that is sent as it is, whole or as a stream. */
export interface File {
  /** Media type, with its charset where that is to be said. */
  readonly mediaType: string
  readonly bytes: Uint8Array | Stream.Stream<Uint8Array, unknown>
  /** Lower-case hex SHA-256 of the bytes: a client that signs needs it of a stream. */
  readonly sha256?: string
}

export interface RequestParts {
  readonly path: Verb.Path
  readonly params: Readonly<Record<string, string>>
  readonly query?: Texts
  readonly body?: PlainJson.Plain
  /** A body that is a file, in place of JSON. */
  readonly file?: File
  /** The Idempotency-Key. */
  readonly key?: string
  /** The tag of If-Match, without its quotes. */
  readonly ifMatch?: string
  /** Whole seconds that the service may hold the answer back until it is final (Prefer: wait). */
  readonly wait?: number
}

/** A decoded answer; one without a body (204) has the value null. */
export interface DecodedAnswer<A> {
  readonly value: OpenSets.DecodedValue<A>
  /** Value of the Location header: the path of the record that the answer is about. */
  readonly location: string | null
  /** Value of the Retry-After header in seconds. */
  readonly retryAfter: number | null
  /** True: the service held the answer back as the call preferred (Preference-Applied). */
  readonly hasWaited: boolean
}

/** Sends a request and decodes the answer by a schema; decimals keep every digit. */
export type Call = <A>(
  schema: Schema.Codec<A, unknown>,
  parts: RequestParts
) => Effect.Effect<DecodedAnswer<A>, CallError>

export const make = (options: Options): Call => {
  const send = sendOf(prepared(options))
  return (schema, parts) => Effect.flatMap(send(parts), (response) => read(schema, response))
}

/**
 * HTTP client that adds the headers of every request; the signature comes last, over the final
 * request.
 */
const prepared = (options: Options): HttpClient.HttpClient => {
  const { authorization, baseUrl, httpClient, signing, traceparent = traceparentOfSpan } = options
  const headed = httpClient.pipe(
    HttpClient.mapRequest(HttpClientRequest.prependUrl(baseUrl)),
    HttpClient.mapRequestEffect((request) =>
      Effect.map(authorization, (value) =>
        HttpClientRequest.setHeader(request, "authorization", value)
      )
    ),
    traced(traceparent)
  )
  return signing === undefined ? headed : HttpClient.mapRequestEffect(headed, signed(signing))
}

/**
 * Adds the traceparent alone: the propagation of Effect would add `b3` too, which the host does not
 * permit a page of another origin to send.
 */
const traced = (traceparent: Effect.Effect<string | null>) => (client: HttpClient.HttpClient) =>
  client.pipe(
    HttpClient.mapRequestEffect((request) =>
      Effect.map(traceparent, (value) =>
        value === null ? request : HttpClientRequest.setHeader(request, "traceparent", value)
      )
    ),
    HttpClient.transformResponse(Effect.provideService(HttpClient.TracerPropagationEnabled, false))
  )

/** SHA-256 of the stream that the request in progress sends; null: its body is not a stream. */
const StreamHash = Context.Reference<string | null>("@bursar/http-host/client/StreamHash", {
  defaultValue: () => null
})

/** A retry is a new request with its own timestamp and nonce. */
const signed = (key: Signature.SigningKey) => (request: HttpClientRequest.HttpClientRequest) =>
  Effect.gen(function* () {
    const url = Option.getOrThrow(HttpClientRequest.toUrl(request))
    const streamHash = yield* StreamHash
    const now = yield* Clock.currentTimeMillis
    const headers = yield* Effect.promise(() =>
      Signature.headersOf(key, {
        method: request.method,
        target: url.pathname + url.search,
        body:
          streamHash ?? (request.body._tag === "Uint8Array" ? request.body.body : new Uint8Array()),
        timestamp: Math.floor(now / 1000),
        nonce: Signature.makeNonce()
      })
    )
    return HttpClientRequest.setHeaders(request, headers)
  })

const sendOf =
  (httpClient: HttpClient.HttpClient) =>
  (
    parts: RequestParts
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> => {
    const { method } = parts.path
    const request = HttpClientRequest.make(method)(filled(parts), {
      headers: {
        accept: mediaType,
        ...(parts.key === undefined ? {} : { "idempotency-key": parts.key }),
        ...(parts.ifMatch === undefined ? {} : { "if-match": `"${parts.ifMatch}"` }),
        ...(parts.wait === undefined ? {} : { prefer: `wait=${parts.wait}` })
      },
      ...(parts.query === undefined ? {} : { urlParams: parts.query })
    })
    if (parts.file !== undefined) return sendFile(httpClient, request, parts.file)
    return httpClient.execute(
      method === "POST"
        ? HttpClientRequest.bodyText(request, PlainJson.stringify(parts.body ?? {}), mediaType)
        : request
    )
  }

const sendFile = (
  httpClient: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  { bytes, mediaType: contentType, sha256 }: File
) =>
  bytes instanceof Uint8Array
    ? httpClient.execute(HttpClientRequest.bodyUint8Array(request, bytes, contentType))
    : httpClient
        .execute(HttpClientRequest.bodyStream(request, bytes, { contentType }))
        .pipe(Effect.provideService(StreamHash, sha256 ?? null))

const mediaType = "application/json"

const filled = ({ params, path }: RequestParts): string =>
  path.template.replaceAll(/\{([A-Za-z]+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? "")
  )

const read = <A>(
  schema: Schema.Codec<A, unknown>,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<DecodedAnswer<A>, CallError> =>
  Effect.flatMap(response.text, (text) => {
    const { headers, status } = response
    const json = status === 204 ? Result.succeed(null) : PlainJson.parse(text, answerLimits)
    const unreadable = (detail: string) => Effect.fail(new AnswerUnreadable({ status, detail }))
    if (Result.isFailure(json)) return unreadable(json.failure.detail)
    const decode = <B>(to: Schema.Codec<B, unknown>) =>
      Effect.catch(OpenSets.decode(to, json.success), unreadable)
    if (status < 400) {
      const seconds = headers["retry-after"]
      const retryAfter = seconds === undefined ? null : Number(seconds)
      const location = headers["location"] ?? null
      const hasWaited = headers["preference-applied"]?.startsWith("wait=") === true
      return Effect.map(decode(schema), (value) => ({ value, location, retryAfter, hasWaited }))
    }
    return Effect.flatMap(decode(Problem), (problem) => Effect.fail(new CallRefused({ problem })))
  })

/**
 * Limits of the JSON parser: answers of the service may have any length, and only their depth is
 * limited.
 */
const answerLimits: PlainJson.JsonLimits = {
  ...PlainJson.limits,
  tokens: Number.MAX_SAFE_INTEGER,
  members: Number.MAX_SAFE_INTEGER,
  items: Number.MAX_SAFE_INTEGER,
  string: Number.MAX_SAFE_INTEGER
}
