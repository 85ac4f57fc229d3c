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

/** A gauge, and the figure that it is set to. */
interface Gauge {
  readonly metric: Metric.Gauge<number>
  readonly figure: Effect.Effect<number, Unavailable, Needs>
}

const oldest = (queue: string) =>
  Effect.flatMap(WorkQueue, (work) =>
    Effect.map(orUnavailable(work.depth(queue)), ({ oldestMillis }) => (oldestMillis ?? 0) / 1_000)
  )

const gauges: ReadonlyArray<Gauge> = [
  { metric: Metrics.oldestQueued, figure: oldest(operationQueue) },
  { metric: Metrics.oldestDue, figure: oldest(clockQueue) },
  {
    metric: Metrics.feedHead,
    figure: Effect.flatMap(Feed, (feed) => Effect.map(orUnavailable(feed.head), ({ seq }) => seq))
  },
  { metric: Metrics.approvalsAwaiting, figure: awaiting },
  { metric: Metrics.auditCheckpointAge, figure: checkpointAge },
  { metric: Metrics.projectionLag, figure: lag }
]

/**
 * Polls one gauge with a timeout. Where its port is unavailable or its figure has a defect, it stays as
 * it was, and the other gauges are polled.
 */
const poll = ({ figure, metric }: Gauge): Effect.Effect<void, never, Needs> =>
  figure.pipe(
    Effect.flatMap((value) => Metric.update(metric, value)),
    Effect.timeout(pollWithin),
    Effect.catch(({ _tag }) => Effect.logDebug(`the gauge ${metric.id} was not polled`, _tag)),
    Effect.catchDefect((defect) =>
      Effect.logError(`the gauge ${metric.id} could not be polled`, defect)
    )
  )

/** Polls every gauge once. */
export const look = Effect.forEach(gauges, poll, { discard: true })

/** Services that a poll of the gauges reads. */
export type Needs = Feed | ProjectionLog | WorkQueue | Records | Ledger.Ledger

/** Polls every ten seconds until it is interrupted. */
export const run = Effect.andThen(
  Effect.repeat(look, Schedule.spaced(pollEvery)),
  // Never reached: the schedule has no end. It gives `run` its type.
  Effect.never
)
