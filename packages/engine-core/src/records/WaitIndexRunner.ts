/** Scheduled task that adds the records of before to the index of waiting records, once for a store. */
import { Effect } from "effect"
import type { Task } from "../engine/Schedule.ts"
import { Records } from "./Records.ts"

/** Milliseconds until the first turn, and between turns, in one of which a program with more kinds fills them. */
const first = 1_000
const every = 60_000

export const indexingWaits: Task<Records> = {
  name: "waiting-records",
  doc: "Adds the records that were written before the index of waiting records to it.",
  every: first,
  run: Effect.fn("waiting-records")(function* (turn) {
    const { waits } = yield* Records
    yield* waits.fill
    yield* turn.next({ delay: every, state: "" })
  })
}
