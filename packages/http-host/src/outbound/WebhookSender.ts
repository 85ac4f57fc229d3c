/**
 * Adapter of the WebhookSender port: posts to addresses checked for this attempt, within time
 * limits.
 */
import { Ids, WebhookSender } from "@bursar/engine-core/ports"
import { Effect, Layer } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import type { LookupFunction } from "node:net"
import * as TraceContext from "../wire/TraceContext.ts"
import * as WebhookTarget from "./WebhookTarget.ts"

/** Options of the sender of webhooks: the addresses that it may post to, and its times. */
export interface Options extends WebhookTarget.Rules {
  /** Resolver of host names; the system's name servers by default. */
  readonly resolve?: WebhookTarget.Resolve
  /** Certificate authorities that receivers are verified by; the system's by default. */
  readonly authorities?: string
  /** Timeouts of an attempt; those of the contract by default. */
  readonly within?: AttemptTimes
}

/** Milliseconds. */
export interface AttemptTimes {
  /** Resolution of the name; then connection. */
  readonly connect: number
  /** The whole attempt. */
  readonly attempt: number
}

/**
 * Milliseconds that connecting and a whole attempt may take (docs/contract/webhooks.md#retries).
 */
export const usual: AttemptTimes = { connect: 5_000, attempt: 15_000 }

/** Bytes of an answer that are read before the connection is dropped; none is stored. */
const readMax = 64 * 1024

/**
 * Lookup function that returns only the checked addresses, so that the name is not resolved again
 * (DNS rebinding).
 */
const lookupOf =
  (addresses: ReadonlyArray<WebhookTarget.Address>): LookupFunction =>
  (_name, options, answer) => {
    if (options.all === true) return answer(null, [...addresses])
    const [first] = addresses
    if (first === undefined) return answer(new Error("no address was judged"), "", 0)
    return answer(null, first.address, first.family)
  }

const optionsOf = (
  { url, name, addresses }: WebhookTarget.Target,
  {
    headers,
    authorities
  }: { readonly headers: Readonly<Record<string, string>>; readonly authorities?: string }
): https.RequestOptions => ({
  method: "POST",
  protocol: url.protocol,
  hostname: url.hostname,
  port: url.port,
  path: `${url.pathname}${url.search}`,
  headers,
  lookup: lookupOf(addresses),
  // A connection of its own: no pool, and no proxy of the environment.
  agent: false,
  rejectUnauthorized: true,
  maxHeaderSize: 16 * 1024,
  servername: name,
  ...(authorities === undefined ? {} : { ca: authorities })
})

/** Progress of an attempt, which names the failure. */
type Phase = "connect" | "tls" | "sent"

/**
 * Makes one attempt at a target whose addresses were judged: connects to no other, follows nothing, and
 * keeps nothing of the answer's body.
 */
export const send = (
  target: WebhookTarget.Target,
  attempt: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: Buffer
    readonly authorities?: string
    /** Milliseconds left of the attempt, and of the connection. */
    readonly timesLeft: AttemptTimes
  }
): Effect.Effect<WebhookSender.AttemptOutcome> =>
  Effect.callback<WebhookSender.AttemptOutcome>((resume) => {
    const secure = target.url.protocol === "https:"
    let phase: Phase = "connect"
    let answered: WebhookSender.AttemptOutcome | undefined
    const request = (secure ? https : http).request(optionsOf(target, attempt))
    const end = (outcome: WebhookSender.AttemptOutcome) => {
      clearTimeout(connecting)
      clearTimeout(whole)
      request.destroy()
      resume(Effect.succeed(answered ?? outcome))
    }
    const late = () => end({ failure: "timeout" })
    const connecting = setTimeout(
      late,
      Math.min(attempt.timesLeft.connect, attempt.timesLeft.attempt)
    )
    const whole = setTimeout(late, attempt.timesLeft.attempt)
    request.on("socket", (socket) => {
      socket.once("connect", () => {
        clearTimeout(connecting)
        phase = secure ? "tls" : "sent"
      })
      socket.once("secureConnect", () => {
        phase = "sent"
      })
    })
    request.on("error", () => end({ failure: phase === "tls" ? "tls" : "connect" }))
    request.on("response", (response) => {
      // The status decides the outcome; the body is drained for a while and dropped.
      answered = {
        status: response.statusCode ?? 0,
        retryAfter: response.headers["retry-after"] ?? null
      }
      const done = () => end({ failure: "connect" })
      let read = 0
      response.on("data", (part: Buffer) => {
        read += part.length
        if (read > readMax) done()
      })
      response.on("end", done)
      response.on("error", done)
      response.on("close", done)
    })
    request.end(attempt.body)
    return Effect.sync(() => {
      clearTimeout(connecting)
      clearTimeout(whole)
      request.destroy()
    })
  })

/** Sender of webhooks by options. */
export const make = (options: Options, ids: Ids["Service"]): WebhookSender.Sender => {
  const within = options.within ?? usual
  const locate = WebhookTarget.locating({
    rules: options,
    resolve: options.resolve ?? WebhookTarget.resolveByDns
  })
  return {
    sends: "yes",
    judge: (url) =>
      Effect.match(locate(url), {
        onSuccess: () => undefined,
        onFailure: ({ message }) => message
      }),
    post: ({ url, headers, body, trace: part }) =>
      Effect.gen(function* () {
        const began = performance.now()
        const target = yield* Effect.timeoutOrElse(locate(url), {
          duration: within.connect,
          orElse: () => Effect.fail(new WebhookTarget.NoTarget({ failure: "dns", message: "" }))
        })
        const trace = yield* Effect.provideService(TraceContext.outgoingFor(part), Ids, ids)
        const bytes = Buffer.from(body, "utf8")
        return yield* send(target, {
          headers: { ...headers, ...trace, "content-length": String(bytes.length) },
          body: bytes,
          timesLeft: { ...within, attempt: within.attempt - (performance.now() - began) },
          ...(options.authorities === undefined ? {} : { authorities: options.authorities })
        })
      }).pipe(Effect.catchTag("NoTarget", ({ failure }) => Effect.succeed({ failure })))
  }
}

/** Sender of webhooks for an engine. */
export const layer = (options: Options): Layer.Layer<never, never, Ids> =>
  Layer.effect(
    WebhookSender.WebhookSender,
    Effect.map(Ids, (ids) => make(options, ids))
  )
