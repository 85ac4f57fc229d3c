/**
 * Declaration of a check of reconciliation: facts of one instrument, loaded by an effect and compared by
 * a pure function. Its name is a row of `vocabulary/ReconciliationChecks.ts`.
 */
import { Data, type Effect, Stream } from "effect"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Finding, Moment } from "../../findings/Finding.ts"
import type { Difference, PlainDifference } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { Ledger } from "../../ports/Ledger.ts"
import type { Bulk } from "../../ports/storage/Bulk.ts"
import type { Feed } from "../../ports/storage/Feed.ts"
import type { ProjectionLog } from "../../ports/storage/ProjectionLog.ts"
import type { Records, Stored } from "../../records/Records.ts"
import type { ReserveBooks } from "../../reserves/reserve/CoverRules.ts"
import type { Reserve } from "../../reserves/reserve/Reserve.ts"
import type { ExternalSource } from "../../statements/external-source/ExternalSource.ts"
import type { OwnWord } from "../../vocabulary/OwnWord.ts"
import type { CheckName, reconciliationChecks } from "../../vocabulary/ReconciliationChecks.ts"

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

/** A reserve in force on the ledger, with its books at the run's pin. */
export interface BackingReserve {
  readonly reserve: Reserve
  readonly books: ReserveBooks
}

type ByInstrument<A> = Effect.Effect<ReadonlyMap<string, A>, Unavailable, Records>

/** Reserves of a batch's instruments, by instrument; each member is loaded at its first use. */
interface ReservesOfBatch {
  readonly backed: ByInstrument<BackingReserve>
  /** Keyed hashes of the numbers of the accounts in custody that are mapped to a backed instrument. */
  readonly custodyHashes: ByInstrument<ReadonlySet<string>>
  /** Ids of the reserves that have ended and for which holdings are still locked. */
  readonly orphaned: ByInstrument<ReadonlyArray<string>>
}

