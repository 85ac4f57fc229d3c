/** Fault injection of the simulated ledger: a plan of faults, given by an operator or a test. */
import type { Duration } from "effect"
import * as LedgerError from "./LedgerError.ts"

/** A plan of faults. Submissions are counted from 1, in the order the ledger takes them. */
export interface Plan {
  /** The connection dies before these submissions are judged: nothing happens. */
  readonly dropBeforeCommit?: ReadonlyArray<number>
  /** The connection dies after these submissions are judged and kept. */
  readonly dropAfterCommit?: ReadonlyArray<number>
  /** These submissions are rejected asynchronously, each for its own reason. */
  readonly contention?: ReadonlyArray<number>
  readonly inFlight?: ReadonlyArray<number>
  readonly backpressure?: ReadonlyArray<number>
  /** A receipt comes this long before its update can be read. */
  readonly visibilityDelay?: Duration.Duration
  /** How far effective time may lie from record time, in milliseconds; it wanders between the two. */
  readonly skew?: { readonly minMillis: number; readonly maxMillis: number }
  readonly gap?: "sparse" | "dense"
  /** The participant answers under this name. */
  readonly participantChange?: string
  /** Tokens expire: every call is refused with 401. */
  readonly tokenExpiry?: true
  /** A tail ends with an error after this many updates. */
  readonly wsCut?: number
  /** Each transaction of a tail comes twice. */
  readonly duplicateFrame?: true
  /** A tail gives checkpoints alone. */
  readonly checkpointOnly?: true
  readonly wire?: Wire
}

/** Faults of the HTTP door alone. */
export interface Wire {
  /** These requests are answered with plain text and status 503. */
  readonly text503?: ReadonlyArray<number>
  /** These requests are answered with an HTML page and status 502. */
  readonly html502?: ReadonlyArray<number>
  readonly slowBodyMillis?: number
  /** The list limit is hit although the list is under it. */
  readonly list413?: true
  /** Errors come with category -1 and free text for a code. */
  readonly redactedError?: true
  readonly explicitNulls?: true
  readonly unknownArm?: true
  readonly extraFields?: true
  readonly missingAcsDelta?: true
}

export const none: Plan = {}

/** The plan in force. Its counts start anew when it is replaced. */
export interface Faults {
  readonly plan: () => Plan
  readonly replace: (plan: Plan) => void
  /** The number of the submission now taken. */
  readonly count: () => number
}

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

export const dropped = (): LedgerError.LedgerError =>
  LedgerError.make("SERVICE_NOT_RUNNING", "The connection was lost")

/** Nanoseconds of skew for a submission: a walk that is not monotone and never random. */
export const skew = (plan: Plan, submission: number): bigint => {
  if (plan.skew === undefined) return 0n
  const { minMillis, maxMillis } = plan.skew
  const width = Math.max(0, maxMillis - minMillis)
  return BigInt(minMillis + ((submission * 7_919) % (width + 1))) * 1_000_000n
}
