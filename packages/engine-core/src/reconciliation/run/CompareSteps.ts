/** Steps that run the checks of a reconciliation run at its pin, outside transactions. */
import { Effect, Option, Result, Stream } from "effect"
import { shownDistributions } from "../../distributions/distribution/Distribution.ts"
import { distributionLines } from "../../distributions/distribution/DistributionLine.ts"
import { findings } from "../../findings/Finding.ts"
import { acceptedFigures } from "../../findings/AcceptedLookups.ts"
import {
  type AcceptedFigures,
  type Difference,
  idTextOf,
  identityOf,
  oneOfEach
} from "../../findings/FindingRules.ts"
import { type Instrument, instruments } from "../../instruments/instrument/Instrument.ts"
import * as PolicyTerms from "../../instruments/policy/PolicyTerms.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { Feed } from "../../ports/storage/Feed.ts"
import { ProjectionLog } from "../../ports/storage/ProjectionLog.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Point from "../../reads/Point.ts"
import * as AllChecks from "../checks/AllChecks.ts"
import type * as Check from "../checks/Check.ts"
import { pointOf } from "../checks/ReserveBatchLookups.ts"
import { checkMarks, idOf } from "./CheckMark.ts"
import type { RunScope } from "./Run.ts"
import * as Rules from "./RunRules.ts"

/** Number of facts that are compared, and looked up among the findings, together. */
const batchMax = 500

/** Number of instruments for which a run prefetches together. */
const instrumentsMax = 500

/** `why` of checks of a run that found the ledger unreachable. */
const ledgerUnreachable = "ledger-unreachable"

/**
 * `why` of a check that a defect ended (docs/domain/reconciliation.md#checks-that-fail).
 */
const defect = "internal"

/** An instrument as a run covers it, with the outcome of each check. */
export interface CoveredInstrument {
  readonly instrument: Pick<Instrument, "instrumentId" | "registrar">
  readonly outcomes: ReadonlyArray<Rules.ComparisonOutcome>
}

/** Point of a run with the outcomes of the venue's own facts there, by which its instruments are judged. */
export interface Ground extends Situation {
  readonly startedAt: Instant.Instant
  /** Names of the checks of the run, in the order of the table. */
  readonly checks: ReadonlyArray<string>
  /** Outcomes of the venue's own facts, which belong to no instrument. */
  readonly ground: ReadonlyArray<Rules.ComparisonOutcome>
}

/** Outcomes of the checks, before anything is recorded. */
export interface ComparedRun extends Ground {
  readonly covered: ReadonlyArray<CoveredInstrument>
  /** Outcomes of the ground that are recorded together with those of the instruments; none: they were before. */
  readonly venue: ReadonlyArray<Rules.ComparisonOutcome>
}

/** Facts judged before that a run leaves out. */
interface LeftOutFacts {
  /** A run that starts by itself on an instrument. */
  readonly isBrief?: boolean
  /** An earlier comparison of the venue's facts, a short time ago, counts. */
  readonly isServed?: boolean
}

/**
 * Runs the checks of the scope at the head of the projection. While the ledger is unreachable no
 * check runs, since the projection may be behind it.
 */
export const compare = Effect.fnUntraced(function* (scope: RunScope, again: LeftOutFacts = {}) {
  const ground = yield* groundOf(scope, again)
  const compared = yield* compareAt(scope, ground)
  return { ...ground, ...compared, venue: ground.ground } satisfies ComparedRun
})

/** Compares the venue's own facts at the head of the projection, before any instrument. */
export const groundOf = Effect.fnUntraced(function* (
  scope: RunScope,
  { isBrief = false, isServed = isBrief }: LeftOutFacts = {}
) {
  const ledger = yield* Ledger
  const startedAt = yield* Instant.now
  const isReached = Result.isSuccess(yield* Effect.result(ledger.ledgerEnd))
  const at: Check.Point = { ...(yield* pointAt(startedAt)), isBrief }
  const chosen = yield* chosenOf(scope)
  const ground = yield* Effect.forEach(
    chosen.filter(({ venueFacts }) => venueFacts !== undefined),
    (check) =>
      isReached
        ? orUnread(venueOutcomeOf(check, { at, scope, isServed }), check, null)
        : Effect.succeed(unread(check, null, ledgerUnreachable))
  )
  return { startedAt, at, isReached, checks: yield* namesOf(scope), ground } satisfies Ground
})

