/** Pure rules of reconciliation runs: verdict, counts by check, limit of new findings. */
import * as Decimal from "../../kernel/Decimal.ts"
import { type Finding, type Moment, blocks } from "../../findings/Finding.ts"
import { type Difference, identityOf } from "../../findings/FindingRules.ts"
import type { NotCompared as Listed } from "../../findings/NotCompared.ts"
import * as PolicyTerms from "../../instruments/policy/PolicyTerms.ts"
import * as Instant from "../../kernel/Instant.ts"
import { isConcealedCheck } from "../../vocabulary/ReconciliationChecks.ts"
import type { FindingSeverity, Verdict } from "../../vocabulary/sets.ts"
import {
  type Check,
  type CheckNotRun,
  factsAndNotes,
  NotCompared,
  type Note,
  type CheckTerms
} from "../checks/Check.ts"
import type { RunCheck, RunScope } from "./Run.ts"
import type { PartOutcome } from "./RunPart.ts"

/** Largest number of new findings of one check and instrument in one run. */
export const newMax = 1_000

/** `why` of a check that ran and found no facts. */
export const nothingToCompare = "nothing-to-compare"

/** `why` of a check whose facts an earlier run compared a short time ago without a difference. */
export const comparedBefore = "compared-before"

/** Outcome of one check for one instrument, or for the venue. */
export interface ComparisonOutcome {
  readonly check: string
  /** Null: the outcome is of the venue's own facts, which belong to no instrument. */
  readonly instrumentId: string | null
  readonly ran: boolean
  /** Null where it ran and compared something. */
  readonly why: string | null
  /** Newest moment of the figures compared that are not of the run's pin; null: there were none. */
  readonly comparedAt: Moment | null
  readonly differences: ReadonlyArray<Difference>
  /** Input that the check had and did not compare. */
  readonly notCompared: ReadonlyArray<NotCompared>
  /**
   * Sources with the instrument, by the key of the feed, whose statements were compared, by this run or
   * an earlier one; null: the check compares no statements, or did not begin.
   */
  readonly feeds: ReadonlySet<string> | null
  /** Whether the check judges all that is in force, of whatever source. */
  readonly judgesAll: boolean
  /** Whether statements came since the check's watermark. */
  readonly hasNew: boolean
  /** Ids of the statements that the next run compares again. */
  readonly again: ReadonlyArray<string>
}

/**
 * Verdict of a run or of an instrument (docs/domain/reconciliation.md#verdict), by precedence:
 * `blocked` with an open blocking finding, `incomplete` where a check could not run, `findings` with
 * a warning or an accepted finding, else `clear`.
 */
export const verdictOf = ({
  findings,
  outcomes
}: {
  readonly findings: ReadonlyArray<Pick<Finding, "state" | "severity">>
  readonly outcomes: ReadonlyArray<Pick<ComparisonOutcome, "ran">>
}): Verdict => {
  if (findings.some(blocks)) return "blocked"
  if (outcomes.some(({ ran }) => !ran)) return "incomplete"
  return findings.some(({ severity }) => severity !== "info") ? "findings" : "clear"
}

/**
 * Verdict as investors and apps read it. An open finding that blocks makes it `blocked`, of whatever check,
 * since the hold is shown; otherwise neither findings of concealed checks count nor blocking ones, which
 * were accepted.
 */
export const shownVerdictOf = ({
  findings,
  outcomes
}: {
  readonly findings: ReadonlyArray<Pick<Finding, "state" | "severity" | "check">>
  readonly outcomes: ReadonlyArray<Pick<ComparisonOutcome, "ran">>
}): Verdict =>
  verdictOf({
    findings: findings.filter((finding) => blocks(finding) || isShown(finding)),
    outcomes
  })

/**
 * Checks whether investors and apps read of a finding in counts and ages. A blocking one is left out, of
 * whatever check: beside its count, `blocked` without one would show that a concealed check blocks.
 */
