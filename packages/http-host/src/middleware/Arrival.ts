/** First checks of a request, on its line and headers alone: sizes, route, method, request id. */
import { type Caller, Refusal } from "@bursar/engine-core"
import { Ids } from "@bursar/engine-core/ports"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Effect, type Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Route } from "../api/Route.ts"
import * as Exchange from "../observability/Exchange.ts"
import * as ProblemsPage from "../ProblemsPage.ts"
import * as Body from "../wire/Body.ts"
import * as TraceContext from "../wire/TraceContext.ts"
import * as Answer from "./Answer.ts"
import type { Cors } from "./Cors.ts"
import type { InFlight } from "./InFlight.ts"
import * as Limits from "./Limits.ts"
import { observed } from "./RequestTelemetry.ts"
import * as Problems from "./Problems.ts"
import * as RawPath from "./RawPath.ts"
import * as RequestIdentity from "./RequestIdentity.ts"
import type * as SignedRequests from "./SignedRequests.ts"

export class Arrival extends Context.Service<
  Arrival,
  {
    readonly request: HttpServerRequest.HttpServerRequest
    readonly identity: Caller.RequestIdentity
    readonly route: Route
    readonly params: Readonly<Record<string, string>>
    /** Path and query exactly as sent. */
    readonly path: string
    readonly query: string
    /** The raw request target, one character for each byte. */
    readonly target: string
    readonly authorizations: ReadonlyArray<string>
    readonly idempotencyKeys: ReadonlyArray<string>
    readonly ifMatches: ReadonlyArray<string>
    readonly signature: SignedRequests.SignatureHeaders
  }
>()("@bursar/http-host/middleware/Arrival") {}

type App<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

/** A public page beside the API. */
interface Page<E, R> {
  /** Template of its path. */
  readonly path: string
  readonly app: (requestId: string) => App<E, R>
}

/** Finds the public page of a path; undefined: there is none. */
export type FindPage<E, R> = (request: {
  readonly method: string
  readonly path: string
}) => Page<E, R> | undefined

/**
 * Steps 1 to 3 of the order of checks (docs/contract/order-of-checks.md#fourteen-steps): sizes,
 * route and method, request id. Passes an accepted request on with its route and identity; a
 * refused one is answered here.
 */
export const front = <E, R, PE, PR, B>(host: {
  readonly routes: ReadonlyArray<Route>
  readonly page: FindPage<PE, PR>
  readonly cors: Cors
  /** Headers of the rate budget of the caller whose bearer this is; none where it is nobody's. */
  readonly budget: (
    authorizations: ReadonlyArray<string>
  ) => Effect.Effect<Readonly<Record<string, string>>, never, B>
  readonly inFlight: InFlight
  /** The path that a proxy in front adds to every address. */
  readonly basePath: string
  readonly app: App<E, R>
}): App<
  never,
  Exclude<R, Arrival> | PR | B | HttpServerRequest.HttpServerRequest | Ids | Scope.Scope
