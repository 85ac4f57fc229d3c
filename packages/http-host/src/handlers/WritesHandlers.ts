/** Handlers that approve and reject four-eyes actions. */
import { PlainJson, Shape } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import * as Headers from "../api/Headers.ts"
import { ApproveBody, RejectBody } from "../api/WritesApi.ts"
import * as Answer from "../middleware/Answer.ts"
import * as Faults from "../wire/Faults.ts"
import type { SignedInHandler } from "./Handler.ts"
import { writeAnswerOf, bodyOf, noQuery, type WriteServices } from "./write.ts"

const approveBody = Shape.decoder(ApproveBody)
const rejectBody = Shape.decoder(RejectBody)
export const make = (services: WriteServices): Readonly<Record<string, SignedInHandler>> => ({
  "approvals.approve": Effect.fnUntraced(function* ({ arrival, caller, body, wait }) {
    const key = Headers.idempotencyKey(arrival.idempotencyKeys)
    const figuresHashSeen = Headers.ifMatch(arrival.ifMatches)
    const approval = bodyOf(body, approveBody)
    const refused = Faults.together([key, figuresHashSeen, noQuery(arrival), approval])
    if (refused !== undefined) return yield* Effect.fail(refused)
    const answer = yield* services.fourEyes.approve({
      actionKey: arrival.params.actionKey ?? "",
      caller,
      identity: arrival.identity,
      key: yield* Effect.fromResult(key),
      figuresHashSeen: yield* Effect.fromResult(figuresHashSeen),
      ...(yield* Effect.fromResult(approval)).sent
    })
    const { requestId } = arrival.identity
    return yield* writeAnswerOf(answer, services, { caller, requestId, wait })
  }),

  "approvals.reject": Effect.fnUntraced(function* ({ arrival, caller, body }) {
    const key = Headers.idempotencyKey(arrival.idempotencyKeys)
    const rejection = bodyOf(body, rejectBody)
    const refused = Faults.together([key, noQuery(arrival), rejection])
    if (refused !== undefined) return yield* Effect.fail(refused)
    const { said, sent } = yield* Effect.fromResult(rejection)
    const { value, replayed } = yield* services.fourEyes.reject({
      actionKey: arrival.params.actionKey ?? "",
      caller,
      identity: arrival.identity,
      key: yield* Effect.fromResult(key),
      reason: said.reason ?? null,
      ...sent
    })
    return Answer.json({
      requestId: arrival.identity.requestId,
      status: 200,
      text: PlainJson.stringify(value),
      ...(replayed ? { extra: { "idempotent-replayed": "true" } } : {})
    })
  })
})
