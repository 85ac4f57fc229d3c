/** Handler that starts a reconciliation run, which ends in the call. */
import { type Reconciler, RunRequest } from "@bursar/engine-core"
import { Shape } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import * as Headers from "../api/Headers.ts"
import * as Answer from "../middleware/Answer.ts"
import * as Faults from "../wire/Faults.ts"
import type { SignedInHandler } from "./Handler.ts"
import { bodyOf, noQuery } from "./write.ts"

const runRequest = Shape.decoder(RunRequest)

export const make = ({
  reconciler,
  basePath
}: {
  readonly reconciler: Reconciler["Service"]
  readonly basePath: string
}): Readonly<Record<string, SignedInHandler>> => ({
  "reconciliation-runs.start": Effect.fnUntraced(function* ({ arrival, caller, body }) {
    const key = Headers.idempotencyKey(arrival.idempotencyKeys)
    const runBody = bodyOf(body, runRequest)
    const refused = Faults.together([key, noQuery(arrival), runBody])
    if (refused !== undefined) return yield* Effect.fail(refused)
    const { said, sent } = yield* Effect.fromResult(runBody)
    const outcome = yield* reconciler.start({
      caller,
      identity: arrival.identity,
      key: yield* Effect.fromResult(key),
      request: said,
      ...sent
    })
    return Answer.made(outcome, { requestId: arrival.identity.requestId, basePath })
  })
})
