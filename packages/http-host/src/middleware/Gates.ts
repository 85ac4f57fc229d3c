/** Gates of the host: the checks that a request passes before its handler, in a fixed order. */
import { type Caller, Intake, Refusal } from "@bursar/engine-core"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Effect, type Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Socket } from "node:net"
import { formsOf, type Route } from "../api/Route.ts"
import type { Admits } from "../api/Served.ts"
import * as Exchange from "../observability/Exchange.ts"
import * as Body from "../wire/Body.ts"
import { Uploads } from "../wire/Uploads.ts"
import type { Arrival } from "./Arrival.ts"
import * as AnswerBudget from "./AnswerBudget.ts"
import { Authentication } from "./Authentication.ts"
import * as Limits from "./Limits.ts"
import * as Problems from "./Problems.ts"
import { RateLimit } from "./RateLimit.ts"
import { SignedRequests } from "./SignedRequests.ts"
import type { AnonymousConnections } from "./AnonymousConnections.ts"
import * as Waits from "./Waits.ts"

const none = new Uint8Array(0)
const noFile = { file: null, hashed: undefined }
const nothingOwed = () => Effect.void

/**
 * A request that has passed the gates. Public routes have no caller, and pass the check of forms
 * alone.
 */
export interface PassedRequest {
  /** The request, with the id of the key that signed it, if any. */
  readonly arrival: Arrival["Service"]
  readonly caller: Caller.Caller | null
  /** Bytes of the body; empty for a route that takes none. */
  readonly body: Uint8Array
  /** The body of a route that takes a file: staged, and not read yet. Null elsewhere. */
  readonly file: StagedFile | null
  /**
   * Charges the rate budget of the caller for an expensive answer, in calls, once its cost is
   * certain.
   */
  readonly charge: (calls: number) => Effect.Effect<void>
  /** Logs an audited list once its rows are counted, before the last of them is sent. */
  readonly found: (list: {
    readonly records: number
    readonly params: unknown
  }) => Effect.Effect<void, Refusal.Unavailable>
  /** The wait that the caller prefers. */
  readonly wait: Waits.Wait
}

/** A file in the stage, with the media type that it came as. */
export interface StagedFile extends Limits.FileType<Intake.MediaType> {
  readonly staged: Intake.StagedFile
}

type Response = HttpServerResponse.HttpServerResponse

/** Handler of a call that has passed the gates. */
export type RequestHandler = (
  passed: PassedRequest
) => Effect.Effect<Response, Refusal.Refused | Refusal.Unavailable, Scope.Scope>

/**
 * Middleware of steps 4 to 8 of the order of checks
 * (docs/contract/order-of-checks.md#fourteen-steps), around the handler of a route. Arrival.ts
 * makes steps 1 to 3, the handler step 9, the engine steps 10 to 14. A refusal becomes an answer,
 * and from step 5 on every answer has the headers of the caller's budget.
 */
