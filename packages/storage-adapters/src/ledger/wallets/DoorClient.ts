/** Client of the ledger's HTTP and WebSocket door for outside parties. */
import { Cause, Data, Duration, Effect, Queue, Schema, Stream } from "effect"

/** Address of a ledger's door, with the token of a user. */
export interface Address {
  /** `http://host:port`, without a trailing slash. */
  readonly url: string
  /** Evaluated before every call, so that a replaced token takes effect. */
  readonly token: Effect.Effect<string, DoorLost>
}

/** The ledger refused the call. */
export class DoorRefused extends Data.TaggedError("DoorRefused")<{
  readonly status: number
  readonly code: string
  readonly cause: string
  readonly category: number
  readonly context: { readonly [name: string]: string }
}> {
  override get message(): string {
    return `${this.code}: ${this.cause}`
  }
}

/** No answer was received; the call may have had an effect. */
export class DoorLost extends Data.TaggedError("DoorLost")<{
  readonly detail: string
  /** The socket was never opened: the network may not support sockets. */
  readonly unopened: boolean
}> {
  override get message(): string {
    return this.detail
  }
}

/** Failure of a call of the door: refused, or lost. */
export type DoorError = DoorRefused | DoorLost

const lost = (detail: string, unopened = false) => new DoorLost({ detail, unopened })

const Refusal = Schema.Struct({
  code: Schema.String,
  cause: Schema.String,
  errorCategory: Schema.optional(Schema.NullOr(Schema.Number)),
  context: Schema.optional(Schema.NullOr(Schema.Record(Schema.String, Schema.String)))
})
const isRefusal = Schema.is(Refusal)

const refused = (status: number, body: typeof Refusal.Type): DoorRefused =>
  new DoorRefused({
    status,
    code: body.code,
    cause: body.cause,
    category: body.errorCategory ?? -1,
    context: body.context ?? {}
  })

const isUnknownToken = (error: DoorRefused): boolean =>
  error.status === 401 || error.code === "UNAUTHENTICATED"

/**
 * Number of calls refused for an unknown token after which the token has ended; a replaced one is
 * read again.
 */
const tokenTries = 4

/** Checks whether a retry may have another outcome; `tried` counts the tries so far. */
export const isPassing = (error: DoorError, tried = 0): boolean =>
  error._tag === "DoorLost" ||
  (isUnknownToken(error) && tried < tokenTries) ||
  error.code === "ACCESS_TOKEN_EXPIRED" ||
  error.code === "STALE_STREAM_AUTHORIZATION" ||
  (error.category >= 1 && error.category <= 3 && error.status !== 413)

const callWithin = Duration.seconds(30)

const parsed = (text: string): Effect.Effect<unknown, DoorLost> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => lost(`the door answered no JSON: ${text.slice(0, 200)}`)
  })

/** Makes one call: GET without a body, POST with one. */
export const call = (
  address: Address,
  ask: { readonly path: string; readonly body?: unknown }
): Effect.Effect<unknown, DoorError> =>
  Effect.gen(function* () {
    const token = yield* address.token
    const { status, type, text } = yield* Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(`${address.url}${ask.path}`, {
          method: ask.body === undefined ? "GET" : "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) }),
          signal
        })
        const type = response.headers.get("content-type") ?? ""
        return { status: response.status, type, text: await response.text() }
      },
      catch: (error) => lost(reason(error))
    })
    if (status === 200) return yield* parsed(text)
    const body = type.startsWith("application/json") ? yield* parsed(text) : text
    if (isRefusal(body)) return yield* refused(status, body)
    if (status >= 500) return yield* lost(`${status}: ${text.slice(0, 200)}`)
    return yield* refused(status, { code: "NA", cause: text.slice(0, 500) })
  }).pipe(
    Effect.timeoutOrElse({
      duration: callWithin,
      orElse: () => Effect.fail(lost("the door did not answer in time"))
    })
  )

const reason = (error: unknown): string =>
  error instanceof Error
    ? error.cause instanceof Error
      ? `${error.message}: ${error.cause.message}`
      : error.message
    : String(error)

/**
 * Largest number of frames buffered while a program is busy; beyond it the socket is closed and
 * opened again.
 */
const framesMax = 4_096

/** Streams the frames of a socket until the ledger closes or refuses it. */
export const frames = (
  address: Address,
  ask: { readonly path: string; readonly body: unknown }
): Stream.Stream<unknown, DoorError> =>
  Stream.callback<unknown, DoorError>(
    (queue) =>
      Effect.gen(function* () {
        const token = yield* address.token
        yield* Effect.acquireRelease(
          Effect.sync(() => opened(address, { ...ask, token }, queue)),
          (socket) => Effect.sync(() => socket.close())
        )
      }),
    { bufferSize: framesMax, strategy: "dropping" }
  )

const opened = (
  address: Address,
  ask: { readonly path: string; readonly body: unknown; readonly token: string },
  queue: Queue.Queue<unknown, DoorError | Cause.Done>
): WebSocket => {
  const url = `${address.url.replace(/^http/, "ws")}${ask.path}`
  const socket = new WebSocket(url, [`jwt.token.${ask.token}`, "daml.ws.auth"])
  let open = false
  const fail = (error: DoorError) => void Queue.failCauseUnsafe(queue, Cause.fail(error))
  socket.addEventListener("open", () => {
    open = true
    socket.send(JSON.stringify(ask.body))
  })
  socket.addEventListener("message", ({ data }) => {
    const frame = readFrame(data)
    if (frame instanceof DoorLost || frame instanceof DoorRefused) return fail(frame)
    if (!Queue.offerUnsafe(queue, frame)) fail(lost("too many frames wait"))
  })
  socket.addEventListener("error", () => fail(lost("the socket failed", !open)))
  socket.addEventListener("close", ({ code }) => {
    if (code === 1000) Queue.endUnsafe(queue)
    else fail(lost(`the socket closed with ${code}`, !open))
  })
  return socket
}

const readFrame = (data: unknown): unknown => {
  try {
    const frame: unknown = JSON.parse(String(data))
    return isRefusal(frame) ? refused(0, frame) : frame
  } catch {
    return lost("a frame is no JSON")
  }
}
