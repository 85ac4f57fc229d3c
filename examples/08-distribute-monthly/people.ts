/** Acts of a month from a program without a host: by four eyes, and by one person. */
// #region a month by people
import { Effect } from "effect"
import { people } from "../01-embed-the-engine/people.ts"

/** One person asks for the month, another signs its figures, and the ledger has every line of it. */
export const executed = (instrumentId: string, month: string) =>
  Effect.gen(function* () {
    const { anna, olive } = yield* people
    const action = yield* olive.write("distribution.execute", { instrumentId, month })
    yield* anna.approve(action)
    return yield* olive.done(action)
  })

/** Closes the delivered lines, which the engine does by itself an hour after the last of them. */
export const rolled = (distributionId: string) =>
  Effect.gen(function* () {
    const { olive } = yield* people
    return yield* olive.done(yield* olive.write("distribution.roll", { distributionId }))
  })
// #endregion