/** Point at which a run compares, and whether the ledger was reachable. */
interface Situation {
  readonly at: Check.Point
  readonly isReached: boolean
}

const chosenOf = (scope: RunScope): Effect.Effect<ReadonlyArray<Check.Check>> =>
  Effect.map(AllChecks.all, (checks) =>
    checks.filter(({ name }) => scope.checks?.includes(name) ?? true)
  )

/** Names of the checks of a run of the scope, in the order of the table. */
export const namesOf = (scope: RunScope): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(chosenOf(scope), (chosen) => chosen.map(({ name }) => name))

/** Runs the checks of the scope at a point, without the venue's own facts. */
export const compareAt = Effect.fnUntraced(function* (
  scope: RunScope,
  { at, isReached }: Situation
) {
  const records = yield* Records
  const { instrumentIds } = scope
  const all =
    instrumentIds === null
      ? records.stream(instruments, { pin: at.pin }).pipe(Stream.map(({ record }) => record))
      : Stream.fromIterable(yield* records.many(instruments, instrumentIds, at.pin))
  const covered = yield* all.pipe(
    Stream.grouped(instrumentsMax),
    Stream.mapEffect((batch) =>
      Effect.flatMap(pointOf(batch, at), (batchAt) =>
        Effect.forEach(batch, (instrument) =>
          compareOne(scope, { instrument, at: batchAt, isReached })
        )
      )
    ),
    Stream.flatMap((covers) => Stream.fromIterable(covers)),
    Stream.runCollect
  )
  return { at, isReached, checks: yield* namesOf(scope), covered }
})

/** Runs the checks of the scope on one instrument, at the point of a batch of instruments. */
export const compareOne = Effect.fnUntraced(function* (
  scope: RunScope,
  {
    instrument,
    at,
    isReached
  }: {
    readonly instrument: Stored<Instrument>
    readonly at: Check.BatchPoint
    readonly isReached: boolean
  }
) {
  const { instrumentId, registrar } = instrument
  const outcomes = yield* Effect.forEach(yield* chosenOf(scope), (check) =>
    isReached
      ? outcomeOf(check, instrument, at).pipe(
          // Facts that were read together may be corrupt for another instrument of the batch.
          Effect.catchDefect(() =>
            Effect.flatMap(pointOf([instrument], at), (own) =>
              orUnread(outcomeOf(check, instrument, own), check, instrumentId)
            )
          )
        )
      : Effect.succeed(unread(check, instrumentId, ledgerUnreachable))
  )
  return { instrument: { instrumentId, registrar }, outcomes } satisfies CoveredInstrument
})

/** Outcomes of an instrument none of whose checks could be compared or recorded, because of a defect. */
export const allFailed = (
  scope: RunScope,
  { instrumentId, registrar }: Stored<Instrument>
): Effect.Effect<CoveredInstrument> =>
  Effect.map(chosenOf(scope), (chosen) => ({
    instrument: { instrumentId, registrar },
    outcomes: chosen.map((check) => unread(check, instrumentId, defect))
  }))

/** Resolves the point of a run: the head of the records, and the present time. */
const pointAt = Effect.fnUntraced(function* (now: Instant.Instant) {
  const feed = yield* Feed
  const log = yield* ProjectionLog
  const pin = yield* Point.newest({ feed, log }, now)
  const { horizonOffset } = yield* orUnavailable(log.head)
  return { pin, horizonOffset } satisfies Check.Point
})

const unread = (
  check: Check.Check,
  instrumentId: string | null,
  why: string
): Rules.ComparisonOutcome => ({
  check: check.name,
  instrumentId,
  ran: false,
  why,
  comparedAt: null,
  differences: [],
  notCompared: [],
  feeds: null,
  judgesAll: false,
  hasNew: false,
  again: []
})

