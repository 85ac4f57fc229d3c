/**
 * Steps that pay a distribution once no line of it is due or delivered: at a run that clears it, at a
 * roll or a void line, and where its last due line begins to wait.
 */
import { Effect, Option, Stream } from "effect"
import type * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { distributions, shownDistributions, DistributionMachine } from "./Distribution.ts"
import {
  concealed,
  type DistributionLine,
  distributionLines,
  inStates,
  isConcealed
} from "./DistributionLine.ts"

/** States of lines in which their distribution is not paid. */
const unpaid: ReadonlyArray<DistributionLine["state"]> = ["due", "delivered"]

/**
 * Pays a payable distribution of which no line is due or delivered, with the changes of this
 * transaction. It is shown as paid to investors and apps once no line is shown to them as due either.
 * Only inside `transact`.
 */
export const payIfSettled = Effect.fnUntraced(function* (
  distributionId: string,
  { at, act }: { readonly at: Instant.Instant; readonly act: Act }
) {
  const records = yield* Records
  const self = yield* payable(distributions, distributionId)
  const shown = yield* payable(shownDistributions, distributionId)
  if (self === null && shown === null) return
  const left = yield* leftOf(distributionId)
  if (left.isAny) return
  const fact = { on: "pay", at, rolled: left.rolled } as const
  if (self !== null) yield* records.append(distributions, self, fact, act)
  if (shown !== null && !left.isAnyConcealed) {
    yield* records.append(shownDistributions, shown, fact, act)
  }
})

/** Finds a distribution in a state that may become paid; null: it has another state. */
const payable = Effect.fnUntraced(function* (
  collection: typeof distributions,
  distributionId: string
) {
  const records = yield* Records
  const self = Option.getOrNull(yield* records.find(collection, distributionId))
  return self !== null && Machine.allows(DistributionMachine, self.state, "pay") ? self : null
})

/** Finds the ids of the lines of a distribution that this transaction has written. */
export const linesWritten = (distributionId: string) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(
      records.uncommitted(distributionLines, { column: "distributionId", anyOf: [distributionId] }),
      (ids) => new Set(ids)
    )
  )

/**
 * Summarises the lines of the distribution: whether one is due or delivered, whether one waits only
 * for causes that are concealed from investors and apps, and how many are rolled.
 */
const leftOf = Effect.fnUntraced(function* (distributionId: string) {
  const records = yield* Records
  const written = yield* linesWritten(distributionId)
  const changed = yield* records.many(distributionLines, [...written])
  // A line that an epoch of the ledger lost is delivered by nobody, and no payment waits for it.
  const isAnyUnchanged = (where: Readonly<Record<string, ReadonlyArray<string>>>) =>
    records.stream(distributionLines, { where }).pipe(
      Stream.filter(({ record: { lineId, lost } }) => !lost && !written.has(lineId)),
      Stream.runHead,
      Effect.map(Option.isSome)
    )
  if (
    changed.some(({ lost, state }) => !lost && unpaid.includes(state)) ||
    (yield* isAnyUnchanged(inStates(distributionId, unpaid)))
  ) {
    return { isAny: true, isAnyConcealed: false, rolled: 0 } as const
  }
  const committed = yield* records.countBy(distributionLines, "state", {
    where: inStates(distributionId, ["rolled"])
  })
  return {
    isAny: false,
    isAnyConcealed:
      changed.some(isConcealed) ||
      (yield* isAnyUnchanged({
        ...inStates(distributionId, concealed.state),
        shownState: concealed.shownState
      })),
    // A rolled line never changes, so that the stored count and this transaction's lines do not
    // overlap.
    rolled:
      (committed.get("rolled") ?? 0) + changed.filter(({ state }) => state === "rolled").length
  } as const
})
