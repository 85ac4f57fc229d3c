/**
 * Steps that record a reconciliation run: its findings, the holds that they open, and the run
 * itself.
 */
import { Effect, Option, Schema, Stream } from "effect"
import * as Metrics from "../../engine/Metrics.ts"
import { awaitedStatements } from "../../findings/AwaitedStatements.ts"
import {
  type Finding,
  FindingId,
  findings,
  first,
  type Moment,
  type Sighting,
  blocks
} from "../../findings/Finding.ts"
import { acceptedFigures } from "../../findings/AcceptedLookups.ts"
import { type Difference, foundAgain, idTextOf } from "../../findings/FindingRules.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Refused, Unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Records, type Stored } from "../../records/Records.ts"
import type { Act } from "../../records/Act.ts"
import { type Hold, holds } from "../../restraints/hold/Hold.ts"
import { stopping } from "../../restraints/hold/HoldOpeningRules.ts"
import { openFor, type HoldOpening } from "../../restraints/hold/HoldOpeningSteps.ts"
import { holdSlots, runSlotIdsOf } from "../../restraints/hold/HoldSlot.ts"
import * as CoverRules from "../../reserves/reserve/CoverRules.ts"
import type { RunTrigger } from "../../vocabulary/sets.ts"
import { type InstrumentVerdict, instrumentVerdicts } from "../verdict/InstrumentVerdict.ts"
import * as Verdict from "../verdict/VerdictRules.ts"
import { allNames, groundNames } from "../checks/AllChecks.ts"
import type { BackingReserve } from "../checks/Check.ts"
import { backedOf } from "../checks/ReserveBatchLookups.ts"
import { checkMarks, idOf as markIdOf } from "./CheckMark.ts"
import { holdOrClear } from "./ClearSteps.ts"
import type { ComparedRun } from "./CompareSteps.ts"
import { mark } from "./MarkSteps.ts"
import { statementsNamedBy } from "./NamedStatementLookups.ts"
import { noteOverdue } from "./OverdueSteps.ts"
import { type Run, type RunId, runs, type RunScope } from "./Run.ts"
import { runInstruments } from "./RunInstrument.ts"
import type { PartOutcome } from "./RunPart.ts"
import * as Rules from "./RunRules.ts"

/** A run of one instrument, or of all at once, to record. */
interface RunRecording {
  readonly runId: RunId
  readonly trigger: RunTrigger
  readonly scope: RunScope
  readonly compared: ComparedRun
}

/** A part of a run to record: some of its instruments, the venue's own facts, or both. */
export interface PartRecording {
  readonly runId: RunId
  /** Instruments and checks of the part, not of the run; no instruments: the venue's own facts alone. */
  readonly scope: RunScope
  readonly compared: ComparedRun
}

/** A part of a run with every outcome that is to be recorded. */
interface PartOutcomes extends PartRecording {
  readonly outcomes: ReadonlyArray<Rules.ComparisonOutcome>
}

/** A run that has ended, to record after its parts. */
interface RunEnd extends Omit<PartOutcome, "asOf"> {
  readonly runId: RunId
  readonly trigger: RunTrigger
  readonly scope: RunScope
  readonly startedAt: Run["startedAt"]
  readonly asOf: Run["asOf"]
  readonly readBy: Run["readBy"]
}

/** Number of findings that are looked up together. */
const batchMax = 500

/** Name of the lock of the transactions that record outcomes of the venue's own facts. */
const venueLock = "reconciliation-venue"

/**
 * Records a run that is compared at one pin. Must run inside `transactAlone`, which may run it again.
 */
export const record = Effect.fnUntraced(function* (recording: RunRecording, act: Act) {
  const { runId, trigger, scope, compared } = recording
  const part = yield* recordPart(recording, act)
  const { startedAt } = compared
  return yield* recordRun({ ...part, ...pinOf(compared), runId, trigger, scope, startedAt }, act)
})

