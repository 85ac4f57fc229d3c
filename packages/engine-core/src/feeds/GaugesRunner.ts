/** Gauges that are polled: queue, feed head, open actions, checkpoint age, lag of the projection. */
import { Clock, Duration, Effect, Metric, Schedule } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import * as Ledger from "../ports/Ledger.ts"
import { Feed } from "../ports/storage/Feed.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import { WorkQueue } from "../ports/storage/WorkQueue.ts"
import { queue as clockQueue } from "../records/ClockQueue.ts"
import { orUnavailable, ledgerUnavailable } from "../records/PortFailure.ts"
import { Records } from "../records/Records.ts"
import { approvals } from "../writes/Approval.ts"
import { queue as operationQueue } from "../writes/QueuedOperation.ts"
import * as Metrics from "../engine/Metrics.ts"

const pollEvery = Duration.seconds(10)
const pollWithin = Duration.seconds(5)

/** Seconds since the log was last signed; since its first record before it ever was; 0 while empty. */
const checkpointAge = Effect.gen(function* () {
  const feed = yield* Feed
  const { audit } = yield* orUnavailable(feed.head)
  const { records } = yield* orUnavailable(
    feed.readAudit({
      order: "asc",
      limit: 1,
      ...(audit.checkpoint === 0 ? {} : { after: audit.checkpoint - 1 })
    })
  )
  const [record] = records
  if (record === undefined) return 0
  const now = yield* Clock.currentTimeMillis
  return Math.max(0, (now - Instant.toEpochMillis(Instant.of(record.at))) / 1_000)
})

/** Counts the actions that await an approver now; those that the clock has ended do not count. */
const awaiting = Effect.gen(function* () {
  const records = yield* Records
  const byKind = yield* records.countBy(approvals, "kind", { where: { state: ["awaiting"] } })
  return [...byKind.values()].reduce((sum, count) => sum + count, 0)
})

/** Offsets by which the projection is behind the ledger. */
const lag = Effect.gen(function* () {
  const head = yield* orUnavailable((yield* ProjectionLog).head)
  const end = yield* Effect.mapError((yield* Ledger.Ledger).ledgerEnd, ledgerUnavailable)
  return Math.max(0, end - head.offset)
})

const storeGauges = Effect.gen(function* () {
  const depth = yield* orUnavailable((yield* WorkQueue).depth(operationQueue))
  yield* Metric.update(Metrics.oldestQueued, (depth.oldestMillis ?? 0) / 1_000)
  const due = yield* orUnavailable((yield* WorkQueue).depth(clockQueue))
  yield* Metric.update(Metrics.oldestDue, (due.oldestMillis ?? 0) / 1_000)
  const { seq } = yield* orUnavailable((yield* Feed).head)
  yield* Metric.update(Metrics.feedHead, seq)
  yield* Metric.update(Metrics.approvalsAwaiting, yield* awaiting)
  yield* Metric.update(Metrics.auditCheckpointAge, yield* checkpointAge)
})

const ledgerGauge = Effect.flatMap(lag, (offsets) => Metric.update(Metrics.projectionLag, offsets))

/** Polls with a timeout; a port that is unavailable leaves its gauges as they were. */
const patient = <R>(look: Effect.Effect<void, Unavailable, R>): Effect.Effect<void, never, R> =>
  look.pipe(
    Effect.timeout(pollWithin),
    Effect.catch(({ _tag }) => Effect.logDebug("gauges were not polled", _tag))
  )

/** Polls every gauge once. */
export const look = Effect.all([patient(storeGauges), patient(ledgerGauge)], { discard: true })

/** Services that a poll of the gauges reads. */
export type Needs = Feed | ProjectionLog | WorkQueue | Records | Ledger.Ledger

/** Polls every ten seconds until it is interrupted. */
export const run = Effect.andThen(
  Effect.repeat(look, Schedule.spaced(pollEvery)),
  // Never reached: the schedule has no end. It gives `run` its type.
  Effect.never
)
