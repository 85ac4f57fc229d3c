/**
 * Audit records of calls: refused writes, every 401 and 403, and the reads that are declared as
 * audited.
 */
import {
  Audit,
  AuditLog,
  Caller,
  loggedFingerprintOf,
  type Refusal,
  Settings
} from "@bursar/engine-core"
import { Crypto } from "@bursar/engine-core/ports"
import { Effect, Result, type Scope } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { Route } from "../api/Route.ts"
import * as Exchange from "../observability/Exchange.ts"
import * as Body from "../wire/Body.ts"
import type { Arrival } from "./Arrival.ts"
import type { RequestHandler, PassedRequest } from "./Gates.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Handler of a request behind the gates, as Gates.ts defines it. */
type Pass = (
  arrival: Arrival["Service"],
  answer: RequestHandler
) => Effect.Effect<Response, never, Scope.Scope>

/** Form of an action's key; other text of a path is not stored. */
const actionKeyPattern = /^ak_[0-9A-Za-z]{26}$/

/** Audit action of a refused call: the write's own, where the call reached it. */
const actionOf = (
  { answers }: Route,
  status: number,
  passed: PassedRequest | undefined
): Audit.Entry["action"] => {
  // A caller that was not accepted has not reached the operation.
  if (passed === undefined && (status === 401 || status === 403)) return "access.refused"
  if (answers.with === "write") return answers.operation.kind
  return (answers.with === "hand" ? answers.served.action : undefined) ?? "access.refused"
}

const rolesOf = ({ admits }: Route): ReadonlyArray<Caller.Caller["roles"][number]> =>
  admits.by === "role" ? admits.roles : admits.by === "approver" ? ["approver"] : []

/** Members that every audit record of a call has. */
const calledBy = (
  arrival: Arrival["Service"],
  passed: PassedRequest | undefined,
  sub: string | null
) => ({
  actor: passed?.caller?.sub ?? sub,
  role:
    passed?.caller === undefined || passed.caller === null
      ? null
      : (Caller.roleOf(passed.caller, rolesOf(arrival.route)) ?? null),
  method: arrival.route.path.method,
  route: arrival.route.path.template,
  requestId: arrival.identity.requestId,
  traceId: arrival.identity.traceId,
  keyId: passed?.arrival.identity.keyId ?? null
})

/**
 * Middleware around the gates and the handler of every route: writes the audit records of refused
 * calls and of audited reads (docs/contract/audit-log.md#what-is-logged). Logged once each: every
 * 401 and 403, and every write refused from the check of the bearer on (400, 413, 422, 429 and
 * others), at most 60 for a subject and minute. Not logged: refusals by request line, route or
 * request id, which come before the caller is identified; answers of 500 and above, which do not
 * say whether something was stored; replays, whose first call was logged. An audited read is logged
 * before its answer is sent: where the log fails, the read fails.
 */
export const make = Effect.gen(function* () {
  const auditLog = yield* AuditLog
  const crypto = yield* Crypto
  const settings = yield* Settings

  /** Fingerprint of the call's content, where its body could be read. */
  const fingerprintOf = Effect.fnUntraced(
    function* (arrival: Arrival["Service"], passed: PassedRequest | undefined) {
      if (passed === undefined) return null
      if (passed.file !== null) return passed.file.staged.fingerprint
      const body = Body.parse(passed.body)
      if (Result.isFailure(body)) return null
      const { answers, path } = arrival.route
      const operation = answers.with === "write" ? answers.operation : {}
      const call = { ...arrival, method: path.method, body: body.success }
      return yield* loggedFingerprintOf(operation, call)
    },
    Effect.provideService(Crypto, crypto),
    Effect.provideService(Settings, settings)
  )

  const refused = Effect.fnUntraced(function* (
    arrival: Arrival["Service"],
    passed: PassedRequest | undefined,
    response: Response
  ) {
    const { status } = response
    const { route, params } = arrival
    const isWrite = route.path.method !== "GET"
    if (status < 400 || status >= 500) return
    if (!isWrite && status !== 401 && status !== 403) return
    const exchange = yield* Exchange.Current
    const { actionKey = "" } = params
    yield* auditLog.note(
      Audit.entry({
        action: actionOf(route, status, passed),
        stage: "refused",
        ...calledBy(arrival, passed, exchange?.sub ?? null),
        resourceKind: route.answers.with === "write" ? route.answers.operation.resource.kind : null,
        actionKey: actionKeyPattern.test(actionKey) ? actionKey : null,
        status,
        problem: Exchange.slugOf(response) ?? null,
        bodyHash: isWrite ? yield* fingerprintOf(arrival, passed) : null
      })
    )
  })

  /** Logs an audited read and returns its answer once the record is stored. */
  const read = (
    passed: PassedRequest,
    answering: ReturnType<RequestHandler>
  ): Effect.Effect<Response, Refusal.Refused | Refusal.Unavailable, Scope.Scope> => {
    const { arrival } = passed
    const { answers } = arrival.route
    const audited = "read" in answers ? answers.read.audited : undefined
    if (audited === undefined || "as" in audited) return answering
    return Effect.tap(answering, (response) => {
      const format = response.headers["content-type"]?.includes("csv") ? "csv" : "json"
      // A copy that is current (304) is read as an answer is.
      return response.status >= 400 || (audited.only ?? format) !== format
        ? Effect.void
        : auditLog.log(
            Audit.entry({
              action: "export.read",
              stage: "read",
              ...calledBy(arrival, passed, null),
              resourceKind: audited.resourceKind,
              resourceId: audited.named === null ? null : (arrival.params[audited.named] ?? null),
              status: response.status,
              detail: { format }
            })
          )
    })
  }

  /** Logs a search, with the kinds and the number of its results, before the answer has ended. */
  const searched = (passed: PassedRequest): PassedRequest => {
    const { answers } = passed.arrival.route
    const audited = "read" in answers ? answers.read.audited : undefined
    if (audited === undefined || !("as" in audited)) return passed
    return {
      ...passed,
      found: ({ params, records }) =>
        auditLog.log(
          Audit.entry({
            action: "search.read",
            stage: "read",
            ...calledBy(passed.arrival, passed, null),
            status: 200,
            detail: { ...audited.detail(params), results: records }
          })
        )
    }
  }

  return (pass: Pass): Pass =>
    (arrival, answer) =>
      Effect.suspend(() => {
        let passed: PassedRequest | undefined
        const answered = pass(arrival, (it) => {
          passed = it
          return read(it, answer(searched(it)))
        })
        return Effect.tap(answered, (response) => refused(arrival, passed, response))
      })
})