/** The pin that a run keeps: its offset, and the instant by which everything written was read. */
export const pinOf = ({
  at: { pin }
}: Pick<ComparedRun, "at">): Pick<RunEnd, "asOf" | "readBy"> => ({
  asOf: pin.offset,
  readBy: "instant" in pin.select ? pin.select.instant : pin.judgedAt
})

/**
 * Records a part of a run (docs/domain/reconciliation.md#what-a-run-does): opens each finding or judges
 * it again, clears findings that a check which ran no longer found, opens holds for blocking ones, and
 * holds or clears distributions. Must run inside `transactAlone`, which may run it again.
 */
export const recordPart = Effect.fnUntraced(function* (part: PartRecording, act: Act) {
  const records = yield* Records
  const { runId, scope, compared } = part
  const outcomes = [...compared.covered.flatMap((covered) => covered.outcomes), ...compared.venue]
  const recording = { ...part, outcomes }
  // Runs of several instruments side by side judge the same facts of the venue.
  if (compared.venue.length > 0) yield* records.lock(venueLock)
  const { found, foundIds, counted } = yield* recordFound(recording, act)
  const isGrounded = yield* hasGround(compared)
  const others = yield* clearOthers({ ...recording, foundIds, isGrounded }, act)
  const verdicts = yield* recordVerdicts({ ...recording, found, others, isGrounded }, act)
  yield* recordAwaited(verdicts, act)
  yield* noteOverdue(recording, act)
  yield* mark(recording, act)
  const foundOf = Map.groupBy(found, ({ instrumentId }) => instrumentId)
  yield* prefetchHolds(found)
  const backed = yield* lowAmong(compared, foundOf)
  const held = yield* Effect.map(
    Effect.forEach(compared.covered, ({ instrument }) => {
      const opening = { instrument, findings: foundOf.get(instrument.instrumentId) ?? [], runId }
      return Effect.all([
        openFor({ ...opening, source: "reconciliation" }, act),
        openForCover({ ...opening, backed }, act)
      ])
    }),
    (all) => all.flat()
  )
  const holdsOpened = held.flatMap((hold) =>
    Option.isSome(hold) && hold.value.runId === runId ? [hold.value.holdId] : []
  )
  const distributionsCleared = yield* holdOrClear(
    {
      runId,
      scope,
      // A distribution that was sealed during the comparison is left to the run that its seal
      // starts.
      isGrounded: isGrounded && !compared.ground.some(({ why }) => why === Rules.comparedBefore),
      covered: compared.covered,
      storedFindings: found,
      holds: held.flatMap((hold) => (Option.isSome(hold) ? [hold.value] : []))
    },
    act
  )
  const notCompared = Rules.notComparedOf(outcomes)
  return {
    asOf: compared.at.pin.offset,
    checks: Rules.ranOf(compared.checks, counted),
    notCompared: notCompared.slice(0, Rules.notComparedMax),
    notComparedCount: notCompared.length,
    verdict: Rules.verdictOf({ findings: found, outcomes }),
    shownVerdict: Rules.shownVerdictOf({ findings: found, outcomes }),
    holdsOpened,
    distributionsCleared
  } satisfies PartOutcome
})

/** Opens the record of a run whose parts are recorded, with its index by instrument. */
export const recordRun = Effect.fnUntraced(function* (end: RunEnd, act: Act) {
  const records = yield* Records
  const { runId, trigger, scope, verdict } = end
  const several = scope.instrumentIds ?? []
  yield* Effect.forEach(
    several.length > 1 ? several : [],
    (instrumentId) => asNew(records.open(runInstruments, { runId, instrumentId }, act)),
    { discard: true }
  )
  const run: Run = {
    runId,
    trigger,
    startedAt: end.startedAt,
    finishedAt: act.now,
    asOf: end.asOf,
    readBy: end.readBy,
    scope,
    checks: end.checks,
    notCompared: end.notCompared,
    notComparedCount: end.notComparedCount,
    verdict,
    shownVerdict: end.shownVerdict,
    holdsOpened: end.holdsOpened,
    distributionsCleared: end.distributionsCleared
  }
  yield* records.whenCommitted(Metrics.ranWith({ trigger, verdict }))
  return yield* asNew(records.open(runs, run, act))
})

