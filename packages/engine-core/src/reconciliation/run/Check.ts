/** Declaration of a check of reconciliation: facts of one instrument, compared by a pure function. */
import { Data, type Effect, Stream } from "effect"
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Duration from "../../kernel/Duration.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Finding, Moment } from "../../findings/Finding.ts"
import type { Difference } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { Ledger } from "../../ports/Ledger.ts"
import type { Bulk } from "../../ports/storage/Bulk.ts"
import type { Feed } from "../../ports/storage/Feed.ts"
import type { ProjectionLog } from "../../ports/storage/ProjectionLog.ts"
import type { Records, Stored } from "../../records/Records.ts"
import type { ExternalSource } from "../../statements/external-source/ExternalSource.ts"
import type { BatchPoint } from "./ReserveBatchLookups.ts"

/** Point of a run: the run reads only what was written by then. */
export interface Point {
  readonly pin: Pin.ResolvedPin
  /**
   * Horizon: the offset after which the kept history begins; 0 where the projection began before the
   * first update of the ledger and no update is pruned.
   */
  readonly horizonOffset: number
  /**
   * True in a run on an instrument that starts by itself: a check may leave out records that an
   * earlier run judged and that cannot have changed since
   * (docs/domain/reconciliation.md#what-is-read-again).
   */
  readonly isBrief?: boolean
  /** All sources of statements, loaded at the first use; left out: each check loads them. */
  readonly sources?: Effect.Effect<ReadonlyArray<Stored<ExternalSource>>, Unavailable, Records>
}

/** Record that a finding, or input that was not compared, is about. */
type Subject = Finding["subject"]

/** The facts of a check cannot be read; `why` is shown with the run. */
export class CheckNotRun extends Data.TaggedError("CheckNotRun")<{
  readonly why: string
  /** The input that cannot be compared; left out: the check as a whole cannot run. */
  readonly subject?: Subject
}> {}

/**
 * Input that a check was given and did not compare. Runs and verdicts list it by name, so that a check
 * which looked at nothing never reads as clear (docs/domain/reconciliation.md#not-compared).
 */
export class NotCompared extends Data.TaggedClass("NotCompared")<{
  readonly subject: Subject
  /** The statement that was not compared, or the newest of several; null: it is no statement. */
  readonly statementId: string | null
  readonly why: string
  /**
   * True: the check has not run until the input is compared, and later runs try again. False: there is
   * nothing to wait for.
   */
  readonly isNeeded: boolean
}> {}

/**
 * A source's statements of an instrument that a check has compared, this run or an earlier one, but for
 * those that it names as not compared: findings on them that are not found again are cleared.
 */
export class ComparedFeed extends Data.TaggedClass("ComparedFeed")<{
  /** Source and instrument. */
  readonly feed: string
  /** Whether statements came since the check's watermark. */
  readonly hasNew: boolean
}> {}

/** A statement that a later run compares, because its source is inactive in this one. */
export class DeferredStatement extends Data.TaggedClass("DeferredStatement")<{
  readonly statementId: string
}> {}

/** Notes in a stream of facts: input that was not compared, a source that was, a statement for a later run. */
export type Note = NotCompared | ComparedFeed | DeferredStatement

export const isNote = (element: unknown): element is Note =>
  element instanceof NotCompared ||
  element instanceof ComparedFeed ||
  element instanceof DeferredStatement

/**
 * Flattens facts that are read part by part, such as those of several sources: the facts of every part
 * that can be read come first, then the name of each part that cannot be. So a part that cannot be read
 * hides no difference of another one. A fault without a subject ends the stream.
 */
export const readableFirst = <F, R, R2>(
  parts: Stream.Stream<
    Stream.Stream<F, CheckNotRun | Unavailable, R>,
    CheckNotRun | Unavailable,
    R2
  >
): Stream.Stream<F | NotCompared, CheckNotRun | Unavailable, R | R2> =>
  Stream.suspend(() => {
    const named: Array<NotCompared> = []
    let first: CheckNotRun | undefined
    const readable = Stream.flatMap(parts, (part) =>
      catchNotRun(part, (fault) => {
        const { subject, why } = fault
        if (subject === undefined) first ??= fault
        else named.push(new NotCompared({ subject, statementId: null, why, isNeeded: true }))
      })
    )
    const unreadable = Stream.suspend(() => Stream.fromIterable(named))
    const rest = Stream.suspend(() => (first === undefined ? Stream.empty : Stream.fail(first)))
    return Stream.concat(Stream.concat(readable, unreadable), rest)
  })

/** Ends a stream of facts where they cannot be read any further, and passes on the fault. */
export const catchNotRun = <F, R>(
  facts: Stream.Stream<F, CheckNotRun | Unavailable, R>,
  onFault: (fault: CheckNotRun) => void
): Stream.Stream<F, Unavailable, R> =>
  Stream.catchTag(facts, "CheckNotRun", (fault) => {
    onFault(fault)
    return Stream.empty
  })

/** Inputs of a check besides its facts: the policy in force, and the time of the run. */
export interface Terms {
  /** The policy's own tolerance for the check; null where it names none. */
  readonly tolerance: Decimal.Decimal | null
  /** Grace time, of the policy or by default; null: the check has none. */
  readonly grace: Duration.Duration | null
  /** The instant that the run judges time at. */
  readonly now: Instant.Instant
}

/** Services that load the facts of a check. */
export type Services = Records | Crypto | Bulk | Ledger | Feed | ProjectionLog

/** One row of the table of checks (docs/domain/reconciliation.md#checks). */
export interface Check<F = unknown> {
  /**
   * Streams the facts of an instrument at the point, in constant memory, and notes on input that the
   * check does not compare; neither facts nor notes: there is no input.
   */
  facts(
    instrument: Stored<Instrument>,
    at: BatchPoint,
    terms: Terms
  ): Stream.Stream<F | Note, CheckNotRun | Unavailable, Services>
  /**
   * Streams facts of the venue that belong to no instrument, once a run; left out: there are none. Their
   * differences name no instrument.
   */
  venueFacts?(at: Point): Stream.Stream<F | Note, CheckNotRun | Unavailable, Services>
  /**
   * True: the other checks rest on this one. Where it finds a blocking difference of the venue, the run is
   * incomplete and clears neither findings nor distributions.
   */
  readonly isGround?: true
  /** Whether runs keep a watermark of what the check judged. */
  readonly isMarked?: true
  /**
   * True: the subjects of differences end with the business date of their statement. Releases before
   * left the date out: a finding of theirs that is not cleared keeps its identity while its statement
   * is in force.
   */
  readonly isDated?: true
  /** Time for which a comparison of the venue's facts that found nothing serves brief runs; left out: none. */
  readonly servesFor?: Duration.Duration
  /**
   * Compares one fact: returns its differences beyond the tolerance, which is the policy's, or the
   * default; 0 where the default follows from more than the policy, so that the check derives it
   * where `terms.tolerance` is null.
   */
  differences(fact: F, tolerance: Decimal.Decimal, terms: Terms): ReadonlyArray<Difference>
  /**
   * Moment of the figures of a fact, also of one without a difference; null, as where it is left
   * out: the run's pin. Facts of an earlier moment do not clear a finding of a later one.
   */
  comparedAt?(fact: F): Moment | null
  /**
   * Ids of the statements of a fact that later runs compare again, because their differences are not
   * settled. Left out: those of its blocking differences.
   */
  again?(fact: F, tolerance: Decimal.Decimal, terms: Terms): ReadonlyArray<string>
}

/** Declares a check; the type of its facts follows from the functions. */
export const define = <F>(check: Check<F>): Check<F> => check
