/** Steps that count the lines that an operation's ledger steps touch, and make its result. */
import * as Concerns from "../../writes/ConcernLookups.ts"
import { Effect, Option } from "effect"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import * as RecordView from "../../records/RecordView.ts"
import { Records } from "../../records/Records.ts"
import { type DistributionId, distributions } from "./Distribution.ts"
import { shown } from "./DistributionView.ts"
import { commonMembers, lineWrites, type LineWriteStep } from "./LineWrite.ts"

/**
 * Records how many lines a step touches, in the transaction that plans it; 0 only where it was planned
 * with lines before.
 */
export const notePlanned = (
  planned: LineWriteStep,
  act: OperationAct
): Effect.Effect<void, Unavailable, Records> =>
  Effect.gen(function* () {
    const records = yield* Records
    const { operationId } = act
    const before = Option.getOrNull(yield* records.find(lineWrites, operationId))
    const isNoted = before?.steps.some(({ step }) => step === planned.step) === true
    if (planned.lines === 0 && !isNoted) return
    if (before !== null) {
      yield* records.append(lineWrites, before, { on: "plan", ...planned }, act)
      return
    }
    yield* records
      .open(lineWrites, { operationId, steps: [planned] }, act)
      .pipe(Effect.catchTag("Refused", (refusal) => Effect.die(new Error(refusal.slug))))
  })

/** Result of an operation that touched lines of a distribution. */
export const touchedBy = Effect.fnUntraced(function* (
  { operationId }: Pick<OperationAct, "operationId">,
  distributionId: DistributionId
) {
  const records = yield* Records
  const distribution = yield* records
    .get(distributions, distributionId)
    .pipe(
      Effect.catchTag("Refused", ({ slug }) => Effect.die(new Error(`${distributionId}: ${slug}`)))
    )
  const write = Option.getOrNull(yield* records.find(lineWrites, operationId))
  const lines = (write?.steps ?? []).reduce((sum, step) => sum + step.lines, 0)
  return {
    ...RecordView.of(distributions, shown, distribution),
    totals: distribution.totals,
    lines
  }
})

/** Resource of these operations: a distribution, whose instrument they concern. */
export const resource = {
  ...commonMembers.resource,
  concerns: Concerns.ofRecord(
    distributions,
    ({ distributionId }: { readonly distributionId: string }) => distributionId
  )
} as const