/**
 * Opens the new findings of a run, and judges those again that it found before. Returns them, the ids of
 * all differences, and the outcomes without the differences that an earlier part of the run has counted.
 */
const recordFound = Effect.fnUntraced(function* (
  { runId, compared, outcomes }: PartOutcomes,
  act: Act
) {
  const records = yield* Records
  const { sha256 } = yield* Crypto
  const asOf = asOfRun(compared)
  const differences = outcomes.flatMap((outcome) => outcome.differences)
  const ids = differences.map((difference) =>
    Schema.decodeSync(FindingId)(idTextOf(difference, sha256))
  )
  const before = new Map<string, Stored<Finding>>()
  for (let from = 0; from < ids.length; from += batchMax) {
    const batch = ids.slice(from, from + batchMax)
    for (const stored of yield* records.many(findings, batch)) before.set(stored.findingId, stored)
  }
  const accepted = yield* acceptedFigures(before.values(), compared.at.pin)
  const judgedLater = yield* judgedAfter(compared)
  const found: Array<Stored<Finding>> = []
  const counted = new Set<Difference>()
  for (const [index, difference] of differences.entries()) {
    const { check, instrumentId, subject, holderId, ...measured } = difference
    const findingId = ids[index]!
    const stored = before.get(findingId)
    if (stored?.runId === runId) {
      found.push(stored)
      continue
    }
    counted.add(difference)
    // A run side by side has judged the venue's facts at a later pin: its judgement stays.
    if (instrumentId === null && stored !== undefined && isLater(stored.asOf, asOf)) {
      found.push(stored)
      continue
    }
    if (instrumentId === null && stored?.state !== "open" && judgedLater.has(check)) continue
    const sighting: Sighting = { ...measured, runId, asOf }
    found.push(
      stored === undefined
        ? yield* asNew(
            records.open(
              findings,
              first({ findingId, check, instrumentId, subject, holderId }, sighting),
              act
            )
          )
        : yield* records.append(
            findings,
            stored,
            foundAgain({ ...stored, ...accepted.get(findingId) }, sighting),
            act
          )
    )
  }
  return {
    found,
    foundIds: new Set<string>(ids),
    counted: outcomes.map((outcome) => ({
      ...outcome,
      differences: outcome.differences.filter((difference) => counted.has(difference))
    }))
  }
})

const isLater = (self: Moment, than: Moment): boolean =>
  self.offset > than.offset || Instant.isAfter(self.instant, than.instant)

/** Checks of the venue's own facts that a run side by side judged whole at a later pin, without a difference. */
const judgedAfter = Effect.fnUntraced(function* ({ at: { pin }, venue }: ComparedRun) {
  if (venue.length === 0) return new Set<string>()
  const records = yield* Records
  const marks = yield* records.many(checkMarks, venue.map(markIdOf))
  return new Set(
    marks.flatMap(({ check, judgedAt }) => (Instant.isAfter(judgedAt, pin.judgedAt) ? [check] : []))
  )
})

/** Loads, by the instrument, the reserves whose cover the run found low, together. */
const lowAmong = (
  { at, covered }: ComparedRun,
  foundOf: ReadonlyMap<string | null, ReadonlyArray<Finding>>
) =>
  backedOf(
    covered.flatMap(({ instrument }) => {
      const own = foundOf.get(instrument.instrumentId) ?? []
      const isLow = stopping(own, { ...instrument, source: "cover" }).length > 0
      return isLow ? [instrument.instrumentId] : []
    }),
    at.pin
  )

/**
 * Opens a cover hold on an instrument whose reserve does not cover it, with the figures of the run, or
 * adds the finding to the open one; none without a blocking finding of the cover.
 */
