/**
 * Scheduled task: opens a report of each reserve once a period, whichever hosts run
 * (docs/domain/reserves.md#reports).
 */
import { Effect, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import type { Task, Turn } from "../../engine/Schedule.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Refused } from "../../kernel/Refusal.ts"
import { together } from "../../records/BatchedWork.ts"
import { Records } from "../../records/Records.ts"
import { FourEyes } from "../../writes/FourEyes.ts"
import { type Reserve, reserves } from "../reserve/Reserve.ts"
import { create } from "./ReportOperations.ts"
import { dueAt } from "./ReportRules.ts"
import { reserveReports, scheduledIdOf } from "./ReserveReport.ts"

/** Milliseconds between checks of a setting that is switched off. */
const every = 60_000

/** Milliseconds after which a report that is still missing is opened again. */
const again = 3_600_000

/** Reserves whose reports are opened in one transaction. */
const batchMax = 50

/** A period's scheduled reports, and the number of hours since they were due. */
interface DuePeriod {
  readonly at: Instant.Instant
  readonly hours: number
}

const hoursSince = (at: Instant.Instant, now: Instant.Instant): number =>
  Math.floor((Instant.toEpochMillis(now) - Instant.toEpochMillis(at)) / again)

/** Opens the reports that are missing; a repeated turn of one hour finds the same operations. */
const opened = Effect.fnUntraced(function* (
  batch: ReadonlyArray<Reserve>,
  { at, hours }: DuePeriod
) {
  const records = yield* Records
  const fourEyes = yield* FourEyes
  const idOf = ({ reserveId }: Reserve) => scheduledIdOf(reserveId, at)
  const made = yield* records.many(reserveReports, batch.map(idOf))
  const madeIds = new Set<string>(made.map(({ reportId }) => reportId))
  const missing = batch.filter((self) => !madeIds.has(idOf(self)))
  yield* Effect.forEach(
    missing,
    (self) =>
      fourEyes
        .open(
          create,
          { reserveId: self.reserveId, reportId: idOf(self) },
          `${create.kind}:${idOf(self)}#${hours}`
        )
        .pipe(Effect.catchTag("Refused", broken)),
    { discard: true }
  )
})

/** Opens a batch in one transaction; where that fails, each of its reports in one of its own. */
const openedTogether = Effect.fnUntraced(function* (
  batch: ReadonlyArray<Reserve>,
  due: DuePeriod,
  turn: Turn
) {
  const records = yield* Records
  const openedOf = (some: ReadonlyArray<Reserve>) =>
    records.transact(Effect.andThen(turn.fence, opened(some, due)))
  yield* together(batch, openedOf, ({ reserveId }) => `the report of the reserve ${reserveId}`)
})

/** Dies on a refusal of the engine's own request: its declaration is wrong. */
const broken = (refusal: Refused) =>
  Effect.die(new Error(`a scheduled report could not be opened: ${refusal.slug}`))

/** Reserves that were in force when the reports were due. */
const reported = (at: Instant.Instant) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(reserves, { where: { state: ["active", "closing"] } }).pipe(
        Stream.map(({ record }) => record),
        Stream.filter(({ activatedAt }) => activatedAt !== null && activatedAt < at)
      )
    )
  )

/**
 * Task whose state is the latest due instant when the reports were switched on, for which none are
 * made; empty while they are off.
 */
export const reserveReporting: Task<Records | FourEyes> = {
  name: "reserve-reports",
  doc: "Has the ledger compute the scheduled reports of reserves.",
  every,
  run: Effect.fnUntraced(function* (turn) {
    const { reserveReportEvery } = yield* Settings
    const now = yield* Instant.now
    if (reserveReportEvery === null) return yield* turn.next({ delay: every, state: "" })
    const { latest, next } = dueAt(reserveReportEvery, now)
    const since = turn.state === "" ? Instant.sortable(latest) : turn.state
    if (Instant.sortable(latest) > since) {
      const due = { at: latest, hours: hoursSince(latest, now) }
      yield* reported(latest).pipe(
        Stream.grouped(batchMax),
        Stream.runForEach((batch) => openedTogether(batch, due, turn))
      )
    }
    const until = Instant.toEpochMillis(next) - Instant.toEpochMillis(now)
    yield* turn.next({ delay: Math.min(again, Math.max(0, until) + 1), state: since })
  })
}
