/** Gates of the host: the checks that a request passes before its handler, in a fixed order. */
import type { Caller, Refusal } from "@bursar/engine-core"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, type Scope } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Socket } from "node:net"
import { formsOf } from "../api/Route.ts"
import * as Exchange from "../observability/Exchange.ts"
import * as Body from "../wire/Body.ts"
import * as Admission from "./Admission.ts"
import type { Arrival } from "./Arrival.ts"
import { Authentication } from "./Authentication.ts"
import * as Limits from "./Limits.ts"
import * as Problems from "./Problems.ts"
import { RateLimit } from "./RateLimit.ts"
import { SignedRequests } from "./SignedRequests.ts"
import type { AnonymousConnections } from "./AnonymousConnections.ts"

const none = new Uint8Array(0)
const nothingOwed = () => Effect.void

/**
 * A request that has passed the gates. Public routes have no caller, and pass the check of forms
 * alone.
 */
export interface Passed {
  /** The request, with the id of the key that signed it, if any. */
  readonly arrival: Arrival["Service"]
  readonly caller: Caller.Caller | null
  /** Bytes of the body; empty for a route that takes none. */
  readonly body: Uint8Array
  /**
   * Charges the rate budget of the caller for an expensive answer, in calls, once its cost is
   * certain.
   */
  readonly charge: (calls: number) => Effect.Effect<void>
}

type Response = HttpServerResponse.HttpServerResponse

/** Handler of a call that has passed the gates. */
export type Answering = (
  passed: Passed
) => Effect.Effect<Response, Refusal.Refused | Refusal.Unavailable, Scope.Scope>

/**
 * Middleware of steps 4 to 8 of the order of checks
 * (docs/contract/order-of-checks.md#fourteen-steps), around the handler of a route. Arrival.ts
 * makes steps 1 to 3, the handler step 9, the engine steps 10 to 14. A refusal becomes an answer,
 * and from step 5 on every answer has the headers of the caller's budget.
 */
export const make = (anonymous: AnonymousConnections<Socket>) =>
  Effect.gen(function* () {
    const authentication = yield* Authentication
    const rateLimit = yield* RateLimit
    const signedRequests = yield* SignedRequests

    /** Steps 6 to 8, for a caller whose call has been counted. */
    const pass = Effect.fnUntraced(function* (
      arrival: Arrival["Service"],
      caller: Caller.Caller,
      { admits, bodyMax }: Judged
    ): Effect.fn.Return<Passed, Refusal.Refused | Refusal.Unavailable> {
      const { request } = arrival
      // 6. the role
      const denied = Admission.judge(admits, caller)
      if (denied !== undefined) return yield* Effect.fail(denied)
      // 7. the media types of answer and body, and the body's size
      const unacceptable = Limits.acceptable(request.headers.accept, formsOf(arrival.route))
      if (unacceptable !== undefined) return yield* Effect.fail(unacceptable)
      const sent = bodyMax > 0 && Body.isPresent(request)
      const unreadable = sent ? Limits.readable(request) : undefined
      if (unreadable !== undefined) return yield* Effect.fail(unreadable)
      const body = sent ? yield* Body.read(request, bodyMax) : none
      // 8. the signature over method, target and body, then its nonce
      const { method, target, signature } = { ...arrival, method: request.method }
      const keyId = yield* signedRequests.judge({ caller, method, target, sent: signature, body })
      return {
        arrival: { ...arrival, identity: { ...arrival.identity, keyId } },
        caller,
        body,
        charge: (calls) => rateLimit.charge(caller, calls)
      }
    })

    const counted = (arrival: Arrival["Service"], judged: Judged, answer: Answering) =>
      Effect.gen(function* () {
        const { requestId } = arrival.identity
        // 4. the bearer
        const caller = yield* authentication.caller(arrival.authorizations)
        yield* Exchange.signedIn(caller.sub)
        anonymous.signedIn(NodeHttpServerRequest.toIncomingMessage(arrival.request).socket)
        // 5. the rate limit: counted per subject, before anything else is done for the caller
        const { refused, headers } = yield* rateLimit.take(caller)
        const response = yield* (
          refused === undefined
            ? Effect.flatMap(pass(arrival, caller, judged), answer)
            : Effect.fail(refused)
        ).pipe(Problems.refusals(requestId), Problems.defects(requestId))
        return HttpServerResponse.setHeaders(response, headers)
      })

    return (
      arrival: Arrival["Service"],
      answer: Answering
    ): Effect.Effect<Response, never, Scope.Scope> => {
      const { admits, bodyMax } = arrival.route
      return Problems.refusals(arrival.identity.requestId)(
        admits.by === "anyone"
          ? answer({ arrival, caller: null, body: none, charge: nothingOwed })
          : counted(arrival, { admits, bodyMax }, answer)
      )
    }
  })

interface Judged {
  readonly admits: Parameters<typeof Admission.judge>[0]
  readonly bodyMax: number
}