const openForCover = Effect.fnUntraced(function* (
  {
    instrument,
    backed,
    ...opening
  }: Pick<HoldOpening, "instrument" | "findings" | "runId"> & {
    readonly backed: ReadonlyMap<string, BackingReserve>
  },
  act: Act
) {
  const low = stopping(opening.findings, { ...instrument, source: "cover" })
  if (low.length === 0) return Option.none<Stored<Hold>>()
  const found = backed.get(instrument.instrumentId)
  if (found === undefined) throw new Error("a reserve whose cover was found low is in force")
  const { reserve, books } = found
  const { reserveId } = reserve
  const { minCover } = books.terms
  const cover = { reserveId, ratio: CoverRules.coverOf(books).ratio, minCover }
  return yield* openFor({ ...opening, instrument, source: "cover", cover }, act)
})

/** Prefetches the open holds of the instruments that blocking findings stop, in two look-ups. */
const prefetchHolds = Effect.fnUntraced(function* (found: ReadonlyArray<Finding>) {
  const records = yield* Records
  const stopped = new Set(
    found.flatMap((finding) => (blocks(finding) ? (finding.instrumentId ?? []) : []))
  )
  const slotIds = [...stopped].flatMap(runSlotIdsOf)
  const slots = slotIds.map((id) => ({ collection: holdSlots, id }))
  yield* records.prefetch(slots)
  const open = (yield* records.many(holdSlots, slotIds)).flatMap(({ holdId }) => holdId ?? [])
  yield* records.prefetch([...slots, ...open.map((id) => ({ collection: holds, id }))])
})

/**
 * Checks whether the run may clear findings: each check on which the others rest ran and found no
 * difference, and no finding of such a check that the run leaves out is open. Otherwise the run
 * clears nothing (docs/domain/reconciliation.md#projection-against-the-ledger).
 */
const hasGround = Effect.fnUntraced(function* ({ checks, ground }: ComparedRun) {
  const grounds = groundNames.filter((name) => !checks.includes(name))
  if (ground.some(({ check, ran }) => !ran && groundNames.includes(check))) return false
  if (grounds.length === 0) return true
  const records = yield* Records
  const open = yield* records.list(findings, {
    where: { check: grounds, state: ["open"] },
    limit: 1
  })
  return open.length === 0
})

/**
 * Clears the findings that the checks of this run no longer found. Returns, for the covered
 * instruments, the sums of findings that stay open or accepted although this run did not find them.
 */
const clearOthers = Effect.fnUntraced(function* (
  {
    runId,
    scope,
    compared,
    foundIds,
    isGrounded,
    outcomes
  }: PartOutcomes & { readonly foundIds: ReadonlySet<string>; readonly isGrounded: boolean },
  act: Act
) {
  const records = yield* Records
  const judged = new Map<string, Rules.Judgement>()
  for (const outcome of outcomes) {
    judged.set(keyOf(outcome), { asOf: asOfRun(compared), outcome })
  }
  const { instrumentIds } = scope
  // Findings of the venue as a whole have no instrument: the checks that compared them select them.
  const where = {
    state: ["open", "accepted"],
    ...(instrumentIds === null
      ? {}
      : instrumentIds.length > 0
        ? { instrumentId: instrumentIds }
        : { check: compared.venue.map(({ check }) => check) })
  }
  const others = new Map<string, Verdict.Tally>()
  // Findings that were found again, which are most, are not decoded.
  yield* records.ids(findings, { where }).pipe(
    Stream.filter((findingId) => !foundIds.has(findingId)),
    Stream.grouped(batchMax),
    Stream.mapEffect((findingIds) =>
      Effect.flatMap(records.many(findings, findingIds), statementsNamedBy)
    ),
    Stream.flattenIterable,
    Stream.runForEach(({ finding: record, statement }) => {
      const judgement = judged.get(keyOf(record))
      if (isGrounded && judgement !== undefined && Rules.clears(judgement, record, statement)) {
        return records.append(findings, record, { on: "clear", runId }, act)
      }
      if (record.instrumentId !== null) tally(others, record.instrumentId, record)
      return Effect.void
    })
  )
  return others
})

const tally = (sums: Map<string, Verdict.Tally>, instrumentId: string, finding: Finding): void =>
  void sums.set(
    instrumentId,
    Verdict.tallied(sums.get(instrumentId) ?? Verdict.noFindings, finding)
  )

