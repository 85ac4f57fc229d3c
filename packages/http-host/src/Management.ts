/** Management listener: liveness, readiness and metrics, apart from the API's port. */
import { Catalogue } from "@bursar/engine-core"
import { Clock, Data, Effect, Layer, Schedule } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { Server, ServerResponse } from "node:http"
import * as Metrics from "./Metrics.ts"
import { PacedServer } from "./middleware/PacedServer.ts"
import { Readiness } from "./Readiness.ts"
import { Times } from "./wire/Times.ts"
import { UnreadLimits } from "./wire/Unread.ts"

/** The management listener could not be opened. */
export class ManagementFailed extends Data.TaggedError("ManagementFailed")<{
  readonly detail: string
}> {
  override get message(): string {
    return this.detail
  }
}

/** Options of the server of health and metrics. */
export interface Options {
  /** Declarations whose words the labels of metrics have; the engine's own where absent. */
  readonly catalogue?: Catalogue.Catalogue
  readonly host: string
  readonly port: number
  /** Called with the port once the listener is open. */
  readonly opened?: (port: number) => void
}

/** Milliseconds within which the event loop must have run for /livez to succeed. */
const aliveWithin = 5_000
const beatEvery = "1 second"

/** Server of health and metrics, on a port apart from the interface's. */
export const layer = (options: Options): Layer.Layer<never, ManagementFailed, Readiness> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const readiness = yield* Readiness
      yield* Metrics.begin(options.catalogue ?? Catalogue.builtIn)
      const context = yield* Effect.context<never>()
      const run = Effect.runSyncWith(context)
      const clock = yield* Clock.Clock
      let beat = clock.currentTimeMillisUnsafe()
      yield* Effect.sync(() => {
        beat = clock.currentTimeMillisUnsafe()
      }).pipe(Effect.repeat(Schedule.spaced(beatEvery)), Effect.forkScoped)

      const { pipelinedMax, stalledWithin } = yield* UnreadLimits
      const { partingWithin } = yield* Times
      const server = new PacedServer(
        {},
        {
          pipelinedMax,
          stalledWithin,
          movedWithin: partingWithin,
          stoppedWithin: partingWithin,
          arrived: () => {},
          begins: () => {},
          refuse: ({ response }) => void response.writeHead(503, { connection: "close" }).end(),
          cut: ({ request }) => void request.destroy(),
          closed: () => {}
        }
      )
      server.on("request", (request, response) => {
        // The query is ignored.
        switch (request.url?.split("?")[0]) {
          case "/livez":
            return answer(response, clock.currentTimeMillisUnsafe() - beat < aliveWithin)
          case "/readyz":
            return answer(response, run(readiness.current)._tag === "Ready")
          case "/metrics":
            return figures(
              response,
              PrometheusMetrics.formatUnsafe(context, { metricNameMapper: Metrics.nameOf })
            )
          default:
            response.writeHead(404).end()
        }
      })
      yield* Effect.acquireRelease(listen(server, options), () => close(server))
      const address = server.address()
      if (typeof address === "object" && address !== null) options.opened?.(address.port)
    })
  )

const answer = (response: ServerResponse, well: boolean): void => {
  response
    .writeHead(well ? 200 : 503, { "content-type": "text/plain", "cache-control": "no-store" })
    .end(well ? "ok\n" : "not ready\n")
}

const figures = (response: ServerResponse, text: string): void => {
  response
    .writeHead(200, {
      "content-type": "text/plain; version=0.0.4; charset=utf-8",
      "cache-control": "no-store"
    })
    .end(text)
}

const listen = (server: Server, { host, port }: Options): Effect.Effect<void, ManagementFailed> =>
  Effect.callback((resume) => {
    const failed = (error: Error) =>
      resume(
        Effect.fail(
          new ManagementFailed({
            detail: `the management listener cannot use ${host}:${port}: ${error.message}`
          })
        )
      )
    server.once("error", failed)
    server.listen(port, host, () => {
      server.off("error", failed)
      resume(Effect.void)
    })
  })

const close = (server: Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })
