/** Approving and rejecting a four-eyes action. */
import type { FourEyes } from "@bursar/engine-core"
import { PlainJson, Shape } from "@bursar/engine-core/kernel"
import { Effect, Result } from "effect"
import * as Headers from "../api/Headers.ts"
import { ApproveBody, RejectBody } from "../api/WritesApi.ts"
import * as Answer from "../middleware/Answer.ts"
import * as Body from "../wire/Body.ts"
import * as Together from "../wire/Shape.ts"
import type { ByHand } from "./Handler.ts"
import { answered, noQuery } from "./write.ts"

const approveBody = Shape.decoder(ApproveBody)
const rejectBody = Shape.decoder(RejectBody)
const inBody = () => "/body"

/** A body that may be left out reads as an empty object. */
const bodyOf = <A>(bytes: Uint8Array, decoder: Shape.Decoder<A>) =>
  Result.flatMap(Body.parse(bytes), (json) => decoder.decode(json ?? {}, inBody))

export const make = (of: {
  readonly fourEyes: FourEyes["Service"]
  readonly basePath: string
}): Readonly<Record<string, ByHand>> => ({
  "approvals.approve": Effect.fnUntraced(function* ({ arrival, caller, body }) {
    const key = Headers.idempotencyKey(arrival.idempotencyKeys)
    const refused = Together.together([key, noQuery(arrival), bodyOf(body, approveBody)])
    if (refused !== undefined) return yield* Effect.fail(refused)
    const answer = yield* of.fourEyes.approve({
      actionKey: arrival.params.actionKey ?? "",
      caller,
      identity: arrival.identity
    })
    return answered(answer, arrival.identity.requestId, of.basePath)
  }),

  "approvals.reject": Effect.fnUntraced(function* ({ arrival, caller, body }) {
    const key = Headers.idempotencyKey(arrival.idempotencyKeys)
    const given = bodyOf(body, rejectBody)
    const refused = Together.together([key, noQuery(arrival), given])
    if (refused !== undefined) return yield* Effect.fail(refused)
    const { value } = yield* of.fourEyes.reject({
      actionKey: arrival.params.actionKey ?? "",
      caller,
      identity: arrival.identity,
      key: yield* Effect.fromResult(key),
      reason: (yield* Effect.fromResult(given)).reason ?? null
    })
    return Answer.json({
      requestId: arrival.identity.requestId,
      status: 200,
      text: PlainJson.stringify(value)
    })
  })
})