> => {
  const find = RawPath.compile(host.routes, ({ path }) => path)
  const { cors, inFlight } = host
  const judge = Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest
  ): Effect.fn.Return<
    HttpServerResponse.HttpServerResponse,
    never,
    Exclude<R, Arrival> | PR | B | Ids | Scope.Scope
  > {
    const incoming = NodeHttpServerRequest.toIncomingMessage(request)
    const outgoing = NodeHttpServerRequest.toServerResponse(request)
    const { httpVersion: version, rawHeaders, url = "" } = incoming
    const method = request.method
    const { refused, values } = Limits.scan({ method, target: url, version, rawHeaders })
    const sent = RequestIdentity.sent(values.requestIds)
    const requestId = sent ?? (yield* (yield* Ids).make("req"))
    const mark = url.indexOf("?")
    const path = mark < 0 ? url : url.slice(0, mark)
    const finding = find(method, path)
    const page = host.page({ method, path })
    const route = finding.match === "route" ? finding.route.path.template : null
    const incomingRequest = {
      method,
      route: page?.path ?? route,
      requestId,
      callerTrace: TraceContext.parse(values.traceparents, values.tracestates)
    }
    /**
     * An answer of the first three steps to a caller that has signed in: it costs a call, is never
     * refused for it, and has the headers of the caller's budget, as every answer to it has.
     */
    const ofBudget = (response: HttpServerResponse.HttpServerResponse) =>
      values.authorizations.length === 0
        ? Effect.succeed(response)
        : Effect.map(host.budget(values.authorizations), (budget) =>
            HttpServerResponse.setHeaders(response, budget)
          )
    const decide = Effect.fnUntraced(function* (trace: TraceContext.TraceContext) {
      if (refused !== undefined) {
        return yield* ofBudget(Problems.answer(refused, requestId, { connection: "close" }))
      }
      if (page !== undefined) return yield* Problems.defects(requestId)(page.app(requestId))
      const isPreflight = method === "OPTIONS" && cors.speaks && finding.match === "method"
      if (finding.match !== "route" && !isPreflight) {
        return yield* ofBudget(notThere(finding, requestId, cors))
      }
      if (sent === null) return yield* ofBudget(Problems.answer(badRequestId, requestId))
      if (finding.match !== "route") {
        const permission = cors.permission(request.headers.origin, allowOf(finding, cors))
        return Answer.empty({
          requestId,
          status: 204,
          extra: { allow: allowOf(finding, cors), ...permission }
        })
      }
      const arrival = {
        request,
        identity: { requestId, traceId: trace.traceId, traceFlags: trace.flags, keyId: null },
        route: finding.route,
        params: finding.params,
        path,
        query: mark < 0 ? "" : url.slice(mark + 1),
        target: url,
        authorizations: values.authorizations,
        idempotencyKeys: values.idempotencyKeys,
        ifMatches: values.ifMatches,
        signature: {
          key: values.signatureKeys,
          timestamp: values.signatureTimestamps,
          nonce: values.signatureNonces,
          signature: values.signatures
        }
      }
      return yield* host.app.pipe(
        Effect.provideService(Arrival, arrival),
        Effect.provideService(TraceContext.Current, trace),
        Problems.defects(requestId)
      )
    })
    return yield* observed(incomingRequest, (trace) =>
      inFlight.track({ incoming, outgoing, requestId })(decide(trace))
    )
  })
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.map(judge(request), (answer) =>
      cors.dress(linked(parting(request, answer), host.basePath), request.headers.origin)
    )
  )
}

/** Adds to a problem the link of its page. */
const linked = (
  response: HttpServerResponse.HttpServerResponse,
  basePath: string
): HttpServerResponse.HttpServerResponse => {
  const slug = Exchange.slugOf(response)
  return slug === undefined
    ? response
    : HttpServerResponse.setHeader(response, "link", ProblemsPage.linkOf(slug, basePath))
}

/** Ends the connection of an answer whose request body has not arrived completely. */
const parting = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse =>
  Body.isPresent(request) && !NodeHttpServerRequest.toIncomingMessage(request).complete
    ? HttpServerResponse.setHeader(response, "connection", "close")
    : response

const allowOf = ({ allow }: { readonly allow: string }, { speaks }: Cors): string =>
  speaks ? `${allow}, OPTIONS` : allow

const notThere = (
  finding: Exclude<RawPath.RouteMatch<Route>, { readonly match: "route" }>,
  requestId: string,
  cors: Cors
): HttpServerResponse.HttpServerResponse =>
  finding.match === "nothing"
    ? Problems.answer(
        Refusal.refused("not-found", {
          detail:
            finding.nearest === undefined
              ? "There is no such route."
              : `There is no such route; the nearest is ${finding.nearest}.`
        }),
        requestId
      )
    : Problems.answer(
        Refusal.refused("method-not-allowed", {
          detail: `The route takes ${allowOf(finding, cors)}.`
        }),
        requestId,
        { allow: allowOf(finding, cors) }
      )

const badRequestId = Refusal.refused("invalid-request", {
  detail: "The request id is not one.",
  errors: [
    {
      pointer: "/header/x-request-id",
      detail: "one header of 1 to 128 printable ASCII characters without a space"
    }
  ]
})