export const isShown = ({ check, severity }: Pick<Finding, "check" | "severity">): boolean =>
  severity !== "blocking" && !isConcealedCheck(check)

/**
 * The checks of a run with their outcomes over all instruments, in the order of the table. A check
 * ran where it ran for every instrument; it had nothing to compare where no instrument had facts.
 */
export const ranOf = (
  checks: ReadonlyArray<string>,
  outcomes: ReadonlyArray<ComparisonOutcome>
): ReadonlyArray<RunCheck> =>
  ranIn(
    checks,
    outcomes.map(({ check, differences, ran, why }) => ({
      check,
      ran,
      why,
      findings: differences.length
    }))
  )

/** Sums what parts of a run say of its checks; a check of which none says anything had nothing to compare. */
const ranIn = (
  checks: ReadonlyArray<string>,
  parts: ReadonlyArray<RunCheck>
): ReadonlyArray<RunCheck> => {
  const byCheck = Map.groupBy(parts, ({ check }) => check)
  return checks.map((check) => {
    const own = byCheck.get(check) ?? []
    const failed = own.find(({ ran }) => !ran)
    const isIdle = own.every(({ why }) => why === nothingToCompare)
    const served = own.find(({ why }) => why === comparedBefore)
    return {
      check,
      ran: failed === undefined,
      why: failed?.why ?? served?.why ?? (isIdle ? nothingToCompare : null),
      findings: own.reduce((sum, { findings }) => sum + findings, 0)
    }
  })
}

/** Verdicts, each of which takes precedence over those after it. */
const precedence: ReadonlyArray<Verdict> = ["blocked", "incomplete", "findings", "clear"]

const worseOf = (one: Verdict, other: Verdict): Verdict =>
  precedence.find((verdict) => verdict === one || verdict === other) ?? "clear"

/** Outcome of a run before its first part. */
export const noParts = (checks: ReadonlyArray<string>): Omit<PartOutcome, "asOf"> => ({
  checks: ranIn(checks, []),
  notCompared: [],
  notComparedCount: 0,
  verdict: "clear",
  shownVerdict: "clear",
  holdsOpened: [],
  distributionsCleared: []
})

/** Adds the outcome of a part to that of a run: the sum is that of all outcomes of the parts at once. */
export const withPart = (
  sum: Omit<PartOutcome, "asOf">,
  part: Omit<PartOutcome, "asOf">
): Omit<PartOutcome, "asOf"> => ({
  checks: ranIn(
    sum.checks.map(({ check }) => check),
    [...sum.checks, ...part.checks]
  ),
  notCompared: [...sum.notCompared, ...part.notCompared].slice(0, notComparedMax),
  notComparedCount: sum.notComparedCount + part.notComparedCount,
  verdict: worseOf(sum.verdict, part.verdict),
  shownVerdict:
    sum.shownVerdict === null || part.shownVerdict === null
      ? null
      : worseOf(sum.shownVerdict, part.shownVerdict),
  holdsOpened: [...sum.holdsOpened, ...part.holdsOpened],
  distributionsCleared: [...sum.distributionsCleared, ...part.distributionsCleared]
})

/** Largest number of entries of a run's list of what was not compared. */
export const notComparedMax = 1_000

/**
 * Lists the input that checks had and did not compare. A check that could not run at all is an entry of
 * its own, under the instrument (docs/domain/reconciliation.md#not-compared).
 */
export const notComparedOf = (
  outcomes: ReadonlyArray<
    Pick<ComparisonOutcome, "check" | "instrumentId" | "ran" | "why" | "notCompared">
  >
): ReadonlyArray<Listed> =>
  outcomes.flatMap(({ check, instrumentId, notCompared, ran, why }): ReadonlyArray<Listed> => {
    const listed = notCompared.map(
      ({ isNeeded, statementId, subject, why: reason }): Listed => ({
        check,
        instrumentId,
        subject,
        statementId,
        why: reason,
        isNeeded
      })
    )
    if (ran || listed.some(({ isNeeded }) => isNeeded)) return listed
    const subject =
      instrumentId === null
        ? ({ resourceKind: "contract", id: "*" } as const)
        : ({ resourceKind: "instrument", id: instrumentId } as const)
    const whole = { check, instrumentId, subject, statementId: null, why: why ?? check }
    return [...listed, { ...whole, isNeeded: true }]
  })

