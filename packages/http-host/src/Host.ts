/** The host: API, handlers and listener. */
import { Settings } from "@bursar/engine-core"
import { RecordId } from "@bursar/engine-core/kernel"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { Socket } from "node:net"
import * as Document from "./api/Document.ts"
import * as Interface from "./api/Interface.ts"
import { type Tables, table } from "./api/Route.ts"
import type { Venue } from "./api/SystemApi.ts"
import * as Docs from "./Docs.ts"
import * as Handlers from "./handlers/Handlers.ts"
import * as Listener from "./Listener.ts"
import { front } from "./middleware/Arrival.ts"
import * as Cors from "./middleware/Cors.ts"
import * as Observed from "./middleware/Observed.ts"
import * as RateLimit from "./middleware/RateLimit.ts"
import * as SignedRequests from "./middleware/SignedRequests.ts"
import * as Strangers from "./middleware/Strangers.ts"

export interface Options {
  readonly tables: Tables
  readonly tenant: Venue
  /** The path that a proxy in front adds to every address; empty when there is none. */
  readonly basePath: string
  readonly host: string
  readonly port: number
  readonly signing: SignedRequests.Rules
  readonly rateLimit: RateLimit.Rules
  /** The origins of the web pages that may call from elsewhere. */
  readonly origins: ReadonlyArray<string>
}

/** Everything that answers, on its listener; needs the engine, who signs in, and whether it is ready. */
export const layer = (options: Options) => {
  const routes = table(options.tables)
  const api = Interface.make(routes)
  const { tenantId } = options.tenant
  const strangers = Strangers.make<Socket>()
  // An answer of JSON ends with its last bracket; the file that is checked in ends its last line.
  const openapi = Document.text(routes).trimEnd()
  const handlers = Handlers.layer({ ...options, api, routes, openapi, strangers }).pipe(
    Layer.provide(SignedRequests.layer({ ...options.signing, tenantId })),
    Layer.provide(RateLimit.layer({ ...options.rateLimit, tenantId }))
  )
  const app = HttpApiBuilder.layer(api).pipe(Layer.provide(handlers))
  const cors = Cors.make(options.origins)
  return Layer.effectDiscard(
    Effect.gen(function* () {
      yield* sayWhatIsLost
      const router = yield* HttpRouter.toHttpEffect(app).pipe(
        // An id that RawPath.ts found is one that the router finds again: left to itself it stops at 100.
        Effect.provideService(HttpRouter.RouterConfig, { maxParamLength: RecordId.lengthMax })
      )
      const pages = yield* Docs.make(Document.make(routes))
      yield* HttpServer.serveEffect(front({ routes, pages, cors, app: router }))
    })
  ).pipe(
    Layer.provide(Observed.layer),
    Layer.provideMerge(Listener.layer({ ...options, strangers }))
  )
}

/** Warns at the start that cursors end with this host where no cursor key is configured. */
const sayWhatIsLost = Effect.flatMap(Settings, ({ cursorKeys }) =>
  cursorKeys.length > 0
    ? Effect.void
    : Effect.logWarning(
        "there is no cursor key, of the settings or kept: places in lists and feeds hold at this instance alone, and are lost when it stops"
      )
)
