/** Audit records of calls: each refused write, each 401 and 403, each declared read. */
import { Audit, AuditLog, Caller, fingerprintText, type Refusal } from "@bursar/engine-core"
import { Crypto } from "@bursar/engine-core/ports"
import { Effect, Result, type Scope } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { Route } from "../api/Route.ts"
import * as Exchange from "../observability/Exchange.ts"
import * as Body from "../wire/Body.ts"
import type { Arrival } from "./Arrival.ts"
import type { Answering, Passed } from "./Gates.ts"

type Response = HttpServerResponse.HttpServerResponse

/** A request past its gates and answered, as Gates.ts has it. */
export type Pass = (
  arrival: Arrival["Service"],
  answer: Answering
) => Effect.Effect<Response, never, Scope.Scope>

/** An action's key as the engine makes it; other text of a path is not kept. */
const actionKeyPattern = /^ak_[0-9A-Za-z]{26}$/

/** Audit action of a refused call: that of its write, where the call got that far. */
const actionOf = (
  { answers }: Route,
  status: number,
  passed: Passed | undefined
): Audit.Entry["action"] => {
  // Refused by who it is, it has not come to what it asks.
  if (passed === undefined && (status === 401 || status === 403)) return "access.refused"
  if (answers.with === "write") return answers.operation.kind
  return (answers.with === "hand" ? answers.served.action : undefined) ?? "access.refused"
}

const rolesOf = ({ admits }: Route): ReadonlyArray<Caller.Caller["roles"][number]> =>
  admits.by === "role" ? admits.roles : admits.by === "approver" ? ["approver"] : []

/** Members that every audit record of a call has. */
const calledBy = (arrival: Arrival["Service"], passed: Passed | undefined, sub: string | null) => ({
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
 * Logs refused calls and declared reads, around the gates and the handler of every route
 * (docs/contract/audit-log.md#what-is-logged). Logged once each: every 401 and 403, and every write
 * that was refused from the bearer on, 400, 413, 422 and 429 among them, all within the 60 of a
 * subject and minute. Not logged: what is refused by its line, route or request id, before it is a
 * call of anybody; answers of 500 and above, which are no refusal and say nothing of what was kept;
 * replays, which ask for nothing new and were logged when they did. Reads that are declared so are
 * logged before they are given: where that fails they are not given.
 */
export const make = Effect.gen(function* () {
  const auditLog = yield* AuditLog
  const { sha256 } = yield* Crypto

  /** Proves what was asked, where its body could be read. */
  const fingerprintOf = (arrival: Arrival["Service"], passed: Passed | undefined) => {
    if (passed === undefined) return null
    const body = Body.parse(passed.body)
    if (Result.isFailure(body)) return null
    const { method } = arrival.route.path
    return sha256(fingerprintText({ ...arrival, method, body: body.success }))
  }

  const refused = Effect.fnUntraced(function* (
    arrival: Arrival["Service"],
    passed: Passed | undefined,
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
        bodyHash: isWrite ? fingerprintOf(arrival, passed) : null
      })
    )
  })

  /** The answer of a read that is logged, once its record is kept. */
  const read = (
    passed: Passed,
    answering: ReturnType<Answering>
  ): Effect.Effect<Response, Refusal.Refused | Refusal.Unavailable, Scope.Scope> => {
    const { arrival } = passed
    const { answers } = arrival.route
    const audited = answers.with === "one" ? answers.read.audited : undefined
    if (audited === undefined) return answering
    return Effect.tap(answering, (response) =>
      response.status !== 200
        ? Effect.void
        : auditLog.log(
            Audit.entry({
              action: "export.read",
              stage: "read",
              ...calledBy(arrival, passed, null),
              resourceKind: audited.resourceKind,
              resourceId: arrival.params[audited.named] ?? null,
              status: 200,
              detail: { format: response.headers["content-type"]?.includes("csv") ? "csv" : "json" }
            })
          )
    )
  }

  return (pass: Pass): Pass =>
    (arrival, answer) =>
      Effect.suspend(() => {
        let passed: Passed | undefined
        const answered = pass(arrival, (it) => {
          passed = it
          return read(it, answer(it))
        })
        return Effect.tap(answered, (response) => refused(arrival, passed, response))
      })
})
