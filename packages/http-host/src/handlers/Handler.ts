/** Handler of a route, called once all gates have passed. */
import type { Caller, Refusal } from "@bursar/engine-core"
import type { Effect, Scope } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { Arrival } from "../middleware/Arrival.ts"

export type Handled = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Refusal.Refused | Refusal.Unavailable,
  Scope.Scope
>

/** A call that a signed-in caller made. */
export interface Called {
  readonly arrival: Arrival["Service"]
  readonly caller: Caller.Caller
  readonly body: Uint8Array
}

/** The handler of a route that is written by hand. */
export type ByHand = (called: Called) => Handled

/** The handler of a route that needs no sign-in. */
export type Open = (arrival: Arrival["Service"]) => Handled
