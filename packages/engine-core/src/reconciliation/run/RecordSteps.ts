/** Records a reconciliation run: its findings, the holds that they open, and the run itself. */
import { Effect, Option, Schema, Stream } from "effect"
import * as Metrics from "../../engine/Metrics.ts"
import {
  type Finding,
  FindingId,
  findings,
  first,
  type Moment,
  type Seen
} from "../../findings/Finding.ts"
import { type Difference, foundAgain, idTextOf } from "../../findings/FindingRules.ts"
import type { Refused, Unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Records, type Stored } from "../../records/Records.ts"
import type { Act } from "../../records/Act.ts"
import { openFor } from "../../restraints/hold/HoldOpeningSteps.ts"
import type { RunTrigger } from "../../vocabulary/sets.ts"
import { holdOrClear } from "./ClearSteps.ts"
import type { Compared } from "./CompareSteps.ts"
import { noteOverdue } from "./OverdueSteps.ts"
import { type Run, type RunId, runs, type Scope } from "./Run.ts"
import { runInstruments } from "./RunInstrument.ts"
import * as Rules from "./RunRules.ts"

/** A run to record. */
export interface Recording {
  readonly runId: RunId
  readonly trigger: RunTrigger
  readonly scope: Scope
  readonly compared: Compared
}

/** Findings that are looked up together. */
const batchMax = 500

/**
 * Records a run (docs/domain/reconciliation.md#what-a-run-does): opens or judges again each finding,
 * clears those that a check that ran no longer finds, opens holds for blocking ones, holds or clears
 * distributions, and opens the record of the run. Must run inside `transactAlone`, which may run it again.
 */
export const record = Effect.fnUntraced(function* (of: Recording, act: Act) {
  const records = yield* Records
  const { runId, trigger, scope, compared } = of
  const outcomes = compared.covered.flatMap((covered) => covered.outcomes)
  const found = yield* recordFound(of, act)
  yield* clearOthers(of, act)
  yield* noteOverdue(of, act)
  const held = yield* Effect.forEach(compared.covered, ({ instrument }) => {
    const own = found.filter(({ instrumentId }) => instrumentId === instrument.instrumentId)
    return openFor({ instrument, findings: own, runId, source: "reconciliation" }, act)
  })
  const holdsOpened = held.flatMap((hold) =>
    Option.isSome(hold) && hold.value.runId === runId ? [hold.value.holdId] : []
  )
  const distributionsCleared = yield* holdOrClear(
    {
      runId,
      scope,
      covered: compared.covered,
      found,
      holds: held.flatMap((hold) => (Option.isSome(hold) ? [hold.value] : []))
    },
    act
  )
  const several = scope.instrumentIds ?? []
  yield* Effect.forEach(
    several.length > 1 ? several : [],
    (instrumentId) => asNew(records.open(runInstruments, { runId, instrumentId }, act)),
    { discard: true }
  )
  const run: Run = {
    runId,
    trigger,
    startedAt: compared.startedAt,
    finishedAt: act.now,
    asOf: compared.at.pin.offset,
    scope,
    checks: Rules.ranOf(compared.checks, outcomes),
    verdict: Rules.verdictOf({ findings: found, outcomes }),
    holdsOpened,
    distributionsCleared
  }
  yield* records.whenCommitted(Metrics.ranWith({ trigger, verdict: run.verdict }))
  return yield* asNew(records.open(runs, run, act))
})

/** Opens the new findings of a run, and judges those again that it found before. */
const recordFound = Effect.fnUntraced(function* ({ runId, compared }: Recording, act: Act) {
  const records = yield* Records
  const { sha256 } = yield* Crypto
  const asOf = asOfRun(compared)
  const idOf = (difference: Difference) =>
    Schema.decodeSync(FindingId)(idTextOf(difference, sha256))
  const differences = compared.covered.flatMap(({ outcomes }) =>
    outcomes.flatMap((outcome) => outcome.differences)
  )
  const before = new Map<string, Stored<Finding>>()
  for (let from = 0; from < differences.length; from += batchMax) {
    const ids = differences.slice(from, from + batchMax).map(idOf)
    for (const stored of yield* records.many(findings, ids)) before.set(stored.findingId, stored)
  }
  return yield* Effect.forEach(differences, (difference) => {
    const { check, instrumentId, subject, holderId, ...measured } = difference
    const seen: Seen = { ...measured, runId, asOf }
    const findingId = idOf(difference)
    const stored = before.get(findingId)
    return stored === undefined
      ? asNew(
          records.open(
            findings,
            first({ findingId, check, instrumentId, subject, holderId }, seen),
            act
          )
        )
      : records.record(findings, stored, foundAgain(stored, seen), act)
  })
})

/** Clears the findings of checks and instruments that ran here and no longer found them. */
const clearOthers = Effect.fnUntraced(function* ({ runId, compared }: Recording, act: Act) {
  const records = yield* Records
  const { sha256 } = yield* Crypto
  const judged = new Map<string, Rules.Judgement & { readonly ids: ReadonlySet<string> }>()
  for (const outcome of compared.covered.flatMap(({ outcomes }) => outcomes)) {
    const ids = outcome.differences.map((difference) => idTextOf(difference, sha256))
    const asOf = asOfRun(compared)
    judged.set(keyOf(outcome), { asOf, outcome, ids: new Set(ids) })
  }
  const where = { state: ["open", "accepted"], check: compared.checks }
  yield* records.stream(findings, { where }).pipe(
    Stream.filter(({ record }) => {
      const judgement = judged.get(keyOf(record))
      return (
        judgement !== undefined &&
        !judgement.ids.has(record.findingId) &&
        Rules.clears(judgement, record)
      )
    }),
    Stream.runForEach(({ record }) => records.record(findings, record, { on: "clear", runId }, act))
  )
})

const keyOf = ({ check, instrumentId }: Pick<Finding, "check" | "instrumentId">): string =>
  `${check} ${instrumentId}`

const asOfRun = ({ at: { pin } }: Compared): Moment => ({
  offset: pin.offset,
  instant: pin.judgedAt
})

/** Opens a record whose id is new; a taken id is a defect. */
const asNew = <A>(
  opened: Effect.Effect<A, Refused<"already-exists"> | Unavailable>
): Effect.Effect<A, Unavailable> =>
  Effect.catchTag(opened, "Refused", () => Effect.die(new Error("a run was recorded twice")))
