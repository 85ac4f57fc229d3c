/** The socket the host listens on: strict HTTP/1.1, with limits, whose own refusals are problems too. */
import { Refusal } from "@bursar/engine-core"
import { Problem } from "@bursar/engine-core/kernel"
import { Ids } from "@bursar/engine-core/ports"
import { NodeHttpServer } from "@effect/platform-node"
import { Data, Effect, Layer } from "effect"
import { createServer, type Server, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as Limits from "./middleware/Limits.ts"
import * as Answer from "./middleware/Answer.ts"
import * as Body from "./wire/Body.ts"

const headersWithin = 10_000
const requestWithin = 30_000
const keptAlive = 65_000
/** How often Node looks for requests that are too slow. */
const lookedAtEvery = 1_000
/** Requests in flight get this long to finish when the host stops. */
const stopWithin = "20 seconds"

/** The address could not be listened on. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

export const layer = (of: { readonly host: string; readonly port: number }) =>
  listening(of).pipe(
    Layer.catchTag("ServeError", ({ cause }) =>
      Layer.effectContext(
        Effect.fail(
          new ListenFailed({
            detail: `the API cannot listen on ${of.host}:${of.port}: ${
              cause instanceof Error ? cause.message : String(cause)
            }`
          })
        )
      )
    )
  )

const listening = (of: { readonly host: string; readonly port: number }) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const ids = yield* Ids
      const run = Effect.runSyncWith(yield* Effect.context<never>())
      const server = makeServer(() => run(ids.make("req")))
      return NodeHttpServer.layer(() => server, {
        host: of.host,
        port: of.port,
        gracefulShutdownTimeout: stopWithin
      })
    })
  )

const makeServer = (makeRequestId: () => string): Server => {
  const server = createServer({
    maxHeaderSize: Limits.parserHeadersMax,
    headersTimeout: headersWithin,
    requestTimeout: requestWithin,
    keepAliveTimeout: keptAlive,
    connectionsCheckingInterval: lookedAtEvery,
    insecureHTTPParser: false,
    // Judged with the other headers (Limits.ts), so that the refusal is a problem like any other.
    requireHostHeader: false
  })
  server.on("clientError", (error: ParserError, socket) => {
    refuseRaw(error, socket, makeRequestId())
  })
  return server
}

interface ParserError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

/** What the parser refused never becomes a request: it is answered on the socket, which then ends. */
const refuseRaw = (error: ParserError, socket: Duplex, requestId: string): void => {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy()
    return
  }
  const text = Answer.problemText(Problem.from(refusedBy(error), requestId))
  const { status } = Problem.from(refusedBy(error), requestId)
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
      "connection: close",
      `content-type: ${Body.problemMediaType}`,
      `content-length: ${Buffer.byteLength(text)}`,
      "cache-control: no-store",
      "x-content-type-options: nosniff",
      `x-request-id: ${requestId}`,
      "",
      text
    ].join("\r\n")
  )
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
      return Refusal.refused("invalid-request", { detail: "The request is not HTTP/1.1." })
  }
}

/** Whether a packet that overflowed holds the end of its request line. */
const endsItsLine = (packet: Buffer | undefined): boolean =>
  packet === undefined || packet.subarray(0, 16 * 1024).includes("\r\n")
