/** The host: API, handlers and listener. */
import { Catalogue, Engine, Settings } from "@bursar/engine-core"
import { RecordId } from "@bursar/engine-core/kernel"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer, type HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { Socket } from "node:net"
import * as Document from "./api/Document.ts"
import * as Interface from "./api/Interface.ts"
import { type Route, type Tables, table, takesWait } from "./api/Route.ts"
import type { Venue } from "./api/SystemApi.ts"
import * as Console from "./Console.ts"
import * as Docs from "./Docs.ts"
import * as Handlers from "./handlers/Handlers.ts"
import * as Listener from "./Listener.ts"
import { type FindPage, front } from "./middleware/Arrival.ts"
import { Authentication } from "./middleware/Authentication.ts"
import * as Cors from "./middleware/Cors.ts"
import * as InFlight from "./middleware/InFlight.ts"
import * as PublicText from "./middleware/PublicText.ts"
import * as RawPath from "./middleware/RawPath.ts"
import * as RequestTelemetry from "./middleware/RequestTelemetry.ts"
import * as RateLimit from "./middleware/RateLimit.ts"
import * as SignedRequests from "./middleware/SignedRequests.ts"
import * as AnonymousConnections from "./middleware/AnonymousConnections.ts"
import * as Waits from "./middleware/Waits.ts"
import * as Body from "./wire/Body.ts"

/** Options of a host: its tables, its venue, its address and its limits. */
export interface Options {
  /** Declarations that are served: `Catalogue`, or the `Catalogue.withRooms(rooms)` of the engine. */
  readonly tables: Tables
  readonly tenant: Venue
  /** The path that a proxy in front adds to every address; empty when there is none. */
  readonly basePath: string
  readonly host: string
  readonly port: number
  readonly signing: SignedRequests.Rules
  readonly rateLimit: RateLimit.Rules
  /** Origins of web pages on other hosts that may call the API. */
  readonly origins: ReadonlyArray<string>
  /** The venue console; absent: it is not served. */
  readonly console?: Console.Options
}

/** Layer of the HTTP server with all routes; needs the engine, authentication and readiness. */
export const layer = (options: Options) =>
  Layer.unwrap(Effect.as(demandRooms(options.tables), served(options)))

const served = (options: Options) => {
  const catalogue = { ...Catalogue.builtIn, ...options.tables }
  const routes = table(options.tables)
  const api = Interface.make(routes)
  const { tenantId } = options.tenant
  const anonymous = AnonymousConnections.make<Socket>()
  const inFlight = InFlight.make()
  const waits = Waits.make()
  // The served document has no final line break; the file in the repository has one.
  // One layer, built once: the budget of a caller is counted together wherever its answer is made.
  const limits = RateLimit.layer({ ...options.rateLimit, tenantId })
  const document = PublicText.make({
    text: Effect.sync(() => Document.text(routes, catalogue).trimEnd()),
    contentType: Body.mediaType,
    headers: { "cache-control": "public, max-age=300" }
  })
  const handlers = Layer.unwrap(
    Effect.map(document, (openapi) =>
      Handlers.layer({ ...options, api, routes, openapi, anonymous, waits })
    )
  ).pipe(
    Layer.provide(SignedRequests.layer({ ...options.signing, tenantId })),
    Layer.provide(limits)
  )
  const app = HttpApiBuilder.layer(api).pipe(Layer.provide(handlers))
  const cors = Cors.make(options.origins)
  return Layer.effectDiscard(
    Effect.gen(function* () {
      yield* sayWhatIsLost
      const router = yield* HttpRouter.toHttpEffect(app).pipe(
        // The router's default limit is 100 characters; RawPath.ts accepts longer ids, and the
        // router must find their routes too.
        Effect.provideService(HttpRouter.RouterConfig, { maxParamLength: RecordId.lengthMax })
      )
      const docs = yield* Docs.make(Document.make(routes, catalogue), catalogue)
      const venueConsole =
        options.console === undefined
          ? Console.notServed
          : yield* Console.make({ ...options.console, tenant: options.tenant })
      const page: FindPage<never, HttpServerRequest.HttpServerRequest> = ({ method, path }) =>
        (method === "GET" || method === "HEAD"
          ? docs.find((candidate) => candidate.path === path)
          : undefined) ?? venueConsole({ method, path })
      const authentication = yield* Authentication
      const rateLimit = yield* RateLimit.RateLimit
      // Refusals of a token are not this answer's: its step comes before them.
      const budget = (authorizations: ReadonlyArray<string>) =>
        authentication.caller(authorizations).pipe(
          Effect.flatMap((caller) => rateLimit.take(caller)),
          Effect.map(({ headers }) => headers),
          Effect.catch(() => Effect.succeed({}))
        )
      yield* HttpServer.serveEffect(
        front({ ...options, routes, page, cors, budget, inFlight, app: router })
      )
      // Runs before the server stops, which waits for the answers in progress.
      yield* Effect.addFinalizer(() => waits.drain)
    })
  ).pipe(
    Layer.provide(limits),
    Layer.provide(RequestTelemetry.layer),
    Layer.provideMerge(
      Listener.layer({
        ...options,
        anonymous,
        inFlight,
        isUpload: isUploadOf(routes),
        mayWait: mayWaitOf(routes)
      })
    )
  )
}

/** Checks whether a request is one of a route that takes a file; such a path has no parameter. */
const isUploadOf = (routes: ReadonlyArray<Route>): Listener.IsUpload => {
  const paths = new Set<string>(
    routes.flatMap(({ file, path }) => (file === undefined ? [] : [path.template]))
  )
  return ({ method, url = "" }) => method === "POST" && paths.has(url.split("?", 1)[0] ?? "")
}

/** Checks whether a request is one of a route whose calls may wait for their end. */
const mayWaitOf = (routes: ReadonlyArray<Route>): Listener.MayWait => {
  const match = RawPath.compile(routes, ({ path }) => path)
  return ({ method = "", url = "" }) => {
    const found = match(method, url.split("?", 1)[0] ?? "")
    return found.match === "route" && takesWait(found.route)
  }
}

/**
 * Ends the start where the host serves other rooms than its engine has: calls of theirs would be answered
 * by an engine that does not know them, or be refused by a host that does not.
 */
const demandRooms = ({ rooms = [] }: Tables) =>
  Effect.flatMap(Engine.DeclaredCatalogue, ({ rooms: engineRooms }) => {
    const alike =
      rooms.length === engineRooms.length && rooms.every((room, at) => room === engineRooms[at])
    return alike
      ? Effect.void
      : Effect.die(
          new Error(
            `The host serves ${namesOf(rooms)}, and its engine has ${namesOf(engineRooms)}: give both one catalogue, Catalogue.withRooms(rooms), whose rooms are the same values.`
          )
        )
  })

const namesOf = (rooms: Catalogue.Catalogue["rooms"]): string =>
  rooms.length === 0 ? "no room" : `the rooms ${rooms.map(({ name }) => name).join(", ")}`

/**
 * Logs a warning at the start where no cursor key is configured: cursors then end with this
 * process.
 */
const sayWhatIsLost = Effect.flatMap(Settings, ({ cursorKeys }) =>
  cursorKeys.length > 0
    ? Effect.void
    : Effect.logWarning(
        "there is no cursor key, of the settings or kept: places in lists and feeds hold at this instance alone, and are lost when it stops"
      )
)
