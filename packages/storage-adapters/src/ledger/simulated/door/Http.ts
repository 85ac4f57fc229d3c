/** Handling of one HTTP request at the door: authentication, endpoint, answer or error. */
import { Integer } from "@bursar/engine-core/kernel"
import { ByteSize, Duration, Effect, Option, Result, Stream } from "effect"
import {
  HttpIncomingMessage,
  type HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import * as LedgerError from "../LedgerError.ts"
import { type Call, type EndpointContext, from } from "./EndpointContext.ts"
import * as AnswerFaults from "./AnswerFaults.ts"
import * as Endpoints from "./Endpoints.ts"
import { bodyMax, type Json, parse, Undecodable } from "./Json.ts"
import * as Lists from "./Lists.ts"
import * as Refusals from "./Refusals.ts"
import * as HttpFaults from "./HttpFaults.ts"

type Response = HttpServerResponse.HttpServerResponse

/** An answer as plain text, not as the endpoint's JSON. */
const plain = (status: number, text: string): Response =>
  HttpServerResponse.text(text, { status, contentType: "text/plain; charset=UTF-8" })

const json = (status: number, body: Json): Response =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json" })

const late = (): Response =>
  plain(503, "The server was not able to produce a timely response to your request.")

/** Bearer token of a header that was sent once. */
export const bearer = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1]

const isLedgerApi = (path: string): boolean => path === "/v2" || path.startsWith("/v2/")

export const unimplemented = (path: string): LedgerError.LedgerError =>
  LedgerError.make("UNIMPLEMENTED", `${path} is not offered here`)

const queryNumber = (
  query: URLSearchParams,
  name: string
): Result.Result<number | null, Undecodable> => {
  const text = query.get(name)
  if (text === null) return Result.succeed(null)
  return Integer.parse(text).pipe(
    Result.filterOrFail(
      (value) => value >= 0,
      () => ({ detail: "negative" })
    ),
    Result.mapError(() => new Undecodable({ what: `query parameter ${name}` }))
  )
}

const collect = (
  open: ReturnType<Extract<Endpoints.Endpoint, { readonly kind: "list" }>["open"]>,
  ask: { readonly query: URLSearchParams; readonly wires: HttpFaults.HttpFaults }
): Effect.Effect<Json, Refusals.Refusal> =>
  Effect.gen(function* () {
    const limit = yield* from(queryNumber(ask.query, "limit"))
    const idleMillis = yield* from(queryNumber(ask.query, "stream_idle_timeout_ms"))
    const wire = ask.wires.wire()
    if (wire?.list413 === true) return yield* Lists.refused()
    const shaped = Stream.flatMap(yield* open, (item) =>
      Stream.fromIterable(AnswerFaults.elements(wire, item))
    )
    return yield* Lists.collect(shaped, { limit, idleMillis })
  })

const handle = (
  context: EndpointContext,
  ask: {
    readonly endpoint: Endpoints.Endpoint
    readonly call: Effect.Effect<Call, Refusals.Refusal | HttpServerError.HttpServerError>
    readonly query: URLSearchParams
    readonly wires: HttpFaults.HttpFaults
  }
): Effect.Effect<Json, Refusals.Refusal | HttpServerError.HttpServerError> => {
  const { endpoint, call } = ask
  switch (endpoint.kind) {
    case "open":
      return Effect.succeed(endpoint.answer(context))
    case "call":
      return Effect.flatMap(call, (request) => endpoint.handle(context, request)).pipe(
        Effect.map((answer) => AnswerFaults.answer(ask.wires.wire(), answer))
      )
    case "list":
      return Effect.flatMap(call, (request) => collect(endpoint.open(context, request), ask))
  }
}

const readCall = (
  context: EndpointContext,
  request: HttpServerRequest.HttpServerRequest,
  name: string
): Effect.Effect<Call, Refusals.Refusal | HttpServerError.HttpServerError> =>
  Effect.gen(function* () {
    const user = yield* context.participant.authenticate(bearer(request.headers["authorization"]))
    const traceparent = request.headers["traceparent"] ?? null
    if (request.method === "GET") return { user, body: null, name, traceparent }
    const bytes = yield* Effect.provideService(
      request.arrayBuffer,
      HttpIncomingMessage.MaxBodySize,
      ByteSize.bytes(bodyMax)
    )
    const body = yield* from(parse(new Uint8Array(bytes)))
    return { user, body, name, traceparent }
  })

const isTooLarge = ({ reason }: HttpServerError.HttpServerError): boolean =>
  reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"

const refuse = (
  error: Refusals.Refusal | HttpServerError.HttpServerError,
  refusalContext: Parameters<typeof Refusals.body>[1]
): Response => {
  switch (error._tag) {
    case "LedgerError":
      return json(Refusals.status(error), Refusals.body(error, refusalContext))
    case "Undecodable":
      return plain(400, `Invalid value for: ${error.what}`)
    case "HttpServerError":
      return isTooLarge(error)
        ? plain(413, `The body is larger than ${bodyMax} bytes`)
        : plain(400, "Invalid value for: body")
  }
}

/** Answers a defect without its details, and logs them. */
const crashed = (defect: unknown): Effect.Effect<Response> =>
  Effect.as(
    Effect.logError("the door failed to answer", defect),
    json(500, {
      code: "NA",
      cause: "An error occurred. Please contact the operator and inquire about the request",
      context: {},
      resources: [],
      errorCategory: -1,
      grpcCodeValue: 13,
      definiteAnswer: false
    })
  )

const answer = (
  context: EndpointContext,
  request: HttpServerRequest.HttpServerRequest,
  wires: HttpFaults.HttpFaults
): Effect.Effect<Response> => {
  const [path = "", search = ""] = request.url.split(/\?(.*)/s)
  const { method } = request
  const traceparent = request.headers["traceparent"] ?? null
  const exchange = { traceparent, wire: wires.wire() }
  const found = Endpoints.find({ method, path, profile: context.profile })
  if (found === null) {
    return Effect.succeed(
      isLedgerApi(path)
        ? refuse(unimplemented(path), exchange)
        : plain(404, "There is nothing here.")
    )
  }
  return handle(context, {
    endpoint: found.endpoint,
    call: readCall(context, request, found.name),
    query: new URLSearchParams(search),
    wires
  }).pipe(
    Effect.map((body) => json(200, body)),
    Effect.catch((error) => Effect.succeed(refuse(error, exchange))),
    Effect.catchDefect(crashed),
    Effect.timeoutOption(context.answerWithin),
    Effect.map(Option.getOrElse(late))
  )
}

/** Sends the head at once and the body after a delay. */
const slowly = (response: Response, millis: number): Response => {
  const { body } = response
  if (body._tag !== "Uint8Array") return response
  const { contentType } = body
  return HttpServerResponse.stream(
    Stream.fromEffect(Effect.delay(Effect.succeed(body.body), Duration.millis(millis))),
    { status: response.status, contentType }
  )
}

/** Handler of every request that is not for a socket. */
export const serve = (
  context: EndpointContext,
  wires: HttpFaults.HttpFaults
): Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const wire = wires.wire()
    const fate = HttpFaults.fate(wire, wires.count())
    if (fate === "lost-before") {
      return HttpServerResponse.text("<html><body>Bad Gateway</body></html>", {
        status: 502,
        contentType: "text/html"
      })
    }
    const response = yield* answer(context, request, wires)
    if (fate === "lost-after") return late()
    return wire?.slowBodyMillis === undefined ? response : slowly(response, wire.slowBodyMillis)
  })
