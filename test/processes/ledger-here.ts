/**
 * Stand-in for the simulated ledger in a host under test, since that ledger belongs to one process
 * alone: the same port, answered by the process that started the host.
 */
import { Ledger } from "@bursar/engine-core/ports"
import { Cause, Context, Effect, Layer, Queue, Stream } from "effect"
import { type Answer, decode, encode, type Question } from "./wire.ts"

/** A host asks this of its own ledger only where it was given no token. */
export class Participant extends Context.Service<Participant, { readonly admin: never }>()(
  "@bursar/test/processes/Participant"
) {}

export const layerPostgres = (): Layer.Layer<never> => Layer.empty

export const twiceIn = (): null => null

/** Users of the ledger that earlier starts left in the host's own database: it has none there. */
export const existingUsers = (): Effect.Effect<ReadonlySet<string>> => Effect.succeed(new Set())

/** The host has no door of its own to the ledger. */
export class Door extends Context.Service<Door, { readonly url: string }>()(
  "@bursar/test/processes/Door"
) {}
export const layer = (): Layer.Layer<Door> => Layer.succeed(Door, { url: "http://127.0.0.1" })

/** Whether the process stops itself at its next submission, right before it leaves. */
let isPausedBeforeSending = false

process.on("message", (message: unknown) => {
  if (typeof message === "object" && message !== null && "pauseBeforeSending" in message) {
    isPausedBeforeSending = message.pauseBeforeSending === true
  }
})

const pausedWhereArmed = Effect.sync(() => {
  if (!isPausedBeforeSending) return
  isPausedBeforeSending = false
  process.kill(process.pid, "SIGSTOP")
})

const waiting = new Map<number, (answer: Answer) => void>()
let callCount = 0

process.on("message", (message: unknown) => {
  if (typeof message !== "object" || message === null || !("kind" in message)) return
  const answer = message as Answer
  waiting.get(answer.ledger)?.(answer)
})

const send = (question: Question): void => void process.send?.(question)

const stream = (call: Question["call"], given: unknown): Stream.Stream<unknown, unknown> =>
  Stream.callback<unknown, unknown>(
    (queue) =>
      Effect.gen(function* () {
        const ledger = ++callCount
        yield* Effect.acquireRelease(
          Effect.sync(() => {
            waiting.set(ledger, ({ kind, value }) => {
              if (kind === "element") Queue.offerUnsafe(queue, decode(value))
              else if (kind === "end") Queue.endUnsafe(queue)
              else if (kind === "failure") Queue.failCauseUnsafe(queue, Cause.fail(decode(value)))
              else Queue.failCauseUnsafe(queue, Cause.die(new Error(String(value))))
            })
            send({ ledger, call, given: encode(given) })
          }),
          () =>
            Effect.sync(() => {
              waiting.delete(ledger)
              send({ ledger, call: "stop", given: null })
            })
        )
      }),
    // Unbounded: a slow reader loses no answer.
    { bufferSize: Number.POSITIVE_INFINITY }
  )

const one = <A, E>(call: Question["call"], given: unknown): Effect.Effect<A, E> =>
  Effect.flatMap(Stream.runHead(stream(call, given)), (found) =>
    found._tag === "Some"
      ? Effect.succeed(found.value)
      : Effect.die(new Error(`the ledger did not answer ${call}`))
  ) as Effect.Effect<A, E>

const port = Effect.gen(function* () {
  const venue = yield* one<Ledger.Ledger["Service"]["venue"], never>("venue", null)
  return {
    venue,
    submit: (submission) =>
      Effect.andThen(
        pausedWhereArmed,
        one<Ledger.Receipt, Ledger.SubmitError>("submit", submission)
      ),
    outcome: (query) => one("outcome", query),
    updates: (query) => stream("updates", query) as Stream.Stream<Ledger.Update, Ledger.ReadError>,
    acs: (query) => stream("acs", query) as Stream.Stream<Ledger.Active, Ledger.ReadError>,
    ledgerEnd: one("ledgerEnd", null),
    horizon: one("horizon", null),
    describe: one("describe", null),
    packages: (names) => one("packages", names)
  } satisfies Ledger.Ledger["Service"]
})

export const Venue = { layer: () => Layer.effect(Ledger.Ledger, port) }
