/**
 * State machine of one ledger write: from what is recorded, projected and answered to the next
 * move.
 *
 * A step is sent under a command id that the ledger commits at most once. As long as a submission
 * of it may still commit, it is only sent again under the same command id: it is neither failed nor
 * planned anew under another one. A submission of an earlier lease, or one without an answer, may
 * commit at any later time: such a step is abandoned only once a marker has spent its command id
 * (docs/domain/ledger-writes.md#spent-command-ids).
 */
import { Duration } from "effect"
import type { Offset } from "../kernel/Offset.ts"
import { failed } from "../kernel/Gates.ts"
import { type Refused, refused, type Unavailable, unavailable } from "../kernel/Refusal.ts"
import type { Receipt, Refused as LedgerRefused, SubmitError } from "../ports/Ledger.ts"
import * as LedgerRefusal from "./LedgerRefusal.ts"
import type { OperationRecord, Step } from "./OperationRecord.ts"
import type { OperationFailure } from "./OperationTransitions.ts"

/** Number of times that a step may be planned anew because a contract it needs was archived. */
export const replansMax = 3

/**
 * Number of items that one step may lose in a row because the ledger refuses each alone: then the
 * write fails, since the cause is not theirs.
 */
export const leftOutMax = 100

/**
 * Number of times that a refused step is sent again as it is because an earlier answer was open; then
 * the write fails.
 */
export const doubtsMax = 20

/**
 * Milliseconds after an open answer until which an absent commit is still awaited
 * (docs/domain/ledger-writes.md#unknown-outcomes); then the command id may be spent.
 */
export const certainAfter = 120_000

/** Milliseconds between checks whether the projection has read a committed step. */
const projectedWithin = 500

/** Milliseconds between checks of a refused step that may have committed. */
const refusedInDoubt = 5_000

/** Milliseconds between checks of a step whose repeats the ledger cannot recognise. */
const unrecognised = 30_000

/** Milliseconds between checks of the projection that a new plan waits for. */
const behind = 250

/** Milliseconds until a step is sent again after the ledger did not accept the credential. */
const signedOut = 1_000

/** Milliseconds of 2^attempt seconds, at most a minute. */
export const backoff = (attempt: number): number =>
  Math.min(60_000, 1_000 * 2 ** Math.min(attempt, 6))

/** Commit of a step on the ledger: the part of its receipt that is kept. */
export interface StepCommit extends Pick<Receipt, "updateId" | "offset"> {
  /**
   * True where the projection never reads the commit: it lies before the snapshot that the ledger epoch
   * began with, which shows what it led to.
   */
  readonly isBehind?: boolean
}

/**
 * Deduplication window: all commits since the step was planned, or those that the projection has not
 * read. Each begins at an offset, so that the ledger refuses a submission that comes so late that it
 * no longer knows them.
 */
export type Dedup = "since-planned" | "since-projected"

/** Members of a step that the next move depends on. */
export type PlannedStep = Pick<
  Step,
  | "step"
  | "replan"
  | "last"
  | "dedupOffset"
  | "abandoned"
  | "items"
  | "divided"
  | "leftOut"
  | "staleEnd"
>

/** Progress of a ledger write; members that were not looked up are undefined. */
export interface LedgerWriteProgress {
  readonly state: OperationRecord["state"]
  /** The recorded step; null: none was planned. */
  readonly step: PlannedStep | null
  /** True once the projection has read the step's commit. */
  readonly isProjected?: boolean
  /** The step's commit on the ledger; null: there is none up to the ledger's end. */
  readonly committed?: StepCommit | null
  /** True once the marker that spends the step's command id is on the ledger. */
  readonly isSpent?: boolean
  /** Offset of that marker where the ledger showed it; absent: the projection has read it. */
  readonly spentAt?: Offset
  /** True where the lease before this one got an answer to every submission. */
  readonly isPreviousAnswered: boolean
  /** Number of leases of the operation, this lease included. */
  readonly attempt: number
  /** Milliseconds since the step was planned. */
  readonly age: number
  /**
   * Milliseconds from the latest answer that left open whether the step committed, until the ledger
   * was asked for the commit; null: no answer left it open.
   */
  readonly inDoubtFor: number | null
  /** Offsets: the ledger's end, the last one projected, and the first of the projected history. */
  readonly positions?: { readonly end: Offset; readonly head: Offset; readonly horizon: Offset }
  /** Deduplication window of the submission that was answered. */
  readonly dedup: Dedup
  /** Milliseconds after planning at which a step that the ledger does not take is given up. */
  readonly giveUpAfter: number
}

/** Progress of a ledger write whose step was sent. */
export type SentProgress = LedgerWriteProgress & { readonly step: PlannedStep }

/** Looks up a fact that decides the next move. */
export interface LookUp {
  readonly move: "look-up"
  readonly what: "isProjected" | "committed" | "positions"
}

