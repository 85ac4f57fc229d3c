/**
 * Holds or clears the distributions of the instruments that a reconciliation run covered
 * (docs/domain/reconciliation.md#clearing-distributions).
 */
import { Effect, Stream } from "effect"
import * as Clearing from "../../distributions/distribution/ClearingSteps.ts"
import { shownDistributions } from "../../distributions/distribution/Distribution.ts"
import { distributionLines } from "../../distributions/distribution/DistributionLine.ts"
import { findings, type Finding, blocks } from "../../findings/Finding.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import type { Hold } from "../../restraints/hold/Hold.ts"
import { lockOf } from "../../restraints/hold/HoldOpeningSteps.ts"
import { openOn } from "../../restraints/hold/OpenHoldLookups.ts"
import * as AllChecks from "../checks/AllChecks.ts"
import type { CoveredInstrument } from "./CompareSteps.ts"
import * as Rules from "./RunRules.ts"
import type { RunScope } from "./Run.ts"

/** A run whose findings and holds are recorded, in this transaction. */
interface RecordedRun {
  readonly runId: string
  readonly scope: RunScope
  /**
   * Whether the run may clear distributions: it compared the projection with the ledger and found no
   * drift.
   */
  readonly isGrounded: boolean
  readonly covered: ReadonlyArray<CoveredInstrument>
  readonly storedFindings: ReadonlyArray<Stored<Finding>>
  /** Holds that the run opened, or added findings to. */
  readonly holds: ReadonlyArray<Hold>
}

/**
 * Holds the distributions of instruments with an open hold, and clears those of instruments without
 * a hold or blocking finding. Returns the ids of those that became payable. Must run inside
 * `transact`.
 */
export const holdOrClear = Effect.fnUntraced(function* (run: RecordedRun, act: Act) {
  const covered = yield* withDistributions(run)
  const ids = covered.map(({ instrument }) => instrument.instrumentId).toSorted()
  yield* Effect.forEach(ids, lockOf, { discard: true })
  const own = new Set<string>(run.holds.map(({ holdId }) => holdId))
  const before = (yield* openOn(ids)).filter(({ holdId }) => !own.has(holdId))
  const holdOf = new Map<string, Hold>()
  for (const hold of [...before, ...run.holds]) {
    if (!holdOf.has(hold.instrumentId)) holdOf.set(hold.instrumentId, hold)
  }
  yield* Effect.forEach(
    ids.flatMap((instrumentId) => holdOf.get(instrumentId) ?? []),
    (hold) => Clearing.holdDistributions(hold, act),
    { discard: true }
  )
  const blocked = yield* blockedElsewhere(ids)
  const checkNames = yield* AllChecks.allNames
  const isFree = ({ instrument: { instrumentId }, outcomes }: CoveredInstrument): boolean =>
    run.isGrounded &&
    Rules.isWhole(run.scope, checkNames) &&
    outcomes.every(({ ran }) => ran) &&
    !holdOf.has(instrumentId) &&
    !blocked.has(instrumentId) &&
    !run.storedFindings.some((finding) => finding.instrumentId === instrumentId && blocks(finding))
  const free = covered.filter(isFree).map(({ instrument }) => instrument.instrumentId)
  return yield* Clearing.clear(free, { runId: run.runId, act })
})

/**
 * Filters the covered instruments for those that have a distribution which is not paid, or not shown
 * as paid to investors and apps, and for those with an owed line of a paid one. Most instruments
 * have neither.
 */
const withDistributions = Effect.fnUntraced(function* ({ covered }: RecordedRun) {
  const records = yield* Records
  const unpaid = yield* records.countBy(shownDistributions, "open", { where: {} })
  const others = covered
    .map(({ instrument }): string => instrument.instrumentId)
    .filter((instrumentId) => !unpaid.has(instrumentId))
  const owing =
    others.length === 0
      ? new Map<string, number>()
      : yield* records.countBy(distributionLines, "open", { where: { open: others } })
  return covered.filter(
    ({ instrument: { instrumentId } }) => unpaid.has(instrumentId) || owing.has(instrumentId)
  )
})

/** Instruments with an open blocking finding of a check that this release does not have. */
const blockedElsewhere = Effect.fnUntraced(function* (instrumentIds: ReadonlyArray<string>) {
  if (instrumentIds.length === 0) return new Set<string | null>()
  const records = yield* Records
  const releaseChecks = yield* AllChecks.allNames
  const found = yield* records
    .stream(findings, {
      where: { state: ["open"], severity: ["blocking"], instrumentId: instrumentIds }
    })
    .pipe(
      Stream.filter(({ record: { check } }) => !releaseChecks.includes(check)),
      Stream.map(({ record }) => record.instrumentId),
      Stream.runCollect
    )
  return new Set(found)
})
