/**
 * Handler that takes the file of a statement, which the gates have staged
 * (docs/contract/statements.md#handing-a-file-in).
 */
import { Intake } from "@bursar/engine-core"
import { Effect } from "effect"
import * as Headers from "../api/Headers.ts"
import * as Answer from "../middleware/Answer.ts"
import * as Faults from "../wire/Faults.ts"
import type { SignedInHandler } from "./Handler.ts"
import { asking } from "./read.ts"

const ask = asking({ params: Intake.StatementQuery, standard: new Set(), inPath: new Set() })

export const make = ({
  intake,
  basePath
}: {
  readonly intake: Intake.StatementIntake["Service"]
  readonly basePath: string
}): Readonly<Record<string, SignedInHandler>> => ({
  "external-statements.receive": Effect.fnUntraced(function* ({ arrival, caller, file }) {
    if (file === null) throw new Error("a route that takes a file was passed without one")
    const key = Headers.idempotencyKey(arrival.idempotencyKeys)
    const question = ask(arrival)
    const refused = Faults.together([key, question])
    if (refused !== undefined) return yield* Effect.fail(refused)
    const { params } = yield* Effect.fromResult(question)
    const outcome = yield* intake.receive({
      ...file,
      caller,
      identity: arrival.identity,
      key: yield* Effect.fromResult(key),
      named: {
        externalSourceId: params.externalSourceId,
        instrumentId: params.instrumentId ?? null,
        businessDate: params.businessDate ?? null,
        corrects: params.corrects ?? null
      }
    })
    return Answer.made(outcome, { requestId: arrival.identity.requestId, basePath })
  })
})
