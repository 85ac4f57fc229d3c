/** What a request passes before a handler sees it, in the one order in which it is refused. */
import type { Caller, Refusal } from "@bursar/engine-core"
import { Effect } from "effect"
import * as Body from "../wire/Body.ts"
import * as Admission from "./Admission.ts"
import type { Arrival } from "./Arrival.ts"
import type { Authentication } from "./Authentication.ts"
import * as Limits from "./Limits.ts"

const none = new Uint8Array(0)

/** Public routes have no caller and pass the check of form and nothing else. */
export interface Passed {
  readonly caller: Caller.Caller | null
  /** The bytes of the body; none for a route that takes none. */
  readonly body: Uint8Array
}

/**
 * Steps 4 to 8 of the order of checks. Steps 1 to 3 are the front's (Arrival.ts); 9, the shape, is
 * the handler's; 10 to 14 are the engine's.
 */
export const pass = Effect.fnUntraced(function* (
  { route, request, authorizations }: Arrival["Service"],
  authentication: Authentication["Service"]
): Effect.fn.Return<Passed, Refusal.Refused | Refusal.Unavailable> {
  if (route.admits.by === "anyone") return { caller: null, body: none }
  // 4. the bearer
  const caller = yield* authentication.caller(authorizations)
  // 5. the rate limit: counted here, per subject, before anything else is done for the caller
  // 6. the role
  const denied = Admission.judge(route.admits, caller)
  if (denied !== undefined) return yield* Effect.fail(denied)
  // 7. the forms of answer and body, and the body's size
  const unacceptable = Limits.acceptable(request.headers.accept)
  if (unacceptable !== undefined) return yield* Effect.fail(unacceptable)
  if (route.bodyMax === 0 || !Body.isPresent(request)) return { caller, body: none }
  const unreadable = Limits.readable(request)
  if (unreadable !== undefined) return yield* Effect.fail(unreadable)
  const body = yield* Body.read(request, route.bodyMax)
  // 8. the signature over method, target and these bytes, then its nonce
  return { caller, body }
})
