/** Acts of a month from a program without a host: by four eyes, by the scheduler, by one person. */
// #region a month by people, and what the engine does by itself
import { Engine, Workers } from "@bursar/engine-core"
import { Effect } from "effect"
import { anna, approve, done, olive, write } from "../01-embed-the-engine/people.ts"

/** A write that a second person approves, once it is done. */
export const agreed = (...asked: Parameters<typeof write>) =>
  Effect.gen(function* () {
    return yield* done(yield* approve(anna, yield* write(...asked)))
  })

/** One person asks for the month, another signs its figures, and the ledger has every line of it. */
export const executed = (instrumentId: string, month: string) =>
  agreed(olive, "distribution.execute", { body: { instrumentId, month } })

/** Closes the delivered lines, which the engine does by itself an hour after the last of them. */
export const rolled = (distributionId: string) =>
  Effect.gen(function* () {
    const params = { distributionId }
    return yield* done(yield* write(olive, "distribution.roll", { params, body: {} }))
  })

/** Runs every task that is due, due distributions among them, and all work that follows from it. */
export const turn = Effect.gen(function* () {
  yield* Workers.runOnce("schedules")
  yield* (yield* Engine.Engine).settle
})
// #endregion
