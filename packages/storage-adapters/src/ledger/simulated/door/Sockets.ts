/**
 * Handler of one WebSocket: a request frame, then a frame for each element, until it ends or is
 * refused.
 */
import type { IncomingMessage } from "node:http"
import type * as NodeWS from "@effect/platform-node/NodeWS"
import { Cause, Data, Duration, Effect, Queue, Stream } from "effect"
import * as LedgerError from "../LedgerError.ts"
import type * as Users from "../Users.ts"
import { type EndpointContext, from, type Opener } from "./EndpointContext.ts"
import * as AnswerFaults from "./AnswerFaults.ts"
import { bearer } from "./Http.ts"
import { type Json, parse } from "./Json.ts"
import * as Refusals from "./Refusals.ts"
import type * as HttpFaults from "./HttpFaults.ts"

/** The subprotocol of the door; the other one that a client offers carries the token. */
export const protocol = "daml.ws.auth"
const tokenPrefix = "jwt.token."

/** Timeout of a caller that sends no request or takes no answer. */
const patience = Duration.seconds(30)
/** Interval at which a stream checks its token. */
const watchEvery = Duration.seconds(1)

/** The caller has disconnected, or is too slow. */
class SocketGone extends Data.TaggedError("Gone") {}

/** Token of a socket, from its subprotocols or a header. */
export const tokenOf = (request: IncomingMessage): string | undefined => {
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",")
  const carried = offered
    .map((protocol) => protocol.trim())
    .find((protocol) => protocol.startsWith(tokenPrefix))
  return carried === undefined
    ? bearer(request.headers.authorization)
    : carried.slice(tokenPrefix.length)
}

/**
 * Waits until the frame is written, so that a slow reader slows the stream and does not fill the
 * memory.
 */
const send = (socket: NodeWS.WebSocket, frame: Json): Effect.Effect<void, SocketGone> =>
  Effect.callback<void, SocketGone>((resume) => {
    socket.send(JSON.stringify(frame), (error) =>
      resume(error === undefined || error === null ? Effect.void : Effect.fail(new SocketGone()))
    )
  }).pipe(Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(new SocketGone()) }))

type Frames = Queue.Queue<Uint8Array, SocketGone>

const bytesOf = (data: NodeWS.RawData): Uint8Array =>
  Array.isArray(data) ? Buffer.concat(data) : new Uint8Array(data)

/** Streams the caller's frames until it disconnects. Must be called before any frame can arrive. */
export const receive = (socket: NodeWS.WebSocket): Frames => {
  const frames: Frames = Effect.runSync(Queue.dropping<Uint8Array, SocketGone>(2))
  const end = () => void Queue.failCauseUnsafe(frames, Cause.fail(new SocketGone()))
  socket.on("message", (data) => void Queue.offerUnsafe(frames, bytesOf(data)))
  socket.on("error", end)
  socket.on("close", end)
  return frames
}

const firstFrame = (frames: Frames) =>
  Effect.timeoutOrElse(Queue.take(frames), {
    duration: patience,
    orElse: () => Effect.fail(LedgerError.make("REQUEST_TIME_OUT", "No request was sent"))
  })

const secondFrame = (frames: Frames) =>
  Effect.flatMap(Queue.take(frames), () =>
    Effect.fail(LedgerError.make("INVALID_ARGUMENT", "A socket takes one request"))
  )

const sameRights = (left: Users.User, right: Users.User): boolean =>
  JSON.stringify(left.rights) === JSON.stringify(right.rights)

/** Ends a stream when its token or its rights end. */
const watch = (
  context: EndpointContext,
  ask: { readonly token: string | undefined; readonly user: Users.User }
) =>
  context.participant.authenticate(ask.token).pipe(
    Effect.delay(watchEvery),
    Effect.mapError((error) =>
      error.code === "UNAUTHENTICATED"
        ? LedgerError.make("ACCESS_TOKEN_EXPIRED", "The token is no longer valid")
        : error
    ),
    Effect.flatMap((now) =>
      sameRights(now, ask.user)
        ? Effect.void
        : Effect.fail(LedgerError.make("STALE_STREAM_AUTHORIZATION", "The rights have changed"))
    ),
    Effect.forever
  )

interface Session {
  readonly socket: NodeWS.WebSocket
  readonly frames: Frames
  readonly token: string | undefined
  readonly open: Opener
  readonly wires: HttpFaults.HttpFaults
  /** Succeeds when the door begins to close. */
  readonly stopping: Effect.Effect<void>
}

const elements = (context: EndpointContext, session: Session) =>
  Effect.gen(function* () {
    const { socket, frames, token, wires } = session
    const user = yield* context.participant.authenticate(token)
    const body = yield* from(parse(yield* firstFrame(frames)))
    const stream = yield* session.open(context, { user, body, name: "", traceparent: null })
    const flowing = Stream.runForEach(stream, (item) =>
      Effect.forEach(AnswerFaults.elements(wires.wire(), item), (frame) => send(socket, frame))
    )
    yield* Effect.raceFirst(
      flowing,
      Effect.raceFirst(secondFrame(frames), watch(context, { token, user }))
    )
  })

const closing = (session: Session) =>
  Effect.flatMap(session.stopping, () =>
    Effect.fail(LedgerError.make("SERVICE_NOT_RUNNING", "The ledger is shutting down"))
  )

const errorFrame = (error: Refusals.Refusal, session: Session): Json =>
  error._tag === "LedgerError"
    ? Refusals.body(error, { traceparent: null, wire: session.wires.wire() })
    : Refusals.body(LedgerError.make("INVALID_ARGUMENT", `Invalid value for: ${error.what}`), {
        traceparent: null,
        wire: session.wires.wire()
      })

/** Runs one socket. An error is sent as a frame; then the socket is closed. */
export const serve = (context: EndpointContext, session: Session): Effect.Effect<void> =>
  Effect.raceFirst(elements(context, session), closing(session)).pipe(
    Effect.catchIf(
      (error) => error._tag !== "Gone",
      (error) => send(session.socket, errorFrame(error, session))
    ),
    Effect.catchTag("Gone", () => Effect.sync(() => session.socket.terminate())),
    Effect.ensuring(Effect.sync(() => session.socket.close(1000)))
  )
