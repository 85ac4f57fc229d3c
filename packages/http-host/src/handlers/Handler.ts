/** Handler of a route, called once all gates have passed. */
import type { Caller, Refusal } from "@bursar/engine-core"
import type { Effect, Scope } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { PassedRequest, StagedFile } from "../middleware/Gates.ts"
import type { Arrival } from "../middleware/Arrival.ts"

export type HandlerAnswer = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Refusal.Refused | Refusal.Unavailable,
  Scope.Scope
>

/** A call of a signed-in caller. */
export interface SignedInCall {
  readonly arrival: Arrival["Service"]
  readonly caller: Caller.Caller
  readonly body: Uint8Array
  /** The body of a route that takes a file; null elsewhere. */
  readonly file: StagedFile | null
  /** Charges the caller's rate budget for an answer of many records. */
  readonly charge: PassedRequest["charge"]
  /** The wait that the caller prefers. */
  readonly wait: PassedRequest["wait"]
}

/** Handler of a hand-written route that needs a caller. */
export type SignedInHandler = (called: SignedInCall) => HandlerAnswer

/** Handler of a hand-written route that needs no caller. */
export type OpenHandler = (arrival: Arrival["Service"]) => HandlerAnswer
