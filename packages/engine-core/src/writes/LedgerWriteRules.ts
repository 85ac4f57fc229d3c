/**
 * State machine of one ledger write: from what is recorded, projected and answered to the next move.
 *
 * A step is sent under a command id that the ledger commits at most once. As long as a submission of
 * it may still commit, it is only sent again under the same command id: it is neither failed nor
 * planned anew under another one.
 */
import { Duration } from "effect"
import { failed } from "../kernel/Gates.ts"
import { type Refused, refused, type Unavailable, unavailable } from "../kernel/Refusal.ts"
import type { Receipt, Refused as LedgerRefused, SubmitError } from "../ports/Ledger.ts"
import * as LedgerRefusal from "./LedgerRefusal.ts"
import type { OperationRecord, Step } from "./OperationRecord.ts"

/** How often a step may be planned anew because a contract it needs was used up. */
export const replansMax = 3

/**
 * Milliseconds after an open answer from which an absent commit is final
 * (docs/domain/ledger-writes.md#unknown-outcomes).
 */
export const certainAfter = 120_000

/** Milliseconds a committed step waits for the projection before it is looked at again. */
const projectedWithin = 500

/** Milliseconds until a refused step that may have committed is looked at again. */
const refusedInDoubt = 5_000

/** Milliseconds until a step is looked at again whose repeats the ledger cannot recognise. */
const unrecognised = 30_000

/** Milliseconds until the projection is looked at again that a new plan has to wait for. */
const behind = 250

/** Milliseconds until a step is sent again after the ledger did not accept the credential. */
const signedOut = 1_000

/** Milliseconds of 2^attempt seconds, at most a minute. */
export const backoff = (attempt: number): number =>
  Math.min(60_000, 1_000 * 2 ** Math.min(attempt, 6))

/** What is on the ledger of a step, as much of a receipt as is kept. */
export type Committed = Pick<Receipt, "updateId" | "offset">

/** How a repeat is recognised: by every commit since the step was planned, or in the last 7 days. */
export type Dedup = "since-planned" | "seven-days"

/** What the next move depends on of a step. */
export type PlannedStep = Pick<Step, "step" | "replan" | "last" | "dedupOffset">

/** What is known of a ledger write; what was not looked up yet is undefined. */
export interface LedgerWriteProgress {
  readonly state: OperationRecord["state"]
  /** The step on record; null: none was planned yet. */
  readonly step: PlannedStep | null
  /** Whether the projection has read the step's commit. */
  readonly isProjected?: boolean
  /** The step's commit as the ledger shows it; null: it shows none up to its present end. */
  readonly committed?: Committed | null
  /** Whether the claim before this one left no submission without an answer. */
  readonly isPreviousAnswered: boolean
  /** How often the operation has been claimed, this claim included. */
  readonly attempt: number
  /** Milliseconds since the step was planned. */
  readonly age: number
  /**
   * Milliseconds from the latest answer that left open whether the step committed, until the ledger
   * was asked for the commit; null: no answer left it open.
   */
  readonly inDoubtFor: number | null
  /** The ledger's end, and then how far the projection has read and from where on it has history. */
  readonly positions?: { readonly end: number; readonly head: number; readonly horizon: number }
  /** How the submission that was answered asked the ledger to recognise repeats. */
  readonly dedup: Dedup
  /** Milliseconds after which a step that the ledger does not take is given up. */
  readonly giveUpAfter: number
}

/** What is known of a ledger write whose step was sent. */
export type SentProgress = LedgerWriteProgress & { readonly step: PlannedStep }

/** What to look up before the next move is certain. */
export interface LookUp {
  readonly move: "look-up"
  readonly what: "isProjected" | "committed" | "positions"
}

/** Gives the operation back to the queue for a while. */
export interface Wait {
  readonly move: "wait"
  readonly millis: number
  /** Whether the pause is spread, so that writes that failed together are not repeated together. */
  readonly isSpread: boolean
  /** What an operator has to be told. */
  readonly alarm?: string
}

/** Sends the step's submission. */
export interface Send {
  readonly move: "send"
  readonly dedup: Dedup
  /** Whether its gates are judged again first: not where it may have committed already. */
  readonly isJudged: boolean
}

/** Judges the gates and records a step, which is then sent. */
export interface Plan {
  readonly move: "plan"
  readonly step: number
  readonly replan: number
}

/** Records that the step may have committed. */
export interface Doubt {
  readonly move: "doubt"
  readonly why: string
  readonly then: Send | Wait
}

/** Records the commit that the ledger shows before the projection has read it. */
export interface Note {
  readonly move: "note"
  readonly committed: Committed
  readonly then: Wait
}

/** Fails the operation. */
export interface Refuse {
  readonly move: "refuse"
  readonly cause: Refused | Unavailable
  /** What an operator has to be told. */
  readonly alarm?: string
}

/** Takes an operation that has ended off the queue. */
export interface Finish {
  readonly move: "finish"
}

export type Move = LookUp | Plan | Send | Wait | Doubt | Note | Refuse | Finish

const lookUp = (what: LookUp["what"]): LookUp => ({ move: "look-up", what })
const wait = (millis: number): Wait => ({ move: "wait", millis, isSpread: false })
const spread = (millis: number): Wait => ({ move: "wait", millis, isSpread: true })

/** Sends a step that was judged just now, or must not be. */
export const firstSend: Send = { move: "send", dedup: "since-planned", isJudged: false }

/** Whether nothing of the step has committed or can: by the ledger, long enough after every doubt. */
const isAbsent = ({ committed, inDoubtFor }: LedgerWriteProgress): boolean =>
  inDoubtFor === null || (inDoubtFor >= certainAfter && committed === null)

