/** HTTP door of the simulated ledger for outside parties, in the ledger API's shapes. */
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeWS from "@effect/platform-node/NodeWS"
import { Context, Data, Deferred, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as LedgerError from "../LedgerError.ts"
import type { Participant } from "../Participant.ts"
import * as Users from "../Users.ts"
import * as EndpointContext from "./EndpointContext.ts"
import * as Endpoints from "./Endpoints.ts"
import * as Http from "./Http.ts"
import { bodyMax } from "./Json.ts"
import * as Refusals from "./Refusals.ts"
import * as Sockets from "./Sockets.ts"
import * as HttpFaults from "./HttpFaults.ts"

export type { Profile } from "./EndpointContext.ts"

/** Options of the door: its address and its limits. */
export interface Options {
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** 0 takes any free port. */
  readonly port?: number
  readonly profile?: EndpointContext.Profile
  /** Timeout of a call, after which its outcome is uncertain to the caller. */
  readonly answerWithin?: Duration.Duration
  /**
   * Makes the server that the door listens with; a plain one by default. A deployment gives the one
   * of its API here, so that callers who pipeline and do not read are bounded alike. `refuse` answers
   * a call that is one too many on its connection, and ends the connection.
   */
  readonly makeServer?: (hooks: { readonly refuse: (socket: Duplex) => void }) => Server
}

/** Options of a door whose program chooses none. */
export const defaults = {
  host: "127.0.0.1",
  port: 7575,
  profile: "3.5",
  answerWithin: Duration.seconds(20)
} as const

/** The door could not be opened; the message says how to fix it. */
export class DoorFailed extends Data.TaggedError("DoorFailed")<{ readonly message: string }> {}

/** Door of the simulated ledger: an HTTP server for the programs of outside parties. */
export class Door extends Context.Service<
  Door,
  {
    readonly host: string
    readonly port: number
    /** `http://host:port`, without a trailing slash. */
    readonly url: string
  }
>()("@bursar/storage-adapters/simulated-ledger/Door") {}

/** Largest number of open sockets. */
const socketsMax = 512
/** Grace period of requests in flight when the door closes. */
const grace = Duration.seconds(5)

/** Door that is open for as long as its layer is. */
export const layer = (options: Options = {}): Layer.Layer<Door, DoorFailed, Participant> =>
  Layer.effect(Door, make(options))

/** Opens a door for as long as its scope. */
export const make = (
  options: Options
): Effect.Effect<Door["Service"], DoorFailed, Participant | Scope.Scope> =>
  Effect.gen(function* () {
    const {
      host,
      port,
      makeServer = () => createServer(),
      ...answering
    } = {
      ...defaults,
      ...options
    }
    const context = yield* EndpointContext.make(answering)
    const wires = HttpFaults.make(context.participant.faults)
    // A scope of its own, so that requests in flight outlive the beginning of the close.
    const requests = yield* Scope.make()
    const stopping = yield* Deferred.make<void>()
    const server = makeServer({ refuse: (socket) => turnAway(socket, tooMany) })
    const handler = yield* NodeHttpServer.makeHandler(Http.serve(context, wires), {
      scope: requests
    })
    server.on("request", handler)
    const sockets = yield* upgrades({ context, wires, stopping })
    server.on("upgrade", sockets.handle)
    const address = yield* listen(server, { host, port })
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        yield* Deferred.succeed(stopping, undefined)
        const quiet = Effect.all([close(server), sockets.finished], { concurrency: 2 })
        yield* Effect.timeoutOption(Effect.interruptible(quiet), grace)
        yield* sockets.cut
        yield* Scope.close(requests, Exit.void)
        server.closeAllConnections()
      })
    )
    const shown = address.family === "IPv6" ? `[${address.address}]` : address.address
    return { host, port: address.port, url: `http://${shown}:${address.port}` }
  })

const listen = (
  server: Server,
  at: { readonly host: string; readonly port: number }
): Effect.Effect<AddressInfo, DoorFailed> =>
  Effect.callback<AddressInfo, DoorFailed>((resume) => {
    const refused = (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new DoorFailed({ message: whyNot(error, at) })))
    server.once("error", refused)
    server.listen(at.port, at.host, () => {
      server.off("error", refused)
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("no TCP address")
      resume(Effect.succeed(address))
    })
  })

const whyNot = (
  error: NodeJS.ErrnoException,
  at: { readonly host: string; readonly port: number }
): string =>
  error.code === "EADDRINUSE"
    ? `The ledger's door cannot open: ${at.host}:${at.port} is taken by another program. Stop it, or set another port.`
    : `The ledger's door cannot open at ${at.host}:${at.port}: ${error.message}`

/** Refuses new connections and waits for the last one; idle connections are closed. */
const close = (server: Server): Effect.Effect<void> =>
  Effect.raceFirst(
    Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
    }),
    Effect.sync(() => server.closeIdleConnections()).pipe(
      Effect.andThen(Effect.sleep("50 millis")),
      Effect.forever
    )
  )

/** Handler of upgrades: opens sockets for the streaming paths and refuses other paths. */
const upgrades = ({
  context,
  wires,
  stopping
}: {
  readonly context: EndpointContext.EndpointContext
  readonly wires: HttpFaults.HttpFaults
  readonly stopping: Deferred.Deferred<void>
}) =>
  Effect.gen(function* () {
    const running = new Set<Fiber.Fiber<void>>()
    const acceptor = new NodeWS.WebSocketServer({
      noServer: true,
      maxPayload: bodyMax,
      handleProtocols: (offered) => (offered.has(Sockets.protocol) ? Sockets.protocol : false)
    })
    const services = yield* Effect.context()

    const start = (
      request: IncomingMessage,
      socket: NodeWS.WebSocket,
      open: EndpointContext.Opener
    ) => {
      const session = {
        socket,
        frames: Sockets.receive(socket),
        token: Sockets.tokenOf(request),
        open,
        wires,
        stopping: Deferred.await(stopping)
      }
      const fiber = Effect.runForkWith(services)(Sockets.serve(context, session))
      running.add(fiber)
      fiber.addObserver(() => running.delete(fiber))
    }

    const handle = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      socket.on("error", () => socket.destroy())
      const path = (request.url ?? "").split("?")[0] ?? ""
      const found = Endpoints.find({ method: "POST", path, profile: context.profile })
      if (found === null || found.endpoint.kind !== "list") {
        return turnAway(socket, Http.unimplemented(path))
      }
      if (Sockets.tokenOf(request) === undefined) {
        return turnAway(socket, Users.unauthenticated())
      }
      if (running.size >= socketsMax) {
        return turnAway(
          socket,
          LedgerError.make("PARTICIPANT_BACKPRESSURE", "Too many sockets are open")
        )
      }
      const { open } = found.endpoint
      acceptor.handleUpgrade(request, socket, head, (opened) => start(request, opened, open))
    }

    return {
      handle,
      finished: Effect.suspend(() => Fiber.awaitAll([...running])),
      cut: Effect.suspend(() => Fiber.interruptAll([...running]))
    }
  })

const tooMany = LedgerError.make(
  "PARTICIPANT_BACKPRESSURE",
  "Too many calls wait on this connection; read their answers first"
)

/** Answers a refused upgrade or call on the raw socket, and ends it. */
const turnAway = (socket: Duplex, error: LedgerError.LedgerError): void => {
  const status = Refusals.status(error)
  const body = JSON.stringify(Refusals.body(error, { traceparent: null, wire: undefined }))
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
      "Connection: close",
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "",
      body
    ].join("\r\n")
  )
}