/** The policy's terms for a check (docs/domain/instruments.md#grace-times). */
export const termsOf = (
  check: string,
  { tolerances, grace }: Pick<PolicyTerms.PolicyTerms, "tolerances" | "grace">
): Pick<CheckTerms, "tolerance" | "grace"> => {
  const byDefault = PolicyTerms.graceDefaults[check] ?? null
  return {
    tolerance: tolerances[check] ?? null,
    grace: grace[check] ?? (byDefault === "endless" ? null : byDefault)
  }
}

/** Tolerance of a check: the policy's, else the default; null where the check derives its default. */
export const toleranceOf = (
  check: string,
  { tolerance }: Pick<CheckTerms, "tolerance">
): Decimal.Decimal | null => {
  const byDefault = PolicyTerms.toleranceDefaults[check] ?? Decimal.zero
  return tolerance ?? (byDefault === "derived" ? null : byDefault)
}

const isSame = (a: Finding["subject"], b: Finding["subject"]): boolean =>
  a.resourceKind === b.resourceKind && a.id === b.id

const isNoOlder = (moment: Moment, than: Moment): boolean =>
  moment.offset >= than.offset && Instant.atOrAfter(moment.instant, than.instant)

/** The newer of two moments; null: there is none. */
const newestOf = (a: Moment | null, b: Moment | null): Moment | null =>
  b === null || (a !== null && isNoOlder(a, b)) ? a : b

/** A run's outcome of one check and instrument, by which findings that it did not find are judged. */
export interface Judgement {
  /** The run's pin. */
  readonly asOf: Moment
  readonly outcome: Pick<
    ComparisonOutcome,
    "ran" | "comparedAt" | "feeds" | "judgesAll" | "notCompared"
  >
}

/** The statement that a finding names, and the source and instrument that it is of. */
export interface NamedStatement {
  readonly externalStatementId: string
  readonly feed: string
}

/**
 * Tells whether a check that no longer finds a finding clears it: the check ran, with input that is no
 * older than that of the finding. Of a check of statements: it compared the statement of the finding,
 * or the one that corrects it; another date's statement clears nothing, and neither does a run without
 * the statement's source (docs/domain/reconciliation.md#clearing-findings).
 */
export const clears = (
  { asOf, outcome: { ran, comparedAt, feeds, judgesAll, notCompared } }: Judgement,
  finding: Pick<Finding, "asOf" | "comparedAt" | "subject">,
  statement: NamedStatement | null
): boolean => {
  if (!ran || !isNoOlder(asOf, finding.asOf)) return false
  if (statement !== null && !judgesAll) {
    const { externalStatementId, feed } = statement
    const isLeftOut = notCompared.some(
      ({ statementId, subject }) =>
        statementId === externalStatementId || isSame(subject, finding.subject)
    )
    return feeds !== null && feeds.has(feed) && !isLeftOut
  }
  return (
    finding.comparedAt === null ||
    (comparedAt !== null && isNoOlder(comparedAt, finding.comparedAt))
  )
}

const worst = (a: FindingSeverity, b: FindingSeverity): FindingSeverity =>
  (["blocking", "warning"] as const).find((severity) => a === severity || b === severity) ?? "info"

/** Sum of the new differences beyond `newMax`. */
type Rest = Pick<Difference, "severity" | "unit" | "tolerance" | "unexplained" | "comparedAt">

/**
 * The new differences beyond `newMax` as one difference on the instrument: the sum of their
 * unexplained amounts (docs/domain/reconciliation.md#limit-of-new-findings).
 */
