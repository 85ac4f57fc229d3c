/** Metrics of the engine; labels have closed lists and never name a record or a person. */
import { Effect, Metric } from "effect"
import type { Failure } from "../ports/WebhookSender.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"
import { RunTrigger, Verdict } from "../vocabulary/sets.ts"
import { type StepKind, stepKinds } from "./Retention.ts"
import { type WorkerName, workerNames } from "./WorkerName.ts"

/** A metric and the closed list of values that each of its labels may have. */
export interface LabelledMetric {
  readonly metric: Metric.Metric<never, unknown>
  readonly labels: Readonly<Record<string, ReadonlyArray<string>>>
}

const states = ["queued", "running", "succeeded", "failed"] as const

/** Counter of operations that came to a state on this instance, by `kind` and `state`. */
export const operations = Metric.counter("bursar.operations", {
  description: "Operations that came to a state on this instance.",
  incremental: true
})

/** Buckets in seconds, up to the 15 minutes after which an operation is given up. */
const operationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900]

/** Histogram of the seconds from an operation's opening to its end, by `kind`. */
export const operationDuration = Metric.histogram("bursar.operation.duration", {
  description: "From an operation's opening to its end.",
  boundaries: operationBuckets,
  attributes: { unit: "s" }
})

export const oldestQueued = Metric.gauge("bursar.operations.oldest_queued_seconds", {
  description: "How long the oldest operation that a worker could take has waited."
})

export const oldestDue = Metric.gauge("bursar.clock.oldest_due_seconds", {
  description: "How long the oldest clock move or scheduled write that is due has waited."
})

/** Counter of reconciliation runs that this instance recorded, by `trigger` and `verdict`. */
export const reconciliationRuns = Metric.counter("bursar.reconciliation.runs", {
  description: "Reconciliation runs that this instance recorded.",
  incremental: true
})

/** Gauge of the actions that await their approvers. */
export const approvalsAwaiting = Metric.gauge("bursar.approvals.awaiting", {
  description: "Four-eyes actions that await their approvers."
})

export const projectionLag = Metric.gauge("bursar.projection.lag_offsets", {
  description: "How many ledger offsets the projection is behind the ledger's end."
})

export const feedHead = Metric.gauge("bursar.feed.head", {
  description: "The number of the last event of the feed."
})

export const webhookAttempts = Metric.counter("bursar.webhook.attempts", {
  description: "Attempts to deliver an event to a webhook, by how they ended.",
  incremental: true
})

export const webhookExhausted = Metric.counter("bursar.webhook.exhausted", {
  description: "Deliveries that were given up after their last attempt.",
  incremental: true
})

export const auditCheckpointAge = Metric.gauge("bursar.audit.checkpoint_age_seconds", {
  description:
    "Since the last signed checkpoint of the audit log, or its first record before there is one."
})

export const auditUnlogged = Metric.counter("bursar.audit.unlogged", {
  description: "Refused calls that were not logged because the store of the audit log was away.",
  incremental: true
})

/** Counter of batches of retention that failed on this instance, by `kind` of record. */
export const retentionFailed = Metric.counter("bursar.retention.failed", {
  description:
    "Batches of retention that failed on this instance; each is tried again, and the other kinds go on.",
  incremental: true
})

/** Counter of jobs that a worker ended on this instance, by `worker` and `outcome`. */
export const workerJobs = Metric.counter("bursar.worker.jobs", {
  description:
    "Jobs of a worker that ended on this instance: done, failed, lost to another worker, or stopped with the engine. Done says that the job itself did not fail, not what came of it: a job that ends its operation as failed, records a delivery that was not taken, or waits for the ledger, is done.",
  incremental: true
})

/** Outcomes of a job that was not interrupted: `lost` where another worker has taken its lease over. */
export type JobOutcome = "done" | "failed" | "lost"

const jobOutcomes = ["done", "failed", "lost", "stopped"] as const

/** Outcomes of an attempt to deliver: taken by the receiver, or the reason of its failure. */
const outcomes: Readonly<Record<Failure | "taken", string>> = {
  taken: "The receiver answered that it took it.",
  dns: "The receiver's name was not resolved.",
  "address-refused": "Its address is not one that deliveries may go to.",
  connect: "No connection came about.",
  tls: "Its certificate was not trusted.",
  timeout: "It took too long.",
  status: "It answered something else than success."
}

/** Table of all metrics of the engine, with the kinds of write of the venue's rooms. */
export const measuredOf = (ownKinds: ReadonlyArray<string>): ReadonlyArray<LabelledMetric> => [
  { metric: operations, labels: { kind: [...OperationKind.members, ...ownKinds], state: states } },
  { metric: operationDuration, labels: { kind: [...OperationKind.members, ...ownKinds] } },
  { metric: oldestQueued, labels: {} },
  { metric: oldestDue, labels: {} },
  {
    metric: reconciliationRuns,
    labels: { trigger: RunTrigger.members, verdict: Verdict.members }
  },
  { metric: approvalsAwaiting, labels: {} },
  { metric: projectionLag, labels: {} },
  { metric: feedHead, labels: {} },
  { metric: webhookAttempts, labels: { outcome: Object.keys(outcomes) } },
  { metric: webhookExhausted, labels: {} },
  { metric: auditCheckpointAge, labels: {} },
  { metric: auditUnlogged, labels: {} },
  { metric: retentionFailed, labels: { kind: stepKinds } },
  { metric: workerJobs, labels: { worker: workerNames, outcome: jobOutcomes } }
]

/** Counts a job of a worker that ended. */
export const worked = (
  worker: WorkerName,
  outcome: (typeof jobOutcomes)[number]
): Effect.Effect<void> => Metric.update(Metric.withAttributes(workerJobs, { worker, outcome }), 1)

/** Counts an attempt to deliver an event to a webhook. */
export const attempted = (outcome: keyof typeof outcomes): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(webhookAttempts, { outcome }), 1)

/** Counts a batch of retention that failed. */
export const pruningFailed = (kind: StepKind): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(retentionFailed, { kind }), 1)

/** Counts a reconciliation run; called after the commit. */
export const ranWith = (outcome: {
  readonly trigger: RunTrigger
  readonly verdict: Verdict
}): Effect.Effect<void> => Metric.update(Metric.withAttributes(reconciliationRuns, outcome), 1)

/** Counts an operation that came to a state; called after the commit. */
export const cameTo = (kind: OperationKind, state: (typeof states)[number]): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(operations, { kind, state }), 1)

/** Counts an ended operation and records its duration, given in nanoseconds. */
export const ended = (
  kind: OperationKind,
  state: "succeeded" | "failed",
  nanos: bigint
): Effect.Effect<void> =>
  Effect.andThen(
    cameTo(kind, state),
    Metric.update(Metric.withAttributes(operationDuration, { kind }), Number(nanos) / 1e9)
  )