/** Releases the operation to the queue for a while. */
interface Wait {
  readonly move: "wait"
  readonly millis: number
  /** Adds jitter to the pause, so that writes that failed together are not repeated together. */
  readonly isSpread: boolean
  /** Message for operators, logged as an error. */
  readonly alarm?: string
}

/** Sends the step's submission. */
export interface Send {
  readonly move: "send"
  readonly dedup: Dedup
  /** Judges the gates again first: not for a step that may have committed. */
  readonly isJudged: boolean
}

/**
 * Records that the step is abandoned, and how the operation then goes on: it fails by the cause, or
 * is judged and planned anew where there is none. The command id is to be spent next.
 */
interface Abandon {
  readonly move: "abandon"
  readonly cause: Refused | Unavailable | null
  /** Message for operators, logged as an error. */
  readonly alarm?: string
}

/** Submits the marker that spends the command id of an abandoned step. */
export interface Spend {
  readonly move: "spend"
  readonly dedup: Dedup
}

/** Fails the operation by the cause for which its step was abandoned. */
interface End {
  readonly move: "end"
  readonly failure: OperationFailure
}

/** Judges the gates and records a step, which is then sent. */
export interface Plan {
  readonly move: "plan"
  readonly step: number
  readonly replan: number
  /**
   * Refusal of the step as it was planned: it is divided, or loses its only item. Absent: it is planned
   * as it was.
   */
  readonly refusal?: Refused
  /** True where the records ask for something else than the recorded step, of which nothing was taken. */
  readonly isChanged?: boolean
}

/** Records that the step may have committed. */
interface Doubt {
  readonly move: "doubt"
  readonly why: string
  readonly then: Send | Wait
}

/** Records the commit that the ledger shows before the projection has read it. */
interface Note {
  readonly move: "note"
  readonly committed: StepCommit
  readonly then: Wait
}

/** Records the ledger's end up to which the projection is awaited before a stale step is planned anew. */
interface AwaitStale {
  readonly move: "await-stale"
  readonly staleEnd: Offset
  readonly then: Wait
}

/** Succeeds the operation, whose last step committed before the snapshot of the ledger epoch. */
interface Conclude {
  readonly move: "conclude"
  readonly committed: StepCommit
}

/** Fails the operation. */
interface Refuse {
  readonly move: "refuse"
  readonly cause: Refused | Unavailable
  /** Message for operators, logged as an error. */
  readonly alarm?: string
}

/** Takes an operation that has ended off the queue. */
interface Finish {
  readonly move: "finish"
}

export type Move =
  | LookUp
  | Plan
  | Send
  | Wait
  | Doubt
  | Note
  | AwaitStale
  | Conclude
  | Refuse
  | Abandon
  | Spend
  | End
  | Finish

const lookUp = (what: LookUp["what"]): LookUp => ({ move: "look-up", what })
const wait = (millis: number): Wait => ({ move: "wait", millis, isSpread: false })
const spread = (millis: number): Wait => ({ move: "wait", millis, isSpread: true })

/** Sends a step that was judged just now, or that may have committed and is not judged again. */
export const firstSend: Send = { move: "send", dedup: "since-planned", isJudged: false }

/**
 * Awaits whether a step in doubt has committed that the records would not send by now; where it has
 * not, it is abandoned.
 */
export const awaitedInDoubt: Wait = { move: "wait", millis: refusedInDoubt, isSpread: false }

/** Plans a step anew because the records ask for something else by now, which uses up no plan anew. */
export const changed = ({ replan, step }: Pick<PlannedStep, "replan" | "step">): Plan => ({
  move: "plan",
  step,
  replan: replan + 1,
  isChanged: true
})

/** Spends the command id of a step that was abandoned just now. */
export const firstSpend: Spend = { move: "spend", dedup: "since-planned" }

/**
 * Checks whether a submission that nobody has an answer to may commit at any later time: one of an
 * earlier lease, whose worker may be paused, or one that was answered by an open answer.
 */
export const mustSpend = ({ inDoubtFor }: Pick<LedgerWriteProgress, "inDoubtFor">): boolean =>
  inDoubtFor !== null

/**
 * Checks that the step has not committed by now: nothing of it is in doubt, or the ledger shows none
 * long enough after the last open answer. Where something is in doubt it may still commit later.
 */
const isAbsent = ({ committed, inDoubtFor }: LedgerWriteProgress): boolean =>
  inDoubtFor === null || (inDoubtFor >= certainAfter && committed === null)

/** Checks whether the ledger must be asked before the step counts as absent. */
const needsOutcome = ({ committed, inDoubtFor }: LedgerWriteProgress): boolean =>
  inDoubtFor !== null && inDoubtFor >= certainAfter && committed === undefined

