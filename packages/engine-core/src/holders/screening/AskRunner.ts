/** Queues screening requests of holders, in the transaction that causes them. */
import { Effect } from "effect"
import type * as Instant from "../../kernel/Instant.ts"
import { EngineScreening } from "../../ports/ScreeningSource.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Holder, holders, isEnded } from "../holder/Holder.ts"
import { screenings } from "./Screening.ts"
import * as ScreeningRules from "./ScreeningRules.ts"

/** Name of the work queue of requests to the screening source. */
export const queue = "screenings"

/**
 * Requests a screening of the holder, where this deployment screens and the state of the holder's
 * screening allows a request. The request is sent after the transaction has committed. Must run
 * inside `Records.transact`.
 */
export const ask = Effect.fnUntraced(function* (holder: Stored<Holder>, act: Act) {
  const source = yield* EngineScreening
  const screening = ScreeningRules.afterRequest(holder.screening)
  if (source.screens === "no" || screening === undefined || isEnded(holder)) return holder
  const records = yield* Records
  const { holderId } = holder
  // Unique for each request: recording the request raises the holder's version.
  const requestId = `${holderId}:${holder.version}`
  yield* records
    .open(screenings, { requestId, holderId, askedAt: act.now, finding: null }, act)
    .pipe(
      Effect.catchTag("Refused", () =>
        Effect.die(new Error("a screening request id was opened twice"))
      )
    )
  yield* records.enqueue([{ queue, itemId: requestId, resource: holderId, payload: "", delay: 0 }])
  return yield* records.append(holders, holder, { on: "screen", screening }, act)
})

/** Requests another screening of the holder; a clear one is recorded as stale first. */
export const askAgain = Effect.fnUntraced(function* (holder: Stored<Holder>, now: Instant.Instant) {
  const records = yield* Records
  const act: Act = { cause: { by: "clock" }, now }
  const screening = holder.screening === null ? undefined : ScreeningRules.aged(holder.screening)
  const aged =
    screening === undefined
      ? holder
      : yield* records.append(holders, holder, { on: "screen", screening }, act)
  return yield* ask(aged, act)
})