/**
 * Ends a check that dies of a defect as one that has not run, and logs the defect with what it was
 * about: the other checks and instruments are compared all the same.
 */
const orUnread = <R>(
  outcome: Effect.Effect<Rules.ComparisonOutcome, Unavailable, R>,
  check: Check.Check,
  instrumentId: string | null
): Effect.Effect<Rules.ComparisonOutcome, Unavailable, R> =>
  Effect.catchDefect(outcome, (cause) => {
    const about = instrumentId === null ? "the venue's own facts" : `instrument ${instrumentId}`
    return Effect.as(
      Effect.logError(`the check ${check.name} of ${about} failed`, cause),
      unread(check, instrumentId, defect)
    )
  })

/** Runs one check of one instrument, in memory that grows with its differences alone. */
const outcomeOf = Effect.fnUntraced(function* (
  check: Check.Check,
  instrument: Stored<Instrument>,
  at: Check.BatchPoint
) {
  const { instrumentId, manifest } = instrument
  const terms = termsAt(check, manifest ?? PolicyTerms.defaults, at)
  const gathered = yield* gather(check, check.facts(instrument, at, terms), { terms, at })
  return Rules.outcomeOf(
    { check: check.name, instrumentId, judgesAll: check.judgesAll === true },
    gathered
  )
})

/**
 * Runs one check of the venue's own facts. A check on which the others rest counts as not run where
 * it found a blocking difference: the run is incomplete.
 */
const venueOutcomeOf = Effect.fnUntraced(function* (
  check: Check.Check,
  {
    at,
    scope,
    isServed
  }: { readonly at: Check.Point; readonly scope: RunScope; readonly isServed: boolean }
) {
  if (isServed && (yield* maySkip(check, at, scope))) return served(check)
  const terms = termsAt(check, PolicyTerms.defaults, at)
  const gathered = yield* gather(check, check.venueFacts?.(at) ?? Stream.empty, { terms, at })
  const outcome = Rules.ofVenue(
    Rules.outcomeOf(
      { check: check.name, instrumentId: null, judgesAll: check.judgesAll === true },
      gathered
    ),
    check
  )
  return check.isGround === true &&
    outcome.differences.some(({ severity }) => severity === "blocking")
    ? { ...outcome, ran: false, why: check.name }
    : outcome
})

const served = (check: Check.Check): Rules.ComparisonOutcome => ({
  ...unread(check, null, Rules.comparedBefore),
  ran: true
})

/**
 * Checks whether a run of an instrument need not compare the venue's facts, since a comparison a short time ago
 * found no difference and no finding of one is open. A run compares them where it may clear a
 * distribution, or one that is shown to investors as unpaid, or permit deliveries of owed lines of a
 * paid one: which run cleared a distribution is shown, and that run must have compared.
 */
const maySkip = Effect.fnUntraced(function* (
  { name, servesFor }: Check.Check,
  { pin }: Check.Point,
  { instrumentIds }: RunScope
) {
  if (servesFor === undefined || instrumentIds === null) return false
  const records = yield* Records
  const owing = { pin, where: { open: instrumentIds }, limit: 1 }
  if ((yield* records.list(shownDistributions, owing)).length > 0) return false
  if ((yield* records.list(distributionLines, owing)).length > 0) return false
  const mark = yield* records.find(checkMarks, idOf({ check: name, instrumentId: null }), pin)
  if (Option.isNone(mark) || pin.judgedAt >= Instant.add(mark.value.judgedAt, servesFor)) {
    return false
  }
  const where = { check: [name], state: ["open"] }
  return (yield* records.list(findings, { pin, where, limit: 1 })).length === 0
})

const termsAt = (
  { name }: Check.Check,
  policy: Parameters<typeof Rules.termsOf>[1],
  { pin }: Check.Point
): Check.CheckTerms => ({ ...Rules.termsOf(name, policy), now: pin.judgedAt })

