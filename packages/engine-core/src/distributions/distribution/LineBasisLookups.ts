/** Computes the basis of a line's figures again, from the plan of its execution. */
import { Effect, Option } from "effect"
import type { Basis } from "../../kernel/Basis.ts"
import { LedgerReach } from "../../records/LedgerReach.ts"
import { Records } from "../../records/Records.ts"
import type { BasisMissing } from "../../vocabulary/sets.ts"
import { type Distribution, distributions } from "./Distribution.ts"
import * as DistributionBasis from "./DistributionBasis.ts"
import type { DistributionLine } from "./DistributionLine.ts"
import { type DistributionPlan, distributionPlans, sourceOfPlan } from "./DistributionPlan.ts"
import { lineOfPayee } from "./LineFigureLookups.ts"
import { linesOfPayees } from "./LineLookups.ts"
import type { LineSource } from "./LineSource.ts"
import { offsetsOf } from "./PayeeLookups.ts"

/** Basis of each figure of a line, or why it has none. */
interface LineBasis {
  readonly basis: ReadonlyArray<Basis>
  readonly basisMissing: BasisMissing | null
}

/**
 * Returns one basis for each figure; none where the store has no plan of the execution, or where
 * retention has deleted the register or the points that the figures are computed from.
 */
export const basisOf = Effect.fnUntraced(function* (line: DistributionLine) {
  const records = yield* Records
  const distribution: Distribution | null = Option.getOrNull(
    yield* records.find(distributions, line.distributionId)
  )
  const operationId = distribution?.executedBy.operationId ?? null
  if (distribution === null || operationId === null) return without("plan-missing")
  const plan = Option.getOrNull(yield* records.find(distributionPlans, operationId))
  if (plan === null || plan.recordOffset === null) return without("plan-missing")
  const source = sourceOfPlan(plan)
  if (yield* isDeleted(source)) return without("before-horizon")
  const computed = yield* lineOfPayee(source, line.computedFor)
  // Retention may have deleted a part of the register during the read. It moves the horizon before
  // it deletes, so the horizon is checked again.
  if (yield* isDeleted(source)) return without("before-horizon")
  if (computed === null) return without("not-computed")
  const previous =
    plan.previous === null
      ? []
      : yield* linesOfPayees([plan.previous.distributionId], [line.computedFor], null)
  const basis = DistributionBasis.of({
    terms: source.terms,
    position: computed.payee.position,
    figures: computed.figures,
    sources: sourcesOf(plan, line, previous[0]?.lineId ?? line.lineId)
  })
  return { basis, basisMissing: null } satisfies LineBasis
})

type Line = Pick<DistributionLine, "lineId" | "instrumentId" | "rateSource" | "computedFor">

/** Records that the figures of a line are computed from; `carryId` is the line of its carryIn. */
export const sourcesOf = (
  plan: Pick<DistributionPlan, "executedOffset" | "recordOffset" | "fromPoint" | "toPoint">,
  { lineId, instrumentId, rateSource, computedFor: { holderId, party } }: Line,
  carryId: string
): DistributionBasis.Sources => {
  const offset = plan.executedOffset
  const point = (id: string) => ({ resourceKind: "contract", id, offset }) as const
  const line = { resourceKind: "distribution-line", id: lineId, offset } as const
  const instrument = { resourceKind: "instrument", id: instrumentId, offset } as const
  const payee = {
    resourceKind: holderId === null ? "party" : "holder",
    id: holderId ?? party,
    offset: plan.recordOffset
  }
  return {
    instrument,
    payee,
    line,
    carry: { ...line, id: carryId },
    rate: { default: instrument, point: point(plan.toPoint), attribute: payee }[rateSource],
    fromPoint: point(plan.fromPoint ?? plan.toPoint),
    toPoint: point(plan.toPoint),
    offset
  }
}

const without = (basisMissing: BasisMissing): LineBasis => ({ basis: [], basisMissing })

/** Checks whether the history no longer reaches back to what a line is computed from. */
export const isDeleted = (source: LineSource) =>
  Effect.flatMap(LedgerReach, ({ horizon }) =>
    Effect.map(horizon, (begins) => Math.min(...offsetsOf(source)) < begins)
  )
