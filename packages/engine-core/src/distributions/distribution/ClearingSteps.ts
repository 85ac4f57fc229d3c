/**
 * Moves distributions by what stops their instrument: held by a hold, payable by a run that found
 * nothing, paid once nothing is left to deliver or to roll
 * (docs/domain/distributions.md#held-payable-and-paid).
 */
import { Effect, Stream } from "effect"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import type { HoldFollowers } from "../../restraints/hold/HoldFollowers.ts"
import { type Distribution, distributions } from "./Distribution.ts"
import { setTimers } from "./DistributionTimerSteps.ts"
import { type Counts, countsOf, unrolledIn } from "./LineLookups.ts"
import { payIfSettled } from "./PaymentSteps.ts"

/** Distributions that are loaded, and whose lines are counted, together. */
const batchMax = 100

type Counted = { readonly self: Stored<Distribution>; readonly counts: Counts }

/** Streams the distributions of these instruments that are not paid, with the counts of their lines. */
const unpaidOf = (
  instrumentIds: ReadonlyArray<string>
): Stream.Stream<Counted, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(distributions, { where: { open: instrumentIds } }).pipe(
        Stream.map(({ record }) => record),
        Stream.grouped(batchMax),
        Stream.mapEffect((batch) =>
          Effect.map(
            countsOf(
              batch.map(({ distributionId }) => distributionId),
              null
            ),
            (counts) =>
              batch.map((self): Counted => {
                const own = counts.get(self.distributionId)
                if (own === undefined) throw new Error("a distribution was not counted")
                return { self, counts: own }
              })
          )
        ),
        Stream.flatMap((batch) => Stream.fromIterable(batch))
      )
    )
  )

/**
 * Holds the distributions of the instrument that are executed or payable and have a line due. The
 * record of each makes a run that clears it meanwhile conflict, and be judged again.
 */
export const holdDistributions: HoldFollowers["holdDistributions"] = Effect.fnUntraced(function* (
  { holdId, instrumentId },
  act
) {
  yield* unpaidOf([instrumentId]).pipe(
    Stream.filter(({ self, counts }) => self.state !== "held" && counts.due > 0),
    Stream.runForEach(({ self }) =>
      Effect.flatMap(Records, (records) =>
        records.record(distributions, self, { on: "hold", at: act.now, holdId }, act)
      )
    )
  )
  yield* mayDeliver([instrumentId], { isStopped: true, act })
})

/**
 * Lets the registrar deliver what these instruments still owe, or stops it, paid distributions
 * included: a suspended line of one may be cured.
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
 * Clears the sealed distributions of instruments that nothing stops: those executed or held become
 * payable, and those without a line due or delivered paid at once. Returns the ids of those that
 * became payable. Must run inside `transact`.
 */
export const clear: (
  instrumentIds: ReadonlyArray<string>,
  of: { readonly runId: string; readonly act: Act }
) => Effect.Effect<ReadonlyArray<string>, Unavailable, Records> = Effect.fnUntraced(function* (
  instrumentIds,
  { runId, act }
) {
  if (instrumentIds.length === 0) return []
  const records = yield* Records
  const cleared: Array<string> = []
  yield* unpaidOf(instrumentIds).pipe(
    Stream.filter(({ self }) => self.sealedAt !== null),
    Stream.runForEach(({ self, counts }) =>
      Effect.gen(function* () {
        if (self.state === "payable") return yield* payIfDone({ self, counts }, act)
        const fact = { on: "clear", at: act.now, runId } as const
        const after = yield* records.record(distributions, self, fact, act)
        cleared.push(self.distributionId)
        yield* payIfDone({ self: after, counts }, act)
      })
    )
  )
  yield* mayDeliver(instrumentIds, { isStopped: false, act })
  return cleared
})

/** Moves a payable distribution to paid where no line is due or delivered. */
const payIfDone = ({ self, counts }: Counted, act: Act) =>
  counts.due > 0 || counts.delivered > 0
    ? Effect.void
    : Effect.asVoid(payIfSettled(self.distributionId, { at: act.now, act }))
