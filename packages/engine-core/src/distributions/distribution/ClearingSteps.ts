/**
 * Steps that move distributions: held by a hold on their instrument, payable by a run that found no
 * reason to stop it, paid once no line is left to deliver or to roll
 * (docs/domain/distributions.md#held-payable-and-paid).
 */
import { Effect, Stream } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import type { HoldFollowers } from "../../restraints/hold/HoldFollowers.ts"
import {
  type Distribution,
  distributions,
  shownDistributions,
  DistributionMachine
} from "./Distribution.ts"
import { concealed as concealedLines, distributionLines, tallyOf } from "./DistributionLine.ts"
import { setTimers } from "./DistributionTimerSteps.ts"
import { type LineCounts, waitedCountsOf, unrolledIn } from "./LineLookups.ts"
import { payIfSettled } from "./PaymentSteps.ts"

/** Distributions that are loaded, and whose lines are counted, together. */
const batchMax = 100

interface CountedDistribution {
  readonly self: Stored<Distribution>
  /** The distribution's projection for investors and apps. */
  readonly shownDistribution: Stored<Distribution>
  readonly counts: LineCounts
  /** Number of its suspended lines that investors and apps are shown as due. */
  readonly concealed: number
}

/**
 * Streams the distributions of these instruments that are not paid, or not shown as paid to investors
 * and apps, with the counts of their lines. One that is not paid is not shown as paid.
 */
const unpaidOf = (
  instrumentIds: ReadonlyArray<string>
): Stream.Stream<CountedDistribution, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(shownDistributions, { where: { open: instrumentIds } }).pipe(
        Stream.map(({ record }) => record),
        Stream.grouped(batchMax),
        Stream.mapEffect(counted),
        Stream.flatMap((batch) => Stream.fromIterable(batch))
      )
    )
  )

const counted = Effect.fnUntraced(function* (batch: ReadonlyArray<Stored<Distribution>>) {
  const records = yield* Records
  const ids = batch.map(({ distributionId }) => distributionId)
  const found = yield* records.many(distributions, ids)
  const recordOf = new Map(found.map((self) => [self.distributionId, self]))
  const counts = yield* waitedCountsOf(ids, null)
  const concealed = yield* records.countBy(distributionLines, "distributionId", {
    where: { distributionId: ids, ...concealedLines }
  })
  const lost = yield* records.countBy(distributionLines, "distributionId", {
    where: { lostTally: ids.map((id) => tallyOf(id, "suspended")), ...concealedLines }
  })
  return batch.map((shownDistribution): CountedDistribution => {
    const self = recordOf.get(shownDistribution.distributionId)
    const own = counts.get(shownDistribution.distributionId)
    if (self === undefined || own === undefined) throw new Error("a distribution was not counted")
    return {
      self,
      shownDistribution,
      counts: own,
      concealed:
        (concealed.get(shownDistribution.distributionId) ?? 0) -
        (lost.get(shownDistribution.distributionId) ?? 0)
    }
  })
})

/**
 * Holds the distributions of the instrument that are executed or payable and have a line due. The
 * projections for investors and apps are held where they show a line due. A run that clears one of
 * the distributions at the same time conflicts on its record and is judged again.
 */
export const holdDistributions: HoldFollowers["holdDistributions"] = Effect.fnUntraced(function* (
  { holdId, instrumentId },
  act
) {
  const records = yield* Records
  const fact = { on: "hold", at: act.now, holdId } as const
  yield* unpaidOf([instrumentId]).pipe(
    Stream.runForEach(({ self, shownDistribution, counts, concealed }) =>
      Effect.gen(function* () {
        if (counts.due > 0 && allows(self, "hold")) {
          yield* records.append(distributions, self, fact, act)
        }
        if (counts.due + concealed > 0 && allows(shownDistribution, "hold")) {
          yield* records.append(shownDistributions, shownDistribution, fact, act)
        }
      })
    )
  )
  yield* mayDeliver([instrumentId], { isStopped: true, act })
})

const allows = ({ state }: Distribution, on: "hold" | "clear"): boolean =>
  Machine.allows(DistributionMachine, state, on)

/**
 * Permits or stops the registrar's deliveries of these instruments' owed lines, those of paid
 * distributions included, since a suspended line of one may be cured.
 */
const mayDeliver = Effect.fnUntraced(function* (
  instrumentIds: ReadonlyArray<string>,
  { isStopped, act }: { readonly isStopped: boolean; readonly act: Act }
) {
  for (const instrumentId of instrumentIds) {
    const owing = yield* unrolledIn(instrumentId, null)
    yield* setTimers(owing.keys(), act, { mayDeliver: !isStopped })
  }
})

/**
 * Clears the sealed distributions of instruments that no hold and no finding stops: those executed
 * or held become payable, and those without a line due or delivered paid at once. Returns the ids of
 * those that became payable. Must run inside `transact`.
 */
export const clear: (
  instrumentIds: ReadonlyArray<string>,
  run: { readonly runId: string; readonly act: Act }
) => Effect.Effect<ReadonlyArray<string>, Unavailable, Records> = Effect.fnUntraced(function* (
  instrumentIds,
  { runId, act }
) {
  if (instrumentIds.length === 0) return []
  const records = yield* Records
  const cleared: Array<string> = []
  const fact = { on: "clear", at: act.now, runId } as const
  yield* unpaidOf(instrumentIds).pipe(
    Stream.filter(({ self }) => self.sealedAt !== null),
    Stream.runForEach(({ self, shownDistribution }) =>
      Effect.gen(function* () {
        if (allows(self, "clear")) {
          yield* records.append(distributions, self, fact, act)
          cleared.push(self.distributionId)
        }
        if (allows(shownDistribution, "clear")) {
          yield* records.append(shownDistributions, shownDistribution, fact, act)
        }
        yield* payIfSettled(self.distributionId, { at: act.now, act })
      })
    )
  )
  yield* mayDeliver(instrumentIds, { isStopped: false, act })
  return cleared
})