const restOf = (
  { check, instrumentId }: Pick<ComparisonOutcome, "check" | "instrumentId">,
  rest: Rest
): Difference => ({
  check,
  instrumentId,
  subject:
    instrumentId === null
      ? { resourceKind: "contract", id: "*" }
      : { resourceKind: "instrument", id: instrumentId },
  holderId: null,
  expected: null,
  actual: null,
  difference: rest.unexplained,
  explained: { amount: Decimal.zero, by: [] },
  statementId: null,
  missingDates: [],
  entry: null,
  ...rest
})

/** Differences of one check and instrument, gathered a batch at a time in bounded memory. */
interface GatheredDifferences {
  readonly isCompared: boolean
  /** Reason why further facts could not be read; null: all were. */
  readonly notRun: string | null
  readonly comparedAt: Moment | null
  /** Differences that are findings already; every one is judged again. */
  readonly repeats: ReadonlyArray<Difference>
  /** New differences, at most `newMax`. */
  readonly fresh: ReadonlyArray<Difference>
  /** Null where the new differences are within the limit. */
  readonly rest: Rest | null
  readonly notCompared: ReadonlyArray<NotCompared>
  readonly feeds: ReadonlySet<string> | null
  readonly hasNew: boolean
  readonly again: ReadonlySet<string>
}

export const nothing: GatheredDifferences = {
  notCompared: [],
  feeds: null,
  hasNew: false,
  again: new Set(),
  isCompared: false,
  notRun: null,
  comparedAt: null,
  repeats: [],
  fresh: [],
  rest: null
}

/** Differences of a batch of facts, and the moments of their figures. */
export interface Batch {
  readonly differences: ReadonlyArray<Difference>
  readonly moments: ReadonlyArray<Moment>
  /** Number of facts that were compared. */
  readonly facts: number
  readonly notes: ReadonlyArray<Note>
  /** Ids of the statements that the next run compares again. */
  readonly again: ReadonlyArray<string>
}

/** Compares a batch of facts by their check, and keeps the notes among them. */
export const batchOf = (
  check: Check,
  elements: ReadonlyArray<unknown>,
  terms: CheckTerms
): Batch => {
  const tolerance = toleranceOf(check.name, terms)
  const { facts, notes } = factsAndNotes(elements)
  const differences: Array<Difference> = []
  const moments: Array<Moment> = []
  const again: Array<string> = []
  for (const fact of facts) {
    const found = check.differences(fact, tolerance, terms)
    differences.push(...found)
    const moment = check.comparedAt?.(fact) ?? null
    if (moment !== null) moments.push(moment)
    again.push(...(check.again?.(fact, tolerance, terms) ?? blockingOf(found)))
  }
  return { differences, moments, facts: facts.length, notes, again }
}

/** Ids of the statements of blocking differences. */
const blockingOf = (differences: ReadonlyArray<Difference>): ReadonlyArray<string> =>
  differences.flatMap(({ severity, statementId }) =>
    severity === "blocking" ? (statementId ?? []) : []
  )