/** Whether only the ledger can say that the step is absent. */
const needsOutcome = ({ committed, inDoubtFor }: LedgerWriteProgress): boolean =>
  inDoubtFor !== null && inDoubtFor >= certainAfter && committed === undefined

const note = (committed: Committed): Note => ({
  move: "note",
  committed,
  then: wait(projectedWithin)
})

/** The move of a claim that has sent nothing so far. */
export const next = (progress: LedgerWriteProgress): Move => {
  const { committed, isProjected, state, step } = progress
  if (state === "succeeded" || state === "failed") return { move: "finish" }
  if (step === null) return { move: "plan", step: 1, replan: 0 }
  if (isProjected === undefined) return lookUp("isProjected")
  if (isProjected) {
    // The projection ends the operation with its last step; any other one is followed by the next.
    return step.last ? wait(projectedWithin) : { move: "plan", step: step.step + 1, replan: 0 }
  }
  if (committed === undefined) return lookUp("committed")
  if (committed !== null) return note(committed)
  if (!progress.isPreviousAnswered) {
    // A worker that was killed or lost its lease while it sent: its submission may still arrive.
    return { move: "doubt", why: "an earlier claim ended before its answer", then: firstSend }
  }
  return { ...firstSend, isJudged: isAbsent(progress) }
}

/** The ledger's answer to a submission. */
export type SubmitAnswer = { readonly _tag: "Receipt" } | SubmitError

/** The answer to a submission that the ledger has committed. */
export const receipt: SubmitAnswer = { _tag: "Receipt" }

/** Whether an answer leaves open whether the submission commits. */
export const isOpen = ({ _tag }: SubmitError): boolean =>
  _tag === "OutcomeUnknown" || _tag === "ProtocolError"

/** The move after the ledger's answer; nothing that was looked up before the answer counts. */
export const afterAnswer = (answer: SubmitAnswer, progress: SentProgress): Move => {
  switch (answer._tag) {
    case "Receipt":
      return wait(projectedWithin)
    case "Busy":
    case "Unreachable":
      return notTaken(progress, Duration.toMillis(answer.retryAfter))
    case "OutcomeUnknown":
      return inDoubt(progress, answer.why)
    case "ProtocolError":
      return inDoubt(progress, answer.detail)
    case "Refused":
      return refusedBy(answer, progress)
    case "DedupUnsupported":
      return unrecognisable(progress)
    case "NotAuthorized":
      return answer.http === 401
        ? notTaken(progress, signedOut)
        : forbidden(progress, answer.detail)
  }
}

/** The ledger has not taken the submission: sent again after a pause, until it is given up. */
const notTaken = (progress: LedgerWriteProgress, millis: number): Move => {
  const again = spread(Math.max(millis, 50))
  if (progress.age <= progress.giveUpAfter) return again
  if (needsOutcome(progress)) return lookUp("committed")
  const detail = "The ledger did not take the command in time."
  return isAbsent(progress)
    ? { move: "refuse", cause: unavailable("ledger-unavailable", detail, 60) }
    : again
}

/** The submission may have committed: the ledger is asked until it shows which. */
const inDoubt = ({ attempt }: LedgerWriteProgress, why: string): Doubt => ({
  move: "doubt",
  why,
  then: spread(Math.min(30_000, backoff(attempt - 1)))
})

/** The ledger refused the submission: the step is failed or planned anew where it is absent. */
const refusedBy = (refusal: LedgerRefused, progress: SentProgress): Move => {
  const { committed, positions, step } = progress
  if (committed === undefined) return lookUp("committed")
  if (committed !== null) return note(committed)
  if (!isAbsent(progress)) return wait(refusedInDoubt)
  if (!LedgerRefusal.isStale(refusal) || step.replan >= replansMax) {
    return { move: "refuse", cause: LedgerRefusal.from(refusal) }
  }
  if (positions === undefined) return lookUp("positions")
  // The gates are judged again only against what the ledger refused by.
  return positions.head < positions.end
    ? wait(behind)
    : { move: "plan", step: step.step, replan: step.replan + 1 }
}

/** The ledger looks back less far than the step's offset: the projection does, or an operator decides. */
const unrecognisable = ({ dedup, positions, step }: SentProgress): Move => {
  if (positions === undefined) return lookUp("positions")
  if (positions.horizon > step.dedupOffset) {
    return {
      ...wait(unrecognised),
      alarm: "nobody can tell whether a ledger write has committed"
    }
  }
  return positions.head >= positions.end && dedup === "since-planned"
    ? { move: "send", dedup: "seven-days", isJudged: false }
    : wait(unrecognised)
}

/** The credential lacks the right to act: the operation fails, where the step is absent. */
const forbidden = (progress: LedgerWriteProgress, detail: string): Move => {
  if (needsOutcome(progress)) return lookUp("committed")
  const alarm = `the ledger does not let the engine act: ${detail}`
  if (!isAbsent(progress)) return { ...wait(refusedInDoubt), alarm }
  const cause = refused("ledger-rejected", failed("ledger-credential"))
  return { move: "refuse", cause, alarm }
}

/**
 * Whether an operation may be failed after a fault that is not the ledger's answer: only where no
 * step of it is under way, since what may have committed needs somebody who looks.
 */
export const mayGiveUp = (progress: LedgerWriteProgress): boolean | LookUp => {
  const { isProjected, step } = progress
  if (step === null) return true
  if (isProjected === undefined) return lookUp("isProjected")
  if (isProjected) return !step.last
  return needsOutcome(progress) ? lookUp("committed") : isAbsent(progress)
}