const note = (committed: StepCommit): Note => ({
  move: "note",
  committed,
  then: wait(projectedWithin)
})

/** Fails the operation, or abandons its step first where a submission of it may still commit. */
const refuse = (
  progress: LedgerWriteProgress,
  failure: { readonly cause: Refused | Unavailable; readonly alarm?: string }
): Refuse | Abandon =>
  mustSpend(progress) ? { move: "abandon", ...failure } : { move: "refuse", ...failure }

/** Decides the move of a lease that has sent nothing. */
export const next = (progress: LedgerWriteProgress): Move => {
  const { committed, isProjected, isSpent, state, step } = progress
  if (state === "succeeded" || state === "failed") return { move: "finish" }
  if (step === null) return { move: "plan", step: 1, replan: 0 }
  if (isProjected === undefined) return lookUp("isProjected")
  if (isSpent === true) return afterSpent({ ...progress, step })
  if (isProjected) {
    // The projection ends the operation with its last step; after any other step, the next is planned.
    return step.last ? wait(projectedWithin) : { move: "plan", step: step.step + 1, replan: 0 }
  }
  if (committed === undefined) return lookUp("committed")
  if (committed !== null && committed.isBehind === true) {
    return step.last
      ? { move: "conclude", committed }
      : { move: "plan", step: step.step + 1, replan: 0 }
  }
  if (committed !== null) return note(committed)
  if (step.abandoned !== undefined) return firstSpend
  if (!progress.isPreviousAnswered) {
    // A worker that was killed or lost its lease while it sent: its submission may still arrive.
    return { move: "doubt", why: "an earlier lease ended before its answer", then: firstSend }
  }
  return { ...firstSend, isJudged: isAbsent(progress) }
}

/** The ledger's answer to a submission. */
export type SubmitAnswer = { readonly _tag: "Receipt" } | SubmitError

/** The answer to a submission that the ledger has committed. */
export const receipt: SubmitAnswer = { _tag: "Receipt" }

/** Checks whether an answer leaves open if the submission commits. */
export const isOpen = ({ _tag }: SubmitError): boolean =>
  _tag === "OutcomeUnknown" || _tag === "ProtocolError"

/** Decides the move after the ledger's answer; look-ups from before the answer are ignored. */
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

/**
 * Move where the ledger has not taken the submission: it is sent again after a pause, until it is
 * given up.
 */
const notTaken = (progress: LedgerWriteProgress, millis: number): Move => {
  const again = spread(Math.max(millis, 50))
  if (progress.age <= progress.giveUpAfter) return again
  if (needsOutcome(progress)) return lookUp("committed")
  const detail = "The ledger did not take the command in time."
  return isAbsent(progress)
    ? refuse(progress, { cause: unavailable("ledger-unavailable", detail, 60) })
    : again
}

/**
 * Move where the submission may have committed: the ledger is asked until the outcome is certain.
 */
const inDoubt = ({ attempt }: LedgerWriteProgress, why: string): Doubt => ({
  move: "doubt",
  why,
  then: spread(Math.min(30_000, backoff(attempt - 1)))
})

/**
 * Move where the ledger refused the submission: once absent, the step is failed or planned anew.
 */
const refusedBy = (refusal: LedgerRefused, progress: SentProgress): Move => {
  const { committed, step } = progress
  if (committed === undefined) return lookUp("committed")
  if (committed !== null) return note(committed)
  if (!isAbsent(progress)) return wait(refusedInDoubt)
  const { divided = 0, replan } = step
  const isStale = LedgerRefusal.isStale(refusal)
  const cause = LedgerRefusal.from(refusal)
  if (isStale && replan - divided < replansMax) {
    if (mustSpend(progress)) return { move: "abandon", cause: null }
    return whenRead(progress, { move: "plan", step: step.step, replan: replan + 1 })
  }
  if (LedgerRefusal.isCommon(refusal) || !isDivisible(step)) return refuse(progress, { cause })
  // Of a step that is in doubt the same items are sent again under another command id, and divided
  // once that one is refused without a doubt.
  if (mustSpend(progress)) {
    return replan - divided < doubtsMax
      ? { move: "abandon", cause: null }
      : refuse(progress, { cause })
  }
  const refused: Plan = { move: "plan", step: step.step, replan: replan + 1, refusal: cause }
  return isStale ? whenRead(progress, refused) : refused
}

/** Checks whether a refused step may be divided, or may lose its only item. */
const isDivisible = ({ items = [], leftOut = 0 }: PlannedStep): boolean =>
  items.length > 0 && leftOut < leftOutMax

/**
 * Plans a stale step anew once the projection has read as far as the ledger was when it first refused the
 * step: before, it may not have read who used the contract up, and would plan for it again. A later end of
 * the ledger is not awaited, since a busy one is always ahead of its projection.
 */
