/** Fault injection of the simulated ledger: a plan of faults, given by an operator or a test. */
import type { Duration } from "effect"
import * as LedgerError from "./LedgerError.ts"

/** A plan of faults. Submissions are counted from 1, in the order the ledger takes them. */
export interface Plan {
  /** The connection is lost before these submissions are judged: they have no effect. */
  readonly dropBeforeCommit?: ReadonlyArray<number>
  /** The connection is lost after these submissions are committed. */
  readonly dropAfterCommit?: ReadonlyArray<number>
  /** These submissions are rejected asynchronously, each for its own reason. */
  readonly contention?: ReadonlyArray<number>
  readonly inFlight?: ReadonlyArray<number>
  readonly backpressure?: ReadonlyArray<number>
  /** Delay between a receipt and the visibility of its update. */
  readonly visibilityDelay?: Duration.Duration
  /** Range of the difference between effective and record time in milliseconds. */
  readonly skew?: { readonly minMillis: number; readonly maxMillis: number }
  readonly gap?: "sparse" | "dense"
  /** Participant id that the node answers with. */
  readonly participantChange?: string
  /** Tokens expire: every call is refused with 401. */
  readonly tokenExpiry?: true
  /** A tail ends with an error after this many updates. */
  readonly wsCut?: number
  /** Each transaction of a tail is sent twice. */
  readonly duplicateFrame?: true
  /** A tail sends checkpoints only. */
  readonly checkpointOnly?: true
  readonly wire?: Wire
}

/** Faults of the HTTP door. */
export interface Wire {
  /** These requests are answered with plain text and status 503. */
  readonly text503?: ReadonlyArray<number>
  /** These requests are answered with an HTML page and status 502. */
  readonly html502?: ReadonlyArray<number>
  readonly slowBodyMillis?: number
  /** Every list is refused as too long. */
  readonly list413?: true
  /** Errors have category -1 and free text as their code. */
  readonly redactedError?: true
  readonly explicitNulls?: true
  readonly unknownArm?: true
  readonly extraFields?: true
  readonly missingAcsDelta?: true
}

/** Plan of no faults. */
export const none: Plan = {}

/** The plan in force. A new plan restarts the counts. */
export interface Faults {
  readonly plan: () => Plan
  readonly replace: (plan: Plan) => void
  /** Counts a submission and returns its number. */
  readonly count: () => number
}

/** Faults of a ledger, whose plan a test may replace. */
export const make = (initial: Plan = none): Faults => {
  let plan = initial
  let counted = 0
  return {
    plan: () => plan,
    replace: (next) => {
      plan = next
      counted = 0
    },
    count: () => ++counted
  }
}

/** Faults that apply to one submission. */
export interface Fate {
  readonly dropBefore: boolean
  readonly dropAfter: boolean
  readonly verdict: LedgerError.LedgerError | null
}

/** Fate of a submission under a plan. */
export const fate = (plan: Plan, submission: number): Fate => {
  const hits = (numbers: ReadonlyArray<number> | undefined) =>
    numbers?.includes(submission) === true
  return {
    dropBefore: hits(plan.dropBeforeCommit),
    dropAfter: hits(plan.dropAfterCommit),
    verdict: hits(plan.contention)
      ? LedgerError.make(
          "LOCAL_VERDICT_LOCKED_CONTRACTS",
          "The transaction refers to locked contracts"
        )
      : hits(plan.inFlight)
        ? LedgerError.make("SUBMISSION_ALREADY_IN_FLIGHT", "The submission is already in flight")
        : hits(plan.backpressure)
          ? LedgerError.make("PARTICIPANT_BACKPRESSURE", "The participant is overloaded")
          : null
  }
}

/** Failure of a submission whose answer is lost. */
export const dropped = (): LedgerError.LedgerError =>
  LedgerError.make("SERVICE_NOT_RUNNING", "The connection was lost")

/** Skew of a submission in nanoseconds: deterministic and not monotonic. */
export const skew = (plan: Plan, submission: number): bigint => {
  if (plan.skew === undefined) return 0n
  const { minMillis, maxMillis } = plan.skew
  const width = Math.max(0, maxMillis - minMillis)
  return BigInt(minMillis + ((submission * 7_919) % (width + 1))) * 1_000_000n
}
