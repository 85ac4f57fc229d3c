/** Observability of requests: one span, one metric, one log line for each. */
import { Clock, Effect, Exit, Metric, type Scope, Tracer } from "effect"
import { HttpMiddleware, type HttpServerResponse } from "effect/http"
import { Layer } from "effect"
import * as Exchange from "../observability/Exchange.ts"
import * as TraceContext from "../wire/TraceContext.ts"

/** Durations of requests, from their first byte to the last byte of their answers. */
export const requestDuration = Metric.histogram("http.server.request.duration", {
  description: "From a request's arrival to the end of its answer.",
  // The buckets of OpenTelemetry's conventions for HTTP.
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  attributes: { unit: "s" }
})

/** Metric label of methods that are not standard. */
export const otherMethod = "_OTHER"
export const methods = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "PATCH",
  "TRACE",
  "CONNECT",
  "QUERY"
] as const

/** Values of `error.type` for requests that ended without a refusal. */
export const ends = {
  /** The client disconnected before the answer was complete. */
  left: "client-closed",
  /** The answer failed while it was being streamed. */
  broken: "answer-broken"
} as const

/** Status of a request whose client disconnected, as proxies log it. */
export const statusLeft = 499

interface IncomingRequest {
  readonly method: string
  /** Template of the route; null: the request has no route. */
  readonly route: string | null
  readonly requestId: string
  /** Trace context that the caller sent. */
  readonly callerTrace: TraceContext.CallerTrace | null
}

type Response = HttpServerResponse.HttpServerResponse

/**
 * Middleware that runs a request within a span of its own, which outgoing calls and log lines of
 * the request belong to. Span, metric and log line are recorded when the answer has been sent or
 * has failed.
 */
export const observed = <E, R>(
  request: IncomingRequest,
  answer: (trace: TraceContext.TraceContext) => Effect.Effect<Response, E, R>
): Effect.Effect<Response, E, R | Scope.Scope> =>
  Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeNanos
    const method = methods.find((name) => name === request.method) ?? otherMethod
    const span = yield* Effect.makeSpan(
      request.route === null ? method : `${method} ${request.route}`,
      {
        kind: "server",
        ...(request.callerTrace === null
          ? { root: true }
          : {
              parent: Tracer.externalSpan({
                ...request.callerTrace,
                sampled: isSampled(request.callerTrace)
              })
            })
      }
    )
    const { traceId, spanId } = span
    const exchange: Exchange.Exchange = {
      requestId: request.requestId,
      traceId,
      spanId,
      method,
      route: request.route,
      sub: null,
      refusedBy: null,
      response: null
    }
    // The request's scope is closed when its answer has been sent.
    yield* Effect.addFinalizer((exit) =>
      finish({ exchange, span, startedAt, exit }).pipe(
        Effect.provideService(Exchange.Current, exchange)
      )
    )
    return yield* answer({
      traceId,
      spanId,
      parentId: request.callerTrace?.spanId ?? null,
      flags: request.callerTrace?.flags ?? TraceContext.sampled | TraceContext.random,
      state: request.callerTrace?.state ?? null
    }).pipe(
      Effect.provideService(Exchange.Current, exchange),
      Effect.withParentSpan(span),
      Effect.tap((response) =>
        Effect.sync(() => {
          exchange.response = response
        })
      )
    )
  })

const isSampled = ({ flags }: TraceContext.CallerTrace): boolean =>
  (flags & TraceContext.sampled) !== 0

/** Status and error type under which a request is recorded. */
const outcomeOf = (response: Response | null, exit: Exit.Exit<unknown, unknown>) => {
  if (response === null) return { status: statusLeft, error: ends.left }
  if (Exit.isSuccess(exit)) return { status: response.status, error: Exchange.slugOf(response) }
  // A host that stops has ended the work, and has answered with a problem.
  const slug = Exchange.slugOf(response)
  if (slug !== undefined) return { status: response.status, error: slug }
  return Exit.hasInterrupts(exit)
    ? { status: response.status, error: ends.left }
    : { status: response.status, error: ends.broken }
}

const finish = Effect.fnUntraced(function* ({
  exchange,
  span,
  exit,
  startedAt
}: {
  readonly exchange: Exchange.Exchange
  readonly span: Tracer.Span
  readonly startedAt: bigint
  readonly exit: Exit.Exit<unknown, unknown>
}) {
  const { error, status } = outcomeOf(exchange.response, exit)
  const now = yield* Clock.currentTimeNanos
  const seconds = Number(now - startedAt) / 1e9
  const attributes = {
    "http.request.method": exchange.method,
    "http.response.status_code": String(status),
    ...(exchange.route === null ? {} : { "http.route": exchange.route }),
    ...(error === undefined ? {} : { "error.type": error })
  }
  yield* Metric.update(Metric.withAttributes(requestDuration, attributes), seconds)
  for (const [name, value] of Object.entries(attributes)) span.attribute(name, value)
  // Only faults of the engine mark the span as failed.
  span.attribute("http.response.status_code", status)
  span.end(now, status >= 500 ? Exit.fail(error ?? String(status)) : Exit.void)
  yield* Effect.logInfo("answered").pipe(
    Effect.annotateLogs({
      method: exchange.method,
      status,
      ms: Math.round(seconds * 1e6) / 1e3,
      ...(exchange.refusedBy === null ? {} : { reason: exchange.refusedBy })
    })
  )
})

/** Disables the library's own request span, which does not have the route. */
export const layer: Layer.Layer<never> = Layer.succeed(
  HttpMiddleware.TracerDisabledWhen,
  () => true
)
