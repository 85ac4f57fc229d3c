/** Maps refusals to problems, and defects to a problem without detail. */
import type { Refusal } from "@bursar/engine-core"
import { Cause, Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import * as Problem from "../api/Problem.ts"
import * as Answer from "./Answer.ts"

export const answer = (
  refused: Refusal.Refused | Refusal.Unavailable,
  requestId: string,
  extra?: Answer.Extra
): HttpServerResponse.HttpServerResponse =>
  Answer.problem(Problem.from(refused, requestId), { ...closing(refused.slug), ...extra })

/** After these refusals the connection is closed, because the rest of the request is not read. */
const closing = (slug: Refusal.Slug): Answer.Extra =>
  slug === "body-too-large" || slug === "request-timeout" ? { connection: "close" } : {}

/** Turns refusals into problems. */
export const refusals =
  (requestId: string) =>
  <R>(
    effect: Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      Refusal.Refused | Refusal.Unavailable,
      R
    >
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
    Effect.catch(effect, (refused) => Effect.succeed(answer(refused, requestId)))

/** Catches defects: logs the cause and answers `internal` with the request id alone. */
export const defects =
  (requestId: string) =>
  <E, R>(
    effect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
    Effect.catchCause(effect, (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.as(
            Effect.logError("a request failed without a plan", cause).pipe(
              Effect.annotateLogs({ requestId })
            ),
            Answer.problem(Problem.internal(requestId))
          )
    )
