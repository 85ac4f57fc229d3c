/** Registry of the requests in progress, by which a stop ends the work on one of them. */
import { Refusal } from "@bursar/engine-core"
import { Effect } from "effect"
import { HttpEffect, type HttpServerResponse } from "effect/http"
import * as Exchange from "../observability/Exchange.ts"
import * as Problems from "./Problems.ts"

export interface InFlight {
  /**
   * Runs the work on a request so that `cut` can end it. Work that the host ends, by `cut` or
   * because its time to stop is over, is answered with `not-ready` and closes its connection
   * (docs/contract/instances.md#a-stop).
   */
  readonly track: (exchange: {
    /** Node's object of the request. */
    readonly incoming: object
    /** Node's object of the answer. */
    readonly outgoing: { readonly destroyed: boolean }
    readonly requestId: string
  }) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Ends the work on a request. */
  readonly cut: (incoming: object) => void
}

const retryAfter = 5

const stopped = Refusal.unavailable("not-ready", "The host is being stopped.", retryAfter)

/** Status of the library's answer to work that the host has ended. */
const endedByHost = 503

export const make = (): InFlight => {
  const cuts = new WeakMap<object, () => void>()
  return {
    track:
      ({ incoming, outgoing, requestId }) =>
      (work) =>
        Effect.flatMap(Exchange.Current, (exchange) =>
          Effect.withFiber((fiber) => {
            cuts.set(incoming, () => fiber.interruptUnsafe())
            HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, (_, response) => {
              // A client that has left is not answered.
              if (outgoing.destroyed || !isBare(response)) return Effect.succeed(response)
              const problem = Problems.answer(stopped, requestId, { connection: "close" })
              if (exchange !== null) exchange.response = problem
              return Effect.succeed(problem)
            })
            return work
          })
        ),
    cut: (incoming) => cuts.get(incoming)?.()
  }
}

/** Checks for the answer that the library makes of interrupted work: every other one has an id. */
const isBare = ({ status, headers }: HttpServerResponse.HttpServerResponse): boolean =>
  status === endedByHost && headers["x-request-id"] === undefined