/** A run's point, with the prefetch for a batch of its instruments. */
export interface BatchPoint extends Point {
  readonly reserves: ReservesOfBatch
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

/** Splits what a check streams into its facts and its notes, each in their order. */
export const factsAndNotes = <F>(
  elements: ReadonlyArray<F | Note>
): { readonly facts: ReadonlyArray<F>; readonly notes: ReadonlyArray<Note> } => {
  const facts: Array<F> = []
  const notes: Array<Note> = []
  for (const element of elements) {
    if (isNote(element)) notes.push(element)
    else facts.push(element)
  }
  return { facts, notes }
}

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
const catchNotRun = <F, R>(
  facts: Stream.Stream<F, CheckNotRun | Unavailable, R>,
  onFault: (fault: CheckNotRun) => void
): Stream.Stream<F, Unavailable, R> =>
  Stream.catchTag(facts, "CheckNotRun", (fault) => {
    onFault(fault)
    return Stream.empty
  })

/** Inputs of a check besides its facts: the policy in force, and the time of the run. */
export interface CheckTerms {
  /** The policy's own tolerance for the check; null where it names none. */
  readonly tolerance: Decimal.Decimal | null
  /** Grace time, of the policy or by default; null: the check has none. */
  readonly grace: Duration.Duration | null
  /** The instant that the run judges time at. */
  readonly now: Instant.Instant
}

/** Grace time of a check, and the instant that it is judged at. */
export type GraceTerms = Pick<CheckTerms, "grace" | "now">

/**
 * Checks whether more than the grace time has passed since an instant; at its very end it has not. A
 * check without a grace time does not wait.
 */
export const isOverdue = (since: Instant.Instant, { grace, now }: GraceTerms): boolean =>
  Instant.isAfter(now, Instant.add(since, grace ?? Duration.zero))

/** Services that load the facts of a check. */
export type Services = Records | Crypto | Bulk | Ledger | Feed | ProjectionLog

/** Facts of a check, as they are loaded. */
export type Facts<F> = Stream.Stream<F, CheckNotRun | Unavailable, Services>

/** Facts with notes on input that is not compared. */
export type NotedFacts<F> = Facts<F | Note>

type Table = typeof reconciliationChecks

/**
 * Tolerance that a check compares by: the policy's, or that of the table. Of a check that derives its
 * own it is the policy's alone, and null where the policy names none.
 */
type ToleranceOf<N extends CheckName> = Table[N]["tolerance"] extends "derived"
  ? Decimal.Decimal | null
  : Decimal.Decimal

/** Input of the comparison besides the fact; the time only where the table gives a grace time. */
type InputOf<N extends CheckName> = Table[N]["grace"] extends `P${string}`
  ? readonly [tolerance: ToleranceOf<N>, timing: GraceTerms]
  : readonly [tolerance: ToleranceOf<N>]

/** Sentences on a check for the page of checks. */
interface Page {
  /** One sentence: what the check finds. */
  readonly doc: string
  /** Section of docs/domain/reconciliation.md with the rule. */
  readonly rule: string
  /** Input that the check needs to be able to compare; without it there is nothing to compare. */
  readonly needs: string
  /** Reasons (`why`) for which input that the check has is not compared, or the check cannot run. */
  readonly cannot: Readonly<Record<string, string>>
  /** When a finding blocks and when it warns, of a check with two severities. */
  readonly severity?: string
  /** Tolerance of a check that derives it. */
  readonly derives?: string
  /** Amount of which the tolerance is a fraction; left out: it is an amount in the finding's unit. */
  readonly fractionOf?: string
}

/** One check of reconciliation (docs/domain/reconciliation.md#checks). */
export interface Check<
  F = unknown,
  I extends ReadonlyArray<unknown> = readonly [
    tolerance: Decimal.Decimal | null,
    timing: GraceTerms
  ]
> extends Page {
  readonly name: CheckName | OwnWord
  /**
   * Streams the facts of an instrument at the point, in constant memory, and notes on input that the
   * check does not compare; neither facts nor notes: there is no input.
   */
  facts(instrument: Stored<Instrument>, at: BatchPoint, terms: CheckTerms): NotedFacts<F>
  /**
   * Streams facts of the venue that belong to no instrument, once a run; left out: there are none. Their
   * differences name no instrument.
   */
  venueFacts?(at: Point): NotedFacts<F>
  /**
   * True: the check judges all that is in force at the run's pin, of whatever source, so that each finding
   * that it does not find again is cleared. Left out: a finding that names a statement is cleared only
   * where the check notes that it compared the statement's feed.
   */
  readonly judgesAll?: true
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
   * Compares one fact: returns all its differences beyond the tolerance. Of several under one subject a run
   * shows the first that no acceptance covers, else the first, so that no accepted difference hides another;
   * the check puts them in the order in which they are to be shown. Pure.
   */
  differences(fact: F, ...input: I): ReadonlyArray<Difference>
  /**
   * Moment of the figures of a fact, also of one without a difference; null, as where it is left
   * out: the run's pin. Facts of an earlier moment do not clear a finding of a later one.
   */
  comparedAt?(fact: F): Moment | null
  /**
   * Ids of the statements of a fact that later runs compare again, because their differences are not
   * settled. Left out: those of its blocking differences.
   */
  again?(fact: F, ...input: I): ReadonlyArray<string>
}

type Definition<N extends CheckName, F> = Omit<
  Check<F, InputOf<N>>,
  "name" | "differences" | "severity" | "derives"
> &
  (Table[N]["severities"] extends readonly [string] ? unknown : { readonly severity: string }) &
  (Table[N]["tolerance"] extends "derived" ? { readonly derives: string } : unknown) & {
    differences(
      fact: F,
      ...input: InputOf<N>
    ): ReadonlyArray<PlainDifference<Table[N]["severities"][number] | "info">>
  }

/**
 * Declares the check of a row of the table: its severities are those of the row, and its comparison
 * returns values and no Effect. The type of its facts follows from the functions.
 */
export const define = <const N extends CheckName, F>(
  name: N,
  definition: Definition<N, F>
): Check<F, InputOf<N>> => ({
  ...definition,
  name,
  differences: (fact, ...input) =>
    definition
      .differences(fact, ...input)
      .map((difference): Difference => ({ ...difference, check: name }))
})
