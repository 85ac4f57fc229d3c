/** Rejects four-eyes actions, and withdraws them for their makers. */
import { Effect } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import { refused } from "../kernel/Refusal.ts"
import { Records } from "../records/Records.ts"
import * as Answers from "./AnswerSteps.ts"
import * as Approval from "./Approval.ts"
import type { FourEyes } from "./FourEyes.ts"
import * as Idempotency from "./Idempotency.ts"
import * as KeyedCall from "./KeyedCall.ts"
import * as Logged from "./Logged.ts"
import * as OpenWrite from "./OpenWrite.ts"
import { Operations } from "./Operations.ts"
import * as SignWrite from "./SignWrite.ts"

/** Rejects an action, or withdraws it where its maker calls; a repeat gets the same answer. */
export const reject = Effect.fnUntraced(function* (
  rejection: Parameters<FourEyes["Service"]["reject"]>[0]
) {
  const records = yield* Records
  const settings = yield* Settings
  const { all } = yield* Operations
  const { actionKey, caller } = rejection
  const makers = new Set(all.flatMap((operation) => operation.makers))
  if (!caller.roles.some((role) => role === "approver" || makers.has(role))) {
    return yield* SignWrite.denied(
      "None of the caller's roles makes or approves a four-eyes write."
    )
  }
  const fingerprint = yield* KeyedCall.fingerprintOfVerb("reject", rejection)
  const keyed = yield* KeyedCall.keyOf(caller, { fingerprint, sentKey: rejection.key })
  const target = Idempotency.target("action", actionKey)
  // A rejection is final, so that a repeated call gets the same answer.
  return yield* KeyedCall.alone(keyed, { target, isForGood: true }, (bound) =>
    Effect.gen(function* () {
      const now = yield* Instant.now
      yield* records.lock(`action:${settings.tenantId}:${actionKey}`)
      const action = yield* records.get(Approval.approvals, actionKey)
      if (!bound.first) return yield* Answers.ofDecision(action, { replayed: true })
      const isMaker = action.maker === caller.sub
      if (!isMaker && caller.roles.includes("auditor")) {
        return yield* Effect.fail(refused("auditor-never-approves"))
      }
      if (!isMaker && !caller.roles.includes("approver")) {
        return yield* SignWrite.denied("The caller does not approve this kind of write.")
      }
      yield* Effect.fromResult(Approval.decided(action))
      const how = isMaker ? "withdraw" : "reject"
      const after = yield* records.append(
        Approval.approvals,
        action,
        { on: how, by: caller.sub, at: now, key: rejection.key, reason: rejection.reason },
        {
          cause: { by: "request", requestId: rejection.identity.requestId },
          now,
          trace: OpenWrite.traceOf(rejection.identity)
        }
      )
      yield* records.audit([Logged.rejected(after, { ...rejection, how })])
      return yield* Answers.ofDecision(after, { replayed: false })
    })
  )
})