/** Records the verdict of each instrument that the run covered, and returns the verdicts. */
const recordVerdicts = Effect.fnUntraced(function* (
  {
    runId,
    compared,
    found,
    isGrounded,
    others
  }: PartRecording & {
    readonly found: ReadonlyArray<Finding>
    readonly others: ReadonlyMap<string, Verdict.Tally>
    readonly isGrounded: boolean
  },
  act: Act
) {
  const records = yield* Records
  const notRun = new Set(compared.ground.flatMap(({ check, ran }) => (ran ? [] : [check])))
  const { offset, ledgerTime, judgedAt } = compared.at.pin
  const writtenBy = pinOf(compared).readBy ?? judgedAt
  const sums = new Map(others)
  for (const finding of found) {
    if (finding.instrumentId !== null) tally(sums, finding.instrumentId, finding)
  }
  const ids = compared.covered.map(({ instrument }) => instrument.instrumentId)
  const before = new Map<string, Stored<InstrumentVerdict>>(
    (yield* records.many(instrumentVerdicts, ids)).map((verdict) => [verdict.instrumentId, verdict])
  )
  const checkNames = yield* allNames
  return yield* Effect.forEach(compared.covered, ({ instrument: { instrumentId }, outcomes }) => {
    const stored = before.get(instrumentId)
    const verdict = Verdict.judge({
      instrumentId,
      runId,
      pin: { offset, ledgerTime, writtenBy, judgedAt },
      isReached: compared.isReached,
      isGrounded,
      tally: sums.get(instrumentId) ?? Verdict.noFindings,
      // A check that did not run for the venue did not run for any instrument.
      outcomes: outcomes.map(({ check, ran }) => ({ check, ran: ran && !notRun.has(check) })),
      ranBefore: stored?.ran ?? [],
      notCompared: Rules.notComparedOf([...outcomes, ...compared.ground.filter(({ ran }) => !ran)]),
      notComparedBefore: stored?.notCompared ?? [],
      checks: checkNames
    })
    return stored === undefined
      ? asNew(records.open(instrumentVerdicts, verdict, act))
      : records.append(instrumentVerdicts, stored, { on: "judge", verdict }, act)
  })
})

/** Records for which statements the checks of instruments wait, as their verdicts say. */
const recordAwaited = Effect.fnUntraced(function* (
  verdicts: ReadonlyArray<InstrumentVerdict>,
  act: Act
) {
  const records = yield* Records
  const found = yield* records.many(
    awaitedStatements,
    verdicts.map(({ instrumentId }) => instrumentId)
  )
  const before = new Map(found.map((stored) => [stored.instrumentId, stored]))
  yield* Effect.forEach(
    verdicts,
    ({ instrumentId, notCompared }) => {
      const stored = before.get(instrumentId)
      const statements = notCompared.flatMap(({ check, isNeeded, statementId, why }) =>
        isNeeded && statementId !== null ? [{ externalStatementId: statementId, check, why }] : []
      )
      if (JSON.stringify(statements) === JSON.stringify(stored?.statements ?? [])) {
        return Effect.void
      }
      return stored === undefined
        ? asNew(records.open(awaitedStatements, { instrumentId, statements }, act))
        : records.append(awaitedStatements, stored, { on: "replace", statements }, act)
    },
    { discard: true }
  )
})

const keyOf = ({ check, instrumentId }: Pick<Finding, "check" | "instrumentId">): string =>
  `${check} ${instrumentId ?? ""}`

const asOfRun = ({ at: { pin } }: ComparedRun): Moment => ({
  offset: pin.offset,
  instant: pin.judgedAt
})

/** Opens a record whose id is new; a taken id is a defect. */
const asNew = <A>(
  opened: Effect.Effect<A, Refused<"already-exists"> | Unavailable>
): Effect.Effect<A, Unavailable> =>
  Effect.catchTag(opened, "Refused", () => Effect.die(new Error("a run was recorded twice")))
