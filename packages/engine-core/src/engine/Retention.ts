/** Retention periods of each kind of record, and the legal hold that exempts records. */
import { Schema, Struct } from "effect"
import * as Duration from "../kernel/Duration.ts"
import * as Instant from "../kernel/Instant.ts"
import type { LegalHold } from "../ports/storage/Feed.ts"

/**
 * Kinds of record with a retention period of their own; the name is the setting's
 * (docs/contract/retention.md#periods).
 */
export const kinds = {
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

/** Kind of record that has a period of retention of its own. */
export type RetentionKind = keyof typeof kinds

/** Names of the steps of a run: the kinds of record, and the history that the ledger has pruned. */
export const stepKinds = [...Struct.keys(kinds), "history"] as const

/** Step of a run of retention: one kind of data that it looks through. */
export type StepKind = (typeof stepKinds)[number]

/** Retention period of each kind; null: never deleted. */
export type Periods = Readonly<Record<RetentionKind, Duration.Duration | null>>

/** Periods that a venue keeps its records unless its settings say otherwise. */
export const periods: Periods = {
  operations: kinds.operations.period,
  approvals: kinds.approvals.period,
  events: kinds.events.period,
  deliveries: kinds.deliveries.period,
  exhaustedDeliveries: kinds.exhaustedDeliveries.period,
  reconciliationRuns: kinds.reconciliationRuns.period,
  clearedFindings: kinds.clearedFindings.period,
  externalStatements: kinds.externalStatements.period
}

/** Collections whose versions are never deleted, because `at` and `asOf` need them. */
export const everKept: ReadonlySet<string> = new Set(["policy-version", "restriction", "hold"])

/** Legal hold that holds nothing back. */
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

/** A place of a run: a step, by its index from 0, and where it continues; null: at its beginning. */
const Place = Schema.Struct({ step: Schema.Int, after: Schema.NullOr(Schema.String) })

/** Place that a run of retention has come to, as its task keeps it between two turns. */
export type Place = typeof Place.Type

/** Progress of a run, stored between its batches, so that a crash loses and repeats nothing. */
export const Run = Schema.fromJsonString(
  Schema.Struct({
    /** Start of the run: records that are due at this instant are deleted. */
    began: Instant.schema,
    /** The place of the next batch; a step beyond the last one: the round is over. */
    ...Place.fields,
    counts: Schema.Record(Schema.String, Schema.Int),
    /** Number of the round; absent: 0, which has every step. A later one repeats what failed. */
    round: Schema.optionalKey(Schema.Int),
    /** Places that are still to be repeated in this round. */
    again: Schema.optionalKey(Schema.Array(Place)),
    /** Places whose batch failed in this round: the next one repeats them. */
    setAside: Schema.optionalKey(Schema.Array(Place))
  })
)
export type Run = typeof Run.Type

const decodeRun = Schema.decodeUnknownSync(Run)
const encodeRun = Schema.encodeSync(Run)

/** Decodes the run that a turn continues; an empty state begins a run. */
export const runOf = (state: string, now: Instant.Instant): Run =>
  state === "" ? { began: now, step: 0, after: null, counts: {} } : decodeRun(state)

/** Text of a run, as its task keeps it. */
export const stateOf = (run: Run): string => encodeRun(run)

/** Result of one batch of a step. */
export interface Batch {
  /** Number of deleted records, by kind. */
  readonly counts: Readonly<Record<string, number>>
  /** Place at which the step continues; null: the step is done. */
  readonly after: string | null
}

/** Number of steps of every run. */
interface Steps {
  readonly steps: number
}

/** Moves to the place after the present one: the next step, or in a later round what failed next. */
const moved = (run: Run, { steps }: Steps): Run => {
  if ((run.round ?? 0) === 0) return { ...run, step: run.step + 1, after: null }
  const [next = { step: steps, after: null }, ...again] = run.again ?? []
  return { ...run, ...next, again }
}

/** Adds a batch to the run, and moves on where the step is done. */
export const advance = (run: Run, { after, counts: deleted }: Batch, steps: Steps): Run => {
  const counts: Record<string, number> = { ...run.counts }
  for (const [name, count] of Object.entries(deleted)) {
    if (count > 0) counts[name] = (counts[name] ?? 0) + count
  }
  const counted = { ...run, counts }
  return after === null ? moved(counted, steps) : { ...counted, after }
}

/**
 * Sets the present place aside, whose batch failed, and moves on: to the step's place after it where
 * the step has one.
 */
export const setAside = (
  run: Run,
  { past, ...steps }: Steps & { readonly past: string | null }
): Run => {
  const { after, step } = run
  const others = (run.setAside ?? []).filter(
    (place) => place.step !== step || place.after !== after
  )
  const aside = { ...run, setAside: [...others, { step, after }] }
  return past === null ? moved(aside, steps) : { ...aside, after: past }
}

/** Milliseconds after which a run ends, although a place of it fails each time: the next one begins. */
const day = 24 * 3_600_000

/** Milliseconds until places that failed are repeated: a minute at first, and an hour at most. */
const pauseOf = (round: number): number => Math.min(3_600_000, 60_000 * 2 ** Math.min(round, 6))

/** Begins the round that repeats what failed in the one that is over; null: the run has ended. */
export const nextRound = (
  run: Run,
  { now, ...steps }: Steps & { readonly now: Instant.Instant }
): { readonly run: Run; readonly delay: number } | null => {
  const { round = 0, setAside: again = [], ...others } = run
  const lasted = Instant.toEpochMillis(now) - Instant.toEpochMillis(run.began)
  if (again.length === 0 || lasted >= day) return null
  const begun = { ...others, round: round + 1, again }
  return { run: moved(begun, steps), delay: pauseOf(round) }
}