const whenRead = (
  { positions, step }: SentProgress,
  planned: Plan
): Plan | LookUp | AwaitStale | Wait => {
  if (positions === undefined) return lookUp("positions")
  const { end, head } = positions
  if (head >= (step.staleEnd ?? end)) return planned
  return step.staleEnd === undefined
    ? { move: "await-stale", staleEnd: end, then: wait(behind) }
    : wait(behind)
}

/**
 * Move where the command id of an abandoned step is spent: nothing of the step can commit. A step to be
 * planned anew awaits that the projection has read the marker, which came after whatever made it stale.
 */
const afterSpent = ({ positions, spentAt, step }: SentProgress): Move => {
  const failure = step.abandoned?.failure
  if (failure !== undefined) return { move: "end", failure }
  if (spentAt !== undefined) {
    if (positions === undefined) return lookUp("positions")
    if (positions.head < spentAt) return wait(behind)
  }
  return { move: "plan", step: step.step, replan: step.replan + 1 }
}

/**
 * Decides the move after the ledger's answer to the marker that spends the command id of an abandoned
 * step; look-ups from before the answer are ignored. Until the ledger has taken the marker, or shows
 * that the step itself has committed, the operation stays running.
 */
export const afterSpending = (answer: SubmitAnswer, progress: SentProgress): Move => {
  const { age, attempt, committed, giveUpAfter, isSpent } = progress
  if (isSpent === true) return afterSpent(progress)
  const late = age > giveUpAfter ? { alarm: unspent("the ledger does not take its marker") } : {}
  switch (answer._tag) {
    case "Receipt":
      // Of a duplicate it says only that one of the two has committed: the marker or the step.
      if (committed === undefined) return lookUp("committed")
      return committed === null ? wait(projectedWithin) : note(committed)
    case "Busy":
    case "Unreachable":
      return { ...spread(Math.max(Duration.toMillis(answer.retryAfter), 50)), ...late }
    case "OutcomeUnknown":
    case "ProtocolError":
      return { ...spread(Math.min(30_000, backoff(attempt - 1))), ...late }
    case "Refused":
      return { ...wait(unrecognised), alarm: unspent(answer.cause) }
    case "NotAuthorized":
      return answer.http === 401
        ? { ...spread(signedOut), ...late }
        : { ...wait(unrecognised), alarm: unspent(answer.detail) }
    case "DedupUnsupported":
      return unrecognisable(progress)
  }
}

const unspent = (why: string): string =>
  `an abandoned ledger write may still commit, since its command id is not spent: ${why}`

/**
 * Move where the ledger deduplicates only after the step's offset: the projection is asked, or an
 * operator decides.
 */
const unrecognisable = ({ dedup, isProjected, positions, step }: SentProgress): Move => {
  if (positions === undefined) return lookUp("positions")
  if (positions.horizon > step.dedupOffset) {
    return {
      ...wait(unrecognised),
      alarm: "nobody can tell whether a ledger write has committed"
    }
  }
  if (dedup !== "since-planned") return wait(unrecognised)
  // The projection shows what committed up to its head, which was read before; the ledger recognises what
  // committed after it. So a busy ledger, which is always ahead of its projection, is not awaited.
  if (isProjected === undefined) return lookUp("isProjected")
  if (isProjected) return wait(projectedWithin)
  return step.abandoned === undefined
    ? { move: "send", dedup: "since-projected", isJudged: false }
    : { move: "spend", dedup: "since-projected" }
}

/**
 * Move where the credential lacks the right to act: the operation fails, once the step is absent.
 */
const forbidden = (progress: LedgerWriteProgress, detail: string): Move => {
  if (needsOutcome(progress)) return lookUp("committed")
  const alarm = `the ledger does not let the engine act: ${detail}`
  if (!isAbsent(progress)) return { ...wait(refusedInDoubt), alarm }
  return refuse(progress, { cause: refused("ledger-rejected", failed("ledger-credential")), alarm })
}

/**
 * Decides whether an operation may be failed after a fault other than the ledger's answer: at once
 * where no step of it may commit, and otherwise once the command id of its step is spent.
 */
export const mayGiveUp = (
  progress: LedgerWriteProgress
): "at-once" | "once-spent" | "not-now" | LookUp => {
  const { committed, isProjected, isSpent, step } = progress
  if (step === null) return "at-once"
  if (isProjected === undefined) return lookUp("isProjected")
  if (isSpent === true) return "at-once"
  if (isProjected) return step.last ? "not-now" : "at-once"
  if (!mustSpend(progress)) return "at-once"
  if (needsOutcome(progress)) return lookUp("committed")
  if (committed !== null || !isAbsent(progress)) return "not-now"
  // Its marker is on its way: the operation ends by the cause that is recorded already.
  return step.abandoned === undefined ? "once-spent" : "not-now"
}
