/**
 * HTTP/1.1 listener with strict parsing and limits; refusals on the raw socket have the problem
 * format too.
 */
import { Refusal } from "@bursar/engine-core"
import { Problem } from "@bursar/engine-core/kernel"
import { Ids } from "@bursar/engine-core/ports"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodePath from "@effect/platform-node/NodePath"
import { Data, Duration, Effect, Layer, Metric } from "effect"
import { Etag } from "effect/http"
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as ProblemBody from "./api/Problem.ts"
import * as Answer from "./middleware/Answer.ts"
import * as Limits from "./middleware/Limits.ts"
import * as Counters from "./middleware/Counters.ts"
import type { InFlight } from "./middleware/InFlight.ts"
import { type CloseReason, PacedServer } from "./middleware/PacedServer.ts"
import * as PendingAnswers from "./middleware/PendingAnswers.ts"
import type { AnonymousConnections } from "./middleware/AnonymousConnections.ts"
import * as ProblemsPage from "./ProblemsPage.ts"
import * as Body from "./wire/Body.ts"
import * as Prefer from "./wire/Prefer.ts"
import { Times } from "./wire/Times.ts"
import { UnreadLimits } from "./wire/Unread.ts"
import { Uploads } from "./wire/Uploads.ts"

/** The listener could not bind its address. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

interface Options {
  readonly host: string
  readonly port: number
  readonly anonymous: AnonymousConnections<Socket>
  readonly inFlight: InFlight
  readonly isUpload: IsUpload
  readonly mayWait: MayWait
  /** The path that a proxy in front adds to every address. */
  readonly basePath: string
}

/** Checks whether a request has a file as its body, which may take longer than other bodies. */
export type IsUpload = (request: Pick<IncomingMessage, "method" | "url">) => boolean

/** Checks whether a request is of a route whose calls may wait for their end, as `Prefer: wait` asks. */
export type MayWait = (request: Pick<IncomingMessage, "method" | "url">) => boolean

export const layer = (options: Options) =>
  listening(options).pipe(
    Layer.catchTag("ServeError", ({ cause }) =>
      Layer.effectContext(
        Effect.fail(
          new ListenFailed({
            detail: `the API cannot listen on ${options.host}:${options.port}: ${
              cause instanceof Error ? cause.message : String(cause)
            }`
          })
        )
      )
    )
  )

const listening = ({ host, port, anonymous, basePath, inFlight, isUpload, mayWait }: Options) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const ids = yield* Ids
      const times = yield* Times
      const { within } = yield* Uploads
      const unread = yield* UnreadLimits
      const context = yield* Effect.context<never>()
      const run = Effect.runSyncWith(context)
      const server = makeServer({
        times,
        uploads: { within, matches: isUpload },
        mayWait,
        unread,
        anonymous,
        basePath,
        inFlight,
        makeRequestId: () => run(ids.make("req")),
        closed: (reason) =>
          Metric.withAttributes(Counters.connectionsClosed, { reason }).updateUnsafe(1, context)
      })
      // Without the terminal of `NodeHttpServer.layer`: each would listen to the process's input.
      return Layer.mergeAll(
        NodeHttpServer.layerServer(() => server, {
          host,
          port,
          gracefulShutdownTimeout: Duration.millis(times.stopWithin)
        }),
        NodeHttpPlatform.layer,
        NodeFileSystem.layer,
        NodePath.layer,
        Etag.layerWeak
      )
    })
  )

interface ServerParts {
  readonly times: Times
  readonly uploads: {
    /** Milliseconds within which a whole request with a file must arrive. */
    readonly within: number
    readonly matches: IsUpload
  }
  readonly mayWait: MayWait
  readonly unread: UnreadLimits
  readonly anonymous: AnonymousConnections<Socket>
  readonly inFlight: InFlight
  readonly basePath: string
  readonly makeRequestId: () => string
  readonly closed: (reason: CloseReason) => void
}

