/**
 * Scheduled task: queues one reconciliation run of the whole venue a day, whichever hosts run
 * (docs/domain/reconciliation.md#runs-that-start-by-themselves).
 */
import { Effect } from "effect"
import { Settings } from "../../engine/Settings.ts"
import type { Task } from "../../engine/Schedule.ts"
import { itemOf } from "../../findings/RunQueue.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import { daysOf, isDue } from "./DailyRunRules.ts"

/** Milliseconds of the first delay, and between looks at a setting that is switched off. */
const every = 60_000

/** Largest number of milliseconds between turns: the store's clock may differ from the engine's. */
const delayMax = 3_600_000

const millisUntil = (instant: Instant.Instant, now: Instant.Instant): number =>
  Math.min(delayMax, Math.max(0, Instant.toEpochMillis(instant) - Instant.toEpochMillis(now)) + 1)

/** Task whose state is the day of the newest run that was queued; empty while the runs are off. */
export const dailyRun: Task<Records> = {
  name: "reconciliation",
  doc: "Queues the daily reconciliation run.",
  every,
  run: Effect.fnUntraced(function* (turn) {
    const records = yield* Records
    const { reconciliationAt } = yield* Settings
    const now = yield* Instant.now
    yield* records.transact(
      Effect.gen(function* () {
        yield* turn.fence
        if (reconciliationAt === null) return yield* turn.next({ delay: every, state: "" })
        const days = daysOf(reconciliationAt, now)
        const queued = turn.state === "" ? null : turn.state
        if (isDue(queued, days)) {
          const causedBy = days.latest
          yield* records.enqueue([itemOf({ trigger: "schedule", instrumentId: null, causedBy })])
        }
        const state = queued !== null && queued > days.latest ? queued : days.latest
        yield* turn.next({ delay: millisUntil(days.nextAt, now), state })
      })
    )
  })
}
