/** The host: the interface, what answers it, and the listener it is served on. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Document from "./api/Document.ts"
import * as Interface from "./api/Interface.ts"
import { type Tables, table } from "./api/Route.ts"
import type { Tenant } from "./api/SystemApi.ts"
import * as Docs from "./Docs.ts"
import * as Handlers from "./handlers/Handlers.ts"
import * as Listener from "./Listener.ts"
import { front } from "./middleware/Arrival.ts"

export interface Options {
  readonly tables: Tables
  readonly tenant: Tenant
  /** The path that a proxy in front adds to every address; empty when there is none. */
  readonly basePath: string
  readonly host: string
  readonly port: number
}

/** Everything that answers, on its listener; needs the engine, who signs in, and whether it is ready. */
export const layer = (options: Options) => {
  const routes = table(options.tables)
  const api = Interface.make(routes)
  const handlers = Handlers.layer({ ...options, api, routes, openapi: Document.text(routes) })
  const app = HttpApiBuilder.layer(api).pipe(Layer.provide(handlers))
  return Layer.effectDiscard(
    Effect.gen(function* () {
      const router = yield* HttpRouter.toHttpEffect(app)
      const page = yield* Docs.make(Document.make(routes))
      yield* HttpServer.serveEffect(front({ routes, page, app: router }))
    })
  ).pipe(Layer.provideMerge(Listener.layer(options)))
}