export const make = ({
  anonymous,
  waits
}: {
  readonly anonymous: AnonymousConnections<Socket>
  readonly waits: Waits.Waits
}) =>
  Effect.gen(function* () {
    const authentication = yield* Authentication
    const rateLimit = yield* RateLimit
    const signedRequests = yield* SignedRequests
    const intake = yield* Intake.StatementIntake
    const budget = yield* AnswerBudget.make

    /**
     * Step 7 of a route that takes a file: the file goes to the stage as it arrives. Returns it with
     * the inputs of the signature's check.
     */
    const stage = Effect.fnUntraced(function* (
      { query, request }: Arrival["Service"],
      mediaTypes: ReadonlyArray<Intake.MediaType>
    ) {
      const arrivedAt = yield* Clock.currentTimeMillis
      const { bytesMax, within } = yield* Uploads
      const type = yield* Effect.fromResult(Limits.fileTypeOf(request, mediaTypes))
      const bytes = Body.isPresent(request) ? Body.stream(request, bytesMax) : Stream.empty
      const staged = yield* Effect.timeoutOrElse(intake.stage({ query, bytes }), {
        duration: within,
        orElse: () => Effect.fail(Refusal.refused("request-timeout"))
      })
      return { file: { ...type, staged }, hashed: { hash: staged.contentHash, arrivedAt, within } }
    })

    /** Step 7 of a route that takes JSON: the body is read whole. */
    const buffer = Effect.fnUntraced(function* (
      { request }: Arrival["Service"],
      bodyMax: number
    ): Effect.fn.Return<Uint8Array, Refusal.Refused> {
      if (bodyMax === 0 || !Body.isPresent(request)) return none
      const unreadable = Limits.readable(request)
      return unreadable === undefined
        ? yield* Body.read(request, bodyMax)
        : yield* Effect.fail(unreadable)
    })

    /** Steps 6 to 8, for a caller whose call has been counted. */
    const pass = Effect.fnUntraced(function* (
      arrival: Arrival["Service"],
      { away, caller }: { readonly caller: Caller.Caller; readonly away: Waits.Away },
      { admits, bodyMax, file: takes }: RouteRules
    ): Effect.fn.Return<PassedRequest, Refusal.Refused | Refusal.Unavailable, Scope.Scope> {
      const { request } = arrival
      // 6. the role
      const refusal = roleRefusal(admits, caller)
      if (refusal !== undefined) return yield* Effect.fail(refusal)
      // 7. the media types of answer and body, and the body's size
      const unacceptable = Limits.acceptable(request.headers.accept, formsOf(arrival.route))
      if (unacceptable !== undefined) return yield* Effect.fail(unacceptable)
      const { file, hashed } =
        takes === undefined ? noFile : yield* stage(arrival, takes.mediaTypes)
      const body = file === null ? yield* buffer(arrival, bodyMax) : none
      // 8. the signature over method, target and body, then its nonce
      const { method, target, signature } = { ...arrival, method: request.method }
      const keyId = yield* signedRequests.judge({
        caller,
        method,
        target,
        sentHeaders: signature,
        body: hashed ?? body
      })
      return {
        arrival: { ...arrival, identity: { ...arrival.identity, keyId } },
        caller,
        body,
        file,
        charge: (calls) => rateLimit.charge(caller, calls),
        found: () => Effect.void,
        wait: waits.of({ subject: caller.sub, request, away })
      }
    })

    const counted = (arrival: Arrival["Service"], judged: RouteRules, answer: RequestHandler) =>
      Effect.gen(function* () {
        const { requestId } = arrival.identity
        // 4. the bearer
        const caller = yield* authentication.caller(arrival.authorizations)
        yield* Exchange.signedIn(caller.sub)
        anonymous.signedIn(NodeHttpServerRequest.toIncomingMessage(arrival.request).socket)
        // 5. the rate limit: counted per subject, before anything else is done for the caller
        const { refused, headers } = yield* rateLimit.take(caller)
        const sent = {
          subject: caller.sub,
          to: NodeHttpServerRequest.toServerResponse(arrival.request)
        }
        const { method } = arrival.route.path
        const counting = method === "GET" ? budget.read(sent) : budget.write(sent)
        const response = yield* (
          refused === undefined
            ? counting((away) => Effect.flatMap(pass(arrival, { caller, away }, judged), answer))
            : Effect.fail(refused)
        ).pipe(Problems.refusals(requestId), Problems.defects(requestId))
        // The call of a refused signature is counted too, so that its 401 says what is left.
        return HttpServerResponse.setHeaders(response, headers)
      })

    return (
      arrival: Arrival["Service"],
      answer: RequestHandler
    ): Effect.Effect<Response, never, Scope.Scope> => {
      const { admits, bodyMax, file } = arrival.route
      return Problems.refusals(arrival.identity.requestId)(
        admits.by === "anyone"
          ? answer({
              arrival,
              caller: null,
              body: none,
              file: null,
              charge: nothingOwed,
              found: () => Effect.void,
              wait: Waits.none
            })
          : counted(arrival, { admits, bodyMax, file }, answer)
      )
    }
  })

/** Rules of a route that has a caller. */
type CallerRules = Exclude<Admits, { readonly by: "anyone" }>

const denied = Refusal.refused("permission-denied")

/** Refusal of a caller whose roles a route does not admit, before the request's body is read. */
const roleRefusal = (
  admits: CallerRules,
  caller: Caller.Caller
): Refusal.Refused<"permission-denied" | "auditor-never-approves"> | undefined => {
  if (admits.by === "approver") {
    if (caller.roles.includes("auditor")) return Refusal.refused("auditor-never-approves")
    return caller.roles.includes("approver") ? undefined : denied
  }
  return admits.roles.some((role) => caller.roles.includes(role)) ? undefined : denied
}

interface RouteRules {
  readonly admits: CallerRules
  readonly bodyMax: number
  readonly file: Route["file"]
}
