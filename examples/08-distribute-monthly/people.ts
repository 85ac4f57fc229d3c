/** Acts of a month from a program without a host: by four eyes, by the scheduler, by one person. */
// #region a month by people, and what the engine does by itself
import { Venue, Workers } from "@bursar/engine-core"
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

/** Runs every task that is due, due distributions among them, and all work that follows from it. */
export const turn = Effect.gen(function* () {
  yield* Workers.runOnce("schedules")
  yield* (yield* Venue.make).settle
})
// #endregion
