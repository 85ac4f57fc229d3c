/** Queues screening requests, one for each holder and cause. */
import { Effect } from "effect"
import type * as Instant from "../../kernel/Instant.ts"
import { ScreeningSource } from "../../ports/ScreeningSource.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Holder, holders, isEnded } from "../holder/Holder.ts"
import { screenings } from "./Screening.ts"
import * as ScreeningRules from "./ScreeningRules.ts"

/** The queue whose items are requests to the source. */
export const queue = "screenings"

/**
 * Has a holder screened, where this deployment screens and the holder's screening may be asked for
 * as it stands. The request is sent once this transaction is committed. Only inside
 * `Records.transact`.
 */
export const ask = Effect.fnUntraced(function* (holder: Stored<Holder>, act: Act) {
  const source = yield* ScreeningSource
  const screening = ScreeningRules.asked(holder.screening)
  if (source.screens === "no" || screening === undefined || isEnded(holder)) return holder
  const records = yield* Records
  const { holderId } = holder
  // One more than any request before it: the record moves with each.
  const requestId = `${holderId}:${holder.version}`
  yield* records
    .open(screenings, { requestId, holderId, askedAt: act.now, finding: null }, act)
    .pipe(Effect.catchTag("Refused", () => Effect.die(new Error("a request id came twice"))))
  yield* records.enqueue([{ queue, itemId: requestId, resource: holderId, payload: "", delay: 0 }])
  return yield* records.record(holders, holder, { on: "screen", screening }, act)
})

/** Asks about a holder anew: what is clear still is first noted as too old. */
export const again = Effect.fnUntraced(function* (holder: Stored<Holder>, now: Instant.Instant) {
  const records = yield* Records
  const act: Act = { cause: { by: "clock" }, now }
  const screening = holder.screening === null ? undefined : ScreeningRules.aged(holder.screening)
  const aged =
    screening === undefined
      ? holder
      : yield* records.record(holders, holder, { on: "screen", screening }, act)
  return yield* ask(aged, act)
})