/**
 * Gathers the differences of facts, a batch at a time, one of each finding; where facts cannot be read,
 * the differences of those before, and why.
 */
const gather = Effect.fnUntraced(function* (
  check: Check.Check,
  facts: Check.NotedFacts<unknown>,
  { terms, at }: { readonly terms: Check.CheckTerms; readonly at: Check.Point }
) {
  const faults: Array<Check.CheckNotRun> = []
  const gathered = yield* facts.pipe(
    Stream.catchTag("CheckNotRun", (fault) => {
      faults.push(fault)
      return Stream.empty
    }),
    Stream.grouped(batchMax),
    Stream.runFoldEffect(
      () => Rules.nothing,
      Effect.fnUntraced(function* (sum, elements) {
        const batch = Rules.batchOf(check, elements, terms)
        const differences = yield* shownOf(yield* identified(check, batch.differences), at)
        return Rules.withBatch(sum, { ...batch, differences }, yield* identitiesAmong(differences))
      })
    )
  )
  // Facts of two batches may be of one record, such as a breach of an order and the order's version.
  const whole: typeof gathered = {
    ...gathered,
    repeats: yield* shownOf(gathered.repeats, at),
    fresh: yield* shownOf(gathered.fresh, at)
  }
  const [fault] = faults
  return fault === undefined ? whole : Rules.withFault(whole, fault)
})

/** Chooses the differences that the findings show, by what people accepted of those that have several. */
const shownOf = Effect.fnUntraced(function* (
  differences: ReadonlyArray<Difference>,
  { pin }: Check.Point
) {
  const several = [...Map.groupBy(differences, identityOf).values()].flatMap(([first, second]) =>
    first === undefined || second === undefined ? [] : [first]
  )
  if (several.length === 0) return differences
  const records = yield* Records
  const { sha256 } = yield* Crypto
  const accepted = new Map<string, AcceptedFigures>()
  for (let from = 0; from < several.length; from += batchMax) {
    const ids = several.slice(from, from + batchMax).map((one) => idTextOf(one, sha256))
    const found = yield* records.many(findings, ids)
    const figures = yield* acceptedFigures(found, pin)
    for (const finding of found) {
      const ofFinding = figures.get(finding.findingId)
      if (ofFinding !== undefined) accepted.set(identityOf(finding), ofFinding)
    }
  }
  return oneOfEach(differences, accepted)
})

/** The business date at the end of a dated subject's id. */
const dateSuffix = /:[0-9]{4}-[0-9]{2}-[0-9]{2}$/u

/**
 * Gives differences of a dated check the identity of the findings that an earlier release opened of
 * the same statements without a date, so that these keep their age and their acceptance.
 */
const identified = Effect.fnUntraced(function* (
  { isDated }: Check.Check,
  differences: ReadonlyArray<Difference>
) {
  if (isDated !== true || differences.length === 0) return differences
  const records = yield* Records
  const { sha256 } = yield* Crypto
  const undated = differences.map((difference): Difference => {
    const { resourceKind, id } = difference.subject
    return { ...difference, subject: { resourceKind, id: id.replace(dateSuffix, "") } }
  })
  const found = yield* records.many(findings, [
    ...new Set(undated.map((difference) => idTextOf(difference, sha256)))
  ])
  const before = new Map(
    found.flatMap((finding) =>
      finding.state === "cleared" ? [] : [[identityOf(finding), finding.statementId] as const]
    )
  )
  return differences.map((difference, nth) => {
    const former = undated[nth] ?? difference
    const statementId = before.get(identityOf(former)) ?? null
    return statementId !== null && statementId === difference.statementId ? former : difference
  })
})

/** Identities of the differences that are findings already, whatever their state. */
const identitiesAmong = Effect.fnUntraced(function* (differences: ReadonlyArray<Difference>) {
  if (differences.length === 0) return new Set<string>()
  const records = yield* Records
  const { sha256 } = yield* Crypto
  const ids = differences.map((difference) => idTextOf(difference, sha256))
  const found = yield* records.many(findings, ids)
  return new Set(found.map(identityOf))
})