const makeServer = ({
  times,
  uploads,
  mayWait,
  makeRequestId,
  unread,
  basePath,
  inFlight,
  closed,
  anonymous
}: ServerParts): Server => {
  const received = Math.max(times.requestWithin, uploads.within)
  const answered = times.firstByteWithin + times.takenWithin
  const pendingAnswers = PendingAnswers.make()
  const parting = new WeakSet<Duplex>()
  const options = {
    maxHeaderSize: Limits.parserHeadersMax,
    headersTimeout: times.headersWithin,
    // Backstop: Body.ts refuses a late body where it is read; this timeout ends requests that are
    // never read.
    requestTimeout: received + times.partingWithin,
    keepAliveTimeout: times.keptAlive,
    connectionsCheckingInterval: times.lookedAtEvery,
    insecureHTTPParser: false,
    // Limits.ts checks the Host header with the other headers, so that the refusal is a problem.
    requireHostHeader: false,
    // Requests to upgrade the protocol are answered as ordinary requests.
    shouldUpgradeCallback: () => false
  }
  const server = new PacedServer(options, {
    pipelinedMax: unread.pipelinedMax,
    stalledWithin: unread.stalledWithin,
    movedWithin: times.partingWithin,
    // A request that the end of the stop interrupts is answered, and the answer has a moment to be taken.
    stoppedWithin: times.stopWithin + times.partingWithin,
    arrived: ({ request, response }) => pendingAnswers.begin(request, response),
    begins: ({ request, response }) =>
      dropWhenNotTaken(
        response,
        (uploads.matches(request) ? received : times.requestWithin) +
          waitOf(request, mayWait) +
          answered
      ),
    // Its turn has come: everything before it has been sent.
    refuse: ({ request: { socket } }) => {
      parting.add(socket)
      const text = rawText({
        refused: pipelined,
        sentBytes: undefined,
        requestId: makeRequestId(),
        basePath
      })
      leave({ socket, text, within: times.partingWithin })
    },
    cut: ({ request }) => inFlight.cut(request),
    closed
  })
  // A client that has closed its sending half still reads: a complete request is answered.
  Object.assign(server, { httpAllowHalfOpen: true })
  const part = (
    socket: Duplex,
    refused: Refusal.Refused | Refusal.Unavailable,
    sentBytes?: Buffer
  ) => {
    parting.add(socket)
    socket.on("error", () => socket.destroy())
    pendingAnswers.inTurn(socket, (last) => {
      const text =
        last === "answered"
          ? ""
          : rawText({ refused, sentBytes, requestId: makeRequestId(), basePath })
      leave({ socket, text, within: times.partingWithin })
    })
  }
  server.on("clientError", (error: ParserError, socket) => {
    if (error.code === "ECONNRESET") socket.destroy()
    // Bytes after a refusal or after the connection's final answer are not read.
    else if (!parting.has(socket) && socket.writable) {
      part(socket, refusedBy(error), error.rawPacket)
    }
  })
  server.on("connect", (_, socket) => part(socket, tunnelled))
  // Other expectations than 100-continue are ignored.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  admitOnly(server, anonymous, (socket) => part(socket, overloaded))
  return server
}

const tunnelled = Refusal.refused("method-not-allowed", { detail: "There are no tunnels here." })
const overloaded = Refusal.unavailable("overloaded", "Too many connections; none is free.", 1)
const pipelined = Refusal.unavailable(
  "overloaded",
  "Too many requests wait on this connection; read their answers first.",
  1
)

/** Refuses connections beyond the limit before the parser reads their bytes. */
const admitOnly = (
  server: Server,
  anonymous: AnonymousConnections<Socket>,
  refuse: (socket: Socket) => void
): void => {
  const take = server.listeners("connection")
  server.removeAllListeners("connection")
  server.on("connection", (socket: Socket) => {
    if (anonymous.admit(socket) === "full") return refuse(socket)
    socket.once("close", () => anonymous.closed(socket))
    for (const listener of take) listener.call(server, socket)
  })
}

/** Drops a connection whose exchange has not ended within the sum of its timeouts. */
const dropWhenNotTaken = (response: ServerResponse, within: number): void => {
  const timer = setTimeout(() => response.socket?.destroy(), within).unref()
  response.once("close", () => clearTimeout(timer))
}

/** Milliseconds that a request prefers to wait before its answer begins; 0 where its route never waits. */
const waitOf = (request: IncomingMessage, mayWait: MayWait): number => {
  const seconds = Prefer.waitOf([request.headers["prefer"] ?? []].flat().join(",")) ?? 0
  return seconds > 0 && mayWait(request) ? seconds * 1_000 : 0
}

interface ParserError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

/** Formats a whole HTTP response for the raw socket, for bytes that never became a request. */
const rawText = ({
  basePath,
  requestId,
  refused,
  sentBytes
}: {
  readonly basePath: string
  readonly refused: Refusal.Refused | Refusal.Unavailable
  readonly requestId: string
  /** Bytes that the parser was reading when it failed. */
  readonly sentBytes: Buffer | undefined
}): string => {
  const problem = Problem.from(refused, requestId)
  // An answer to HEAD has no body: its client would read the body as the next answer.
  const text = sentBytes?.subarray(0, 5).equals(head) === true ? "" : Answer.problemText(problem)
  const headers = {
    connection: "close",
    "content-type": Body.problemMediaType,
    "content-length": String(Buffer.byteLength(text)),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
    link: ProblemsPage.linkOf(Problem.slugOf(problem), basePath),
    ...ProblemBody.headers(problem)
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const line = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ""}`
  return [line, ...lines, "", text].join("\r\n")
}

const head = Buffer.from("HEAD ")

/** Writes a final response on a socket and closes the connection, whatever keep-alive says. */
const leave = ({
  socket,
  text,
  within
}: {
  readonly socket: Duplex
  readonly text: string
  readonly within: number
}): void => {
  socket.end(text)
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), within).unref()
  socket.once("close", () => clearTimeout(timer))
}

const refusedBy = ({ code, rawPacket }: ParserError): Refusal.Refused => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return endsItsLine(rawPacket)
        ? Refusal.refused("headers-too-large")
        : Refusal.refused("uri-too-long")
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return Refusal.refused("request-timeout")
    default:
      return Limits.notHttp
  }
}

/** Checks whether a packet that overflowed contains the end of its request line. */
const endsItsLine = (packet: Buffer | undefined): boolean =>
  packet === undefined || packet.subarray(0, 16 * 1024).includes("\r\n")
