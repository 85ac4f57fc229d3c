/** Service that makes a reconciliation run in the call that asks for it. */
import { Context, type Effect } from "effect"
import type { Plain } from "../../kernel/PlainJson.ts"
import type { Refused, Unavailable } from "../../kernel/Refusal.ts"
import type { Role } from "../../vocabulary/Role.ts"
import type { Caller, RequestIdentity } from "../../writes/Caller.ts"
import type { RunRequest } from "./RunRequest.ts"

/** Roles that start a run. */
export const starters: ReadonlyArray<Role> = ["operator", "risk"]

export const path = "/v1/reconciliation-runs"

/** A call that starts a run. */
export interface StartRunCall {
  readonly caller: Caller
  readonly identity: RequestIdentity
  /** The Idempotency-Key as sent; null: the call is keyed on its body. */
  readonly key: string | null
  readonly request: RunRequest
  /** The body as sent; absent when there was none. */
  readonly body?: Plain
}

/** Answer to a call that starts a run: the encoded record. */
export interface StartRunAnswer {
  readonly value: Plain
  readonly location: string
  /** True where an earlier call under the same key made the run. */
  readonly replayed: boolean
}

type Refusals = Refused<
  "not-found" | "unauthenticated" | "idempotency-key-reused" | "idempotency-in-progress"
>

/** Service that starts reconciliation runs. */
export class Reconciler extends Context.Service<
  Reconciler,
  {
    /**
     * Runs the checks in the call and returns the run's record. Waits 5 s for a run under way of the
     * same instrument, or of every instrument, then refuses `overloaded`, or `idempotency-in-progress`
     * where the run is that of its own key; `retryAfter` is the time that the run is expected to
     * take. Refuses `not-found` where an instrument of the scope does not exist.
     */
    readonly start: (call: StartRunCall) => Effect.Effect<StartRunAnswer, Refusals | Unavailable>
  }
>()("@bursar/engine-core/reconciliation/run/Reconciler") {}
