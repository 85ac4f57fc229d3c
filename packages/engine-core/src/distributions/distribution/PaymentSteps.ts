/**
 * Steps that pay a distribution once no line of it is due or delivered: at a run that clears it, and at
 * a roll or a void line.
 */
import { Effect, Option, Stream } from "effect"
import type * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { distributions } from "./Distribution.ts"
import { type DistributionLine, distributionLines } from "./DistributionLine.ts"
import { DistributionMachine } from "./DistributionMachine.ts"
import { shownOf } from "./LineCauseRules.ts"

/** States of lines that keep a distribution from paid. */
const unpaid: ReadonlyArray<DistributionLine["state"]> = ["due", "delivered"]

/**
 * Pays a payable distribution of which no line is due or delivered, with the changes of this
 * transaction, and shows a paid one as paid once no line waits for a concealed cause. Returns whether
 * it was paid now. Only inside `transact`.
 */
export const payIfSettled = Effect.fnUntraced(function* (
  distributionId: string,
  { at, act }: { readonly at: Instant.Instant; readonly act: Act }
) {
  const records = yield* Records
  const self = Option.getOrNull(yield* records.find(distributions, distributionId))
  const mayPay = self !== null && Machine.allows(DistributionMachine, self.state, "pay")
  const isConcealed = self !== null && self.shown.state !== self.state
  if (self === null || (!mayPay && !isConcealed)) return false
  const left = yield* leftOf(distributionId)
  if (left.isAny) return false
  const { rolled, concealed } = left
  if (mayPay) {
    yield* records.record(distributions, self, { on: "pay", at, rolled, concealed }, act)
    return true
  }
  if (concealed === 0) yield* records.record(distributions, self, { on: "reveal", at }, act)
  return false
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
 * Returns whether a line of the distribution is due or delivered, and how many are rolled or wait for
 * causes that are concealed from investors and apps.
 */
const leftOf = Effect.fnUntraced(function* (distributionId: string) {
  const records = yield* Records
  const written = yield* linesWritten(distributionId)
  const changed = yield* records.many(distributionLines, [...written])
  const of = (state: ReadonlyArray<DistributionLine["state"]>) => ({
    where: { distributionId: [distributionId], state }
  })
  const other = yield* records.ids(distributionLines, of(unpaid)).pipe(
    Stream.filter((id) => !written.has(id)),
    Stream.runHead
  )
  if (Option.isSome(other) || changed.some(({ state }) => unpaid.includes(state))) {
    return { isAny: true, rolled: 0, concealed: 0 } as const
  }
  const committed = yield* records.countBy(distributionLines, "state", of(["rolled"]))
  const suspended = yield* records.stream(distributionLines, of(["suspended"])).pipe(
    Stream.filter(({ record }) => !written.has(record.lineId) && isConcealed(record)),
    Stream.runCount
  )
  return {
    isAny: false,
    // A rolled line never changes, so that none is counted twice.
    rolled:
      (committed.get("rolled") ?? 0) + changed.filter(({ state }) => state === "rolled").length,
    concealed: suspended + changed.filter(isConcealed).length
  } as const
})

const isConcealed = (line: DistributionLine): boolean => shownOf(line).state !== line.state
