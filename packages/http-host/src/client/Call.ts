/** One call of the interface: its path, its headers, its body; and what the answer's bytes mean. */
import { PlainJson } from "@bursar/engine-core/kernel"
import { Clock, Effect, Option, Result, type Schema } from "effect"
import {
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse
} from "effect/http"
import { Problem } from "../api/Problem.ts"
import type * as Verb from "../api/Verb.ts"
import { AnswerUnreadable, type CallError, CallRefused } from "./Errors.ts"
import * as Seen from "./Seen.ts"
import * as Signature from "./Signature.ts"

export interface Options {
  readonly httpClient: HttpClient.HttpClient
  readonly baseUrl: string
  /** The whole Authorization header, asked for on every call. */
  readonly authorization: Effect.Effect<string>
  /** A new Idempotency-Key for each write that is not given one; a random UUID unless given. */
  readonly makeKey?: () => string
  /** A service client signs each request beside its bearer. */
  readonly signing?: Signature.SigningKey
  /** The W3C traceparent of what the call is part of; null: none. Else the current span's is sent. */
  readonly traceparent?: Effect.Effect<string | null>
}

/** The texts of a query; a list is a repeated parameter. */
export type Texts = Readonly<Record<string, string | ReadonlyArray<string>>>

export interface Asked {
  readonly path: Verb.Path
  readonly params: Readonly<Record<string, string>>
  readonly query?: Texts
  readonly body?: PlainJson.Plain
  /** The Idempotency-Key. */
  readonly key?: string
  /** The tag of If-Match, without its quotes. */
  readonly ifMatch?: string
}

/** An answer that was understood; one without a body (204) reads as null. */
export interface Answered<A> {
  readonly value: Seen.Seen<A>
  /** Where the record it is about is read. */
  readonly location: string | null
  /** After how many seconds it may be asked for again. */
  readonly retryAfter: number | null
}

/** Sends what is asked and reads the answer by a schema; the decimals keep every digit. */
export type Call = <A>(
  schema: Schema.Codec<A, unknown>,
  asked: Asked
) => Effect.Effect<Answered<A>, CallError>

export const make = (options: Options): Call => {
  const send = sendOf(prepared(options))
  return (schema, asked) => Effect.flatMap(send(asked), (response) => read(schema, response))
}

/** The client with everything that belongs on each request; signed last, as it then goes out. */
const prepared = (options: Options): HttpClient.HttpClient => {
  const { authorization, baseUrl, httpClient, signing, traceparent } = options
  const headed = httpClient.pipe(
    HttpClient.mapRequest(HttpClientRequest.prependUrl(baseUrl)),
    HttpClient.mapRequestEffect((request) =>
      Effect.map(authorization, (value) =>
        HttpClientRequest.setHeader(request, "authorization", value)
      )
    ),
    traceparent === undefined ? (same) => same : traced(traceparent)
  )
  return signing === undefined ? headed : HttpClient.mapRequestEffect(headed, signed(signing))
}

const traced = (traceparent: Effect.Effect<string | null>) => (client: HttpClient.HttpClient) =>
  client.pipe(
    HttpClient.mapRequestEffect((request) =>
      Effect.map(traceparent, (value) =>
        value === null ? request : HttpClientRequest.setHeader(request, "traceparent", value)
      )
    ),
    HttpClient.transformResponse(Effect.provideService(HttpClient.TracerPropagationEnabled, false))
  )

/** A retry is a request of its own: it gets its own time and nonce. */
const signed = (key: Signature.SigningKey) => (request: HttpClientRequest.HttpClientRequest) =>
  Effect.gen(function* () {
    const url = Option.getOrThrow(HttpClientRequest.toUrl(request))
    const now = yield* Clock.currentTimeMillis
    const headers = yield* Effect.promise(() =>
      Signature.headersOf(key, {
        method: request.method,
        target: url.pathname + url.search,
        body: request.body._tag === "Uint8Array" ? request.body.body : new Uint8Array(),
        timestamp: Math.floor(now / 1000),
        nonce: Signature.makeNonce()
      })
    )
    return HttpClientRequest.setHeaders(request, headers)
  })

const sendOf =
  (httpClient: HttpClient.HttpClient) =>
  (
    asked: Asked
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> => {
    const { method } = asked.path
    const request = HttpClientRequest.make(method)(filled(asked), {
      headers: {
        accept: mediaType,
        ...(asked.key === undefined ? {} : { "idempotency-key": asked.key }),
        ...(asked.ifMatch === undefined ? {} : { "if-match": `"${asked.ifMatch}"` })
      },
      ...(asked.query === undefined ? {} : { urlParams: asked.query })
    })
    return httpClient.execute(
      method === "POST"
        ? HttpClientRequest.bodyText(request, PlainJson.stringify(asked.body ?? {}), mediaType)
        : request
    )
  }

const mediaType = "application/json"

const filled = ({ params, path }: Asked): string =>
  path.template.replaceAll(/\{([A-Za-z]+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? "")
  )

const read = <A>(
  schema: Schema.Codec<A, unknown>,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Answered<A>, CallError> =>
  Effect.flatMap(response.text, (text) => {
    const { headers, status } = response
    const json = status === 204 ? Result.succeed(null) : PlainJson.parse(text, answerLimits)
    const unreadable = (detail: string) => Effect.fail(new AnswerUnreadable({ status, detail }))
    if (Result.isFailure(json)) return unreadable(json.failure.detail)
    const decode = <B>(to: Schema.Codec<B, unknown>) =>
      Effect.catch(Seen.decode(to, json.success), unreadable)
    if (status < 400) {
      const seconds = headers["retry-after"]
      const retryAfter = seconds === undefined ? null : Number(seconds)
      const location = headers["location"] ?? null
      return Effect.map(decode(schema), (value) => ({ value, location, retryAfter }))
    }
    return Effect.flatMap(decode(Problem), (problem) => Effect.fail(new CallRefused({ problem })))
  })

/** An answer is the service's own: a list may be long, and only its depth is bounded. */
const answerLimits: PlainJson.Limits = {
  ...PlainJson.limits,
  tokens: Number.MAX_SAFE_INTEGER,
  members: Number.MAX_SAFE_INTEGER,
  items: Number.MAX_SAFE_INTEGER,
  string: Number.MAX_SAFE_INTEGER
}
