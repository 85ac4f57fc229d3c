/** Retention periods of each kind of record, and the legal hold that exempts records. */
import { Schema } from "effect"
import * as Duration from "../kernel/Duration.ts"
import * as Instant from "../kernel/Instant.ts"
import type { LegalHold } from "../ports/storage/Feed.ts"

/**
 * Kinds of record with a retention period of their own; the name is the setting's
 * (docs/contract/retention.md#periods).
 */
export const kept = {
  operations: {
    doc: "Retention of finished operations and their keys, counted from the operation's end.",
    period: Duration.of("P7Y")
  },
  approvals: {
    doc: "Retention of decided four-eyes actions and their keys, counted from the decision; an action goes with its operation, when both are due.",
    period: Duration.of("P7Y")
  },
  events: {
    doc: "Retention of control events; the oldest go first, and a cursor before them is refused as lost.",
    period: Duration.of("P2Y")
  },
  deliveries: {
    doc: "Retention of webhook deliveries that succeeded or were cancelled.",
    period: Duration.of("P30D")
  },
  exhaustedDeliveries: {
    doc: "Retention of webhook deliveries that were given up.",
    period: Duration.of("P90D")
  },
  reconciliationRuns: {
    doc: "Retention of reconciliation runs, counted from their end.",
    period: Duration.of("P10Y")
  },
  clearedFindings: {
    doc: "Retention of findings, counted from the run that cleared them; never one that is open or accepted, or that a hold names.",
    period: Duration.of("P10Y")
  },
  externalStatements: {
    doc: "Retention of the lines and the bytes of statements, counted from their receipt; the header stays. Kept are those of the newest statement of a source and an instrument, those that open findings need, and those whose cash pays an order that has not ended.",
    period: Duration.of("P10Y")
  }
} as const satisfies Readonly<
  Record<string, { readonly doc: string; readonly period: Duration.Duration }>
>
export type RetentionKind = keyof typeof kept

/** Retention period of each kind; null: never deleted. */
export type Periods = Readonly<Record<RetentionKind, Duration.Duration | null>>

export const periods: Periods = {
  operations: kept.operations.period,
  approvals: kept.approvals.period,
  events: kept.events.period,
  deliveries: kept.deliveries.period,
  exhaustedDeliveries: kept.exhaustedDeliveries.period,
  reconciliationRuns: kept.reconciliationRuns.period,
  clearedFindings: kept.clearedFindings.period,
  externalStatements: kept.externalStatements.period
}

/** Collections whose versions are never deleted, because `at` and `asOf` need them. */
export const everKept: ReadonlySet<string> = new Set(["policy-version", "restriction", "hold"])

export const nobody: LegalHold = { holderIds: [], instrumentIds: [] }

/** Computes the instant before which ended records are due for deletion; undefined: none are. */
export const dueBefore = (
  now: Instant.Instant,
  period: Duration.Duration | null
): Instant.Instant | undefined => (period === null ? undefined : Instant.subtract(now, period))

/** Checks whether a legal hold exempts the record from deletion. */
export const isHeld = (
  hold: LegalHold,
  subject: {
    readonly holderId: string | null
    /** Every holder that the record concerns, where they are several. */
    readonly holderIds?: ReadonlyArray<string>
    readonly instrumentId: string | null
  }
): boolean =>
  (subject.holderId !== null && hold.holderIds.includes(subject.holderId)) ||
  subject.holderIds?.some((holderId) => hold.holderIds.includes(holderId)) === true ||
  (subject.instrumentId !== null && hold.instrumentIds.includes(subject.instrumentId))

/** Progress of a run, stored between its batches, so that a crash loses and repeats nothing. */
export const Run = Schema.fromJsonString(
  Schema.Struct({
    /** Start of the run: records that are due at this instant are deleted. */
    began: Instant.schema,
    /** Index of the step, from 0. */
    step: Schema.Int,
    /** Place inside the step; null: its beginning. */
    after: Schema.NullOr(Schema.String),
    counts: Schema.Record(Schema.String, Schema.Int)
  })
)
export type Run = typeof Run.Type

const decodeRun = Schema.decodeUnknownSync(Run)
const encodeRun = Schema.encodeSync(Run)

/** Decodes the run that a turn continues; an empty state begins a run. */
export const runOf = (state: string, now: Instant.Instant): Run =>
  state === "" ? { began: now, step: 0, after: null, counts: {} } : decodeRun(state)

export const stateOf = (run: Run): string => encodeRun(run)

/** Result of one batch of a step. */
export interface Batch {
  /** Number of deleted records, by kind. */
  readonly counts: Readonly<Record<string, number>>
  /** Place at which the step continues; null: the step is done. */
  readonly after: string | null
}

/** Adds a batch to the run, and moves to the next step where the step is done. */
export const advance = (run: Run, batch: Batch): Run => {
  const counts: Record<string, number> = { ...run.counts }
  for (const [name, count] of Object.entries(batch.counts)) {
    if (count > 0) counts[name] = (counts[name] ?? 0) + count
  }
  return {
    began: run.began,
    step: batch.after === null ? run.step + 1 : run.step,
    after: batch.after,
    counts
  }
}
