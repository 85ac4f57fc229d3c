/** What the engine measures of itself; labels have closed lists and never name a record or a person. */
import { Effect, Metric } from "effect"
import type { OperationKind } from "../vocabulary/OperationKind.ts"

/** Operations that came to a state on this instance, by `kind` and `state`. */
export const operations = Metric.counter("bursar.operations", {
  description: "Operations that came to a state on this instance.",
  incremental: true
})

/** Seconds, of which the ledger's share is most; buckets reach to where an operation is given up. */
const operationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900]

/** Seconds from an operation's opening to its end, by `kind`. */
export const operationDuration = Metric.histogram("bursar.operation.duration", {
  description: "From an operation's opening to its end.",
  boundaries: operationBuckets,
  attributes: { unit: "s" }
})

export const oldestQueued = Metric.gauge("bursar.operations.oldest_queued_seconds", {
  description: "How long the oldest operation that a worker could take has waited."
})

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

/** An operation came to a state; told once what made it so is committed. */
export const cameTo = (
  kind: OperationKind,
  state: "queued" | "running" | "succeeded" | "failed"
): Effect.Effect<void> => Metric.update(Metric.withAttributes(operations, { kind, state }), 1)

/** An operation ended, so many nanoseconds after it was opened. */
export const ended = (
  kind: OperationKind,
  state: "succeeded" | "failed",
  nanos: bigint
): Effect.Effect<void> =>
  Effect.andThen(
    cameTo(kind, state),
    Metric.update(Metric.withAttributes(operationDuration, { kind }), Number(nanos) / 1e9)
  )