/** Adds a batch of differences; `found` has the identities of those that are findings already. */
export const withBatch = (
  self: GatheredDifferences,
  { differences, moments, facts, notes, again }: Batch,
  found: ReadonlySet<string>
): GatheredDifferences => {
  const repeats = [...self.repeats]
  const fresh = [...self.fresh]
  for (const difference of differences) {
    if (found.has(identityOf(difference))) repeats.push(difference)
    else fresh.push(difference)
  }
  const named = notes.flatMap((note) => (note._tag === "NotCompared" ? [note] : []))
  const feeds = notes.flatMap((note) => (note._tag === "ComparedFeed" ? [note.feed] : []))
  const later = notes.flatMap((note) =>
    note._tag === "DeferredStatement" ? [note.statementId] : []
  )
  const untried = named.flatMap(({ isNeeded, statementId }) =>
    isNeeded ? (statementId ?? []) : []
  )
  return {
    ...self,
    isCompared: self.isCompared || facts > 0,
    notRun: self.notRun ?? named.find(({ isNeeded }) => isNeeded)?.why ?? null,
    notCompared: [...self.notCompared, ...named],
    hasNew: self.hasNew || notes.some((note) => note._tag === "ComparedFeed" && note.hasNew),
    feeds: feeds.length === 0 ? self.feeds : new Set([...(self.feeds ?? []), ...feeds]),
    again: new Set([...self.again, ...again, ...later, ...untried]),
    comparedAt: moments.reduce<Moment | null>(newestOf, self.comparedAt),
    repeats,
    fresh: fresh.slice(0, newMax),
    rest: fresh.slice(newMax).reduce<Rest | null>(
      (sum, { severity, unit, tolerance, unexplained, comparedAt }) => ({
        severity: worst(sum?.severity ?? "info", severity),
        unit,
        tolerance,
        comparedAt: newestOf(sum?.comparedAt ?? null, comparedAt),
        unexplained: Decimal.add(sum?.unexplained ?? Decimal.zero, unexplained)
      }),
      self.rest
    )
  }
}

/** Facts of which some could not be read: the check has not run, or has not compared what the fault names. */
export const withFault = (
  self: GatheredDifferences,
  { subject, why }: CheckNotRun
): GatheredDifferences => {
  if (subject === undefined) return { ...self, notRun: why, feeds: null }
  const named = new NotCompared({ subject, statementId: null, why, isNeeded: true })
  return { ...self, notRun: why, notCompared: [...self.notCompared, named] }
}

/**
 * The outcome of a check: all its differences, the sum of those beyond the limit last. A check with
 * facts that could not be read has not run; the differences of the others count all the same.
 */
export const outcomeOf = (
  identity: Pick<ComparisonOutcome, "check" | "instrumentId" | "judgesAll">,
  {
    isCompared,
    notRun,
    comparedAt,
    repeats,
    fresh,
    rest,
    notCompared,
    feeds,
    hasNew,
    again
  }: GatheredDifferences
): ComparisonOutcome => ({
  ...identity,
  hasNew,
  notCompared,
  feeds,
  again: [...again],
  ran: notRun === null,
  why: notRun ?? (isCompared ? null : nothingToCompare),
  comparedAt,
  differences: [...repeats, ...fresh, ...(rest === null ? [] : [restOf(identity, rest)])]
})

/**
 * The outcome of the venue's facts, which name no instrument. A finding without an instrument holds none,
 * so that it is a warning at most; one of a check on which the others rest blocks all the same, because
 * it lets the run clear nothing (docs/domain/reconciliation.md#what-blocks).
 */
export const ofVenue = (
  outcome: ComparisonOutcome,
  { isGround }: { readonly isGround?: true }
): ComparisonOutcome =>
  isGround === true
    ? outcome
    : {
        ...outcome,
        differences: outcome.differences.map((difference) =>
          difference.severity === "blocking"
            ? { ...difference, severity: "warning" as const }
            : difference
        )
      }

/**
 * Tells whether the check judged every fact in this run and each difference is a finding of its own: false
 * where differences beyond the limit were summed, and for the venue's facts where one differs.
 */
export const isJudgedWhole = (outcome: ComparisonOutcome): boolean =>
  outcome.ran &&
  outcome.why !== comparedBefore &&
  (outcome.instrumentId === null ? outcome.differences.length === 0 : hasFindingOfEach(outcome))

/** Checks whether no differences of an instrument beyond the limit of new findings were summed. */
export const hasFindingOfEach = ({
  differences
}: Pick<ComparisonOutcome, "differences">): boolean =>
  differences.every(({ subject }) => subject.resourceKind !== "instrument")

/** Checks whether a run of this scope judges every check that this release has. */
export const isWhole = (
  { checks }: Pick<RunScope, "checks">,
  all: ReadonlyArray<string>
): boolean => checks === null || all.every((check) => checks.includes(check))
