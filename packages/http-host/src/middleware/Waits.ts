/**
 * Long polls: holds an answer back until its record is final, as `Prefer: wait` asks
 * (docs/contract/waiting.md#prefer-wait). A call that waits has a socket and a fiber, and neither a
 * connection of the store nor a place among the subject's reads.
 */
import type { Signals } from "@bursar/engine-core"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Duration, Effect, Fiber, Latch, Metric, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Socket } from "node:net"
import * as Prefer from "../wire/Prefer.ts"
import { WaitLimits } from "../wire/WaitLimits.ts"
import type { Extra } from "./Answer.ts"
import * as Counters from "./Counters.ts"

/** An answer that may be held back. */
interface HeldAnswer<A, E, R> {
  /** The answer as it is without a wait. */
  readonly first: A
  /** Subscribes to the signals after which the answer is to be made anew. */
  readonly signal: Effect.Effect<Signals.Signal, never, R | Scope.Scope>
  /** Makes the answer anew. */
  readonly read: Effect.Effect<A, E, R>
  /** Checks whether no later answer would say more. */
  readonly isFinal: (answer: A) => boolean
}

/** The wait that one call prefers. */
export interface Wait {
  /**
   * Returns the answer once it is final, or as it is when the preferred time is over; at once where
   * the call prefers no wait, no further call may wait, the host stops or the caller has left. The
   * header Preference-Applied says that the preference was honoured.
   */
  readonly hold: <A, E, R>(
    held: HeldAnswer<A, E, R>
  ) => Effect.Effect<{ readonly answer: A; readonly applied: Extra }, E, Exclude<R, Scope.Scope>>
}

/** Runs an effect that only waits, without the place that the call takes among the subject's reads. */
export type Away = <A, E, R>(waiting: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export interface Waits {
  readonly of: (call: {
    readonly subject: string
    readonly request: HttpServerRequest.HttpServerRequest
    readonly away: Away
  }) => Wait
  /** Ends every wait with the answer as it was, and admits no further one. */
  readonly drain: Effect.Effect<void>
}

const notApplied: Extra = {}

/** A call that waits for nothing. */
export const none: Wait = {
  hold: ({ first }) => Effect.succeed({ answer: first, applied: notApplied })
}

export const make = (): Waits => {
  const bySubject = new Map<string, number>()
  const stop = Latch.makeUnsafe(false)
  let inAll = 0
  let isStopping = false

  const count = (subject: string, change: 1 | -1) => {
    inAll += change
    const own = (bySubject.get(subject) ?? 0) + change
    if (own === 0) bySubject.delete(subject)
    else bySubject.set(subject, own)
    return Metric.update(Counters.callsWaiting, inAll)
  }

  /** Takes a place among the waits until the scope ends; false where none is free. */
  const enter = (subject: string) =>
    Effect.flatMap(WaitLimits, ({ hostWaits, subjectWaits }) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          const isFree =
            !isStopping && inAll < hostWaits && (bySubject.get(subject) ?? 0) < subjectWaits
          return isFree ? Effect.as(count(subject, 1), true) : Effect.succeed(false)
        }),
        (entered) => (entered ? count(subject, -1) : Effect.void)
      )
    )

  return {
    of: ({ away, request, subject }) => {
      const seconds = Prefer.waitOf(request.headers["prefer"])
      if (seconds === undefined) return none
      const applied: Extra = { "preference-applied": `wait=${seconds}` }
      const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
      return {
        hold: ({ first, isFinal, read, signal }) =>
          Effect.scoped(
            Effect.gen(function* () {
              if (isFinal(first) || seconds === 0) return { answer: first, applied }
              if (!(yield* enter(subject))) return { answer: first, applied: notApplied }
              const over = yield* Effect.forkScoped(
                Effect.raceFirst(
                  Effect.as(Effect.sleep(Duration.seconds(seconds)), "elapsed" as const),
                  Effect.as(Effect.raceFirst(stop.await, ended(socket)), "cut" as const)
                )
              )
              const next = yield* signal
              for (;;) {
                // Read after the subscription: an end before it is not signalled.
                const answer = yield* read
                if (isFinal(answer)) return { answer, applied }
                const how = yield* away(
                  Effect.raceFirst(Effect.as(next, "signalled" as const), Fiber.join(over))
                )
                if (how === "cut") return { answer, applied: notApplied }
                // A signal may have been lost: the answer is that of the end of the wait.
                if (how === "elapsed") return { answer: yield* read, applied }
              }
            })
          )
      }
    },
    drain: Effect.suspend(() => {
      isStopping = true
      return stop.open
    })
  }
}

/**
 * Completes when the client has ended its side of the connection. It may have left, or still read:
 * either way it sends nothing more, and is answered now.
 */
const ended = (socket: Socket): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (socket.readableEnded) return resume(Effect.void)
    const leave = () => resume(Effect.void)
    socket.once("end", leave)
    return Effect.sync(() => socket.off("end", leave))
  })
