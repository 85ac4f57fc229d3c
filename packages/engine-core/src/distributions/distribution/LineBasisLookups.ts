/** Computes the basis of a line's figures again, from the plan of its execution. */
import { Effect, Option } from "effect"
import type { Basis } from "../../kernel/Basis.ts"
import { LedgerReach } from "../../records/LedgerReach.ts"
import { Records } from "../../records/Records.ts"
import type { BasisMissing } from "../../vocabulary/sets.ts"
import { type Distribution, distributions } from "./Distribution.ts"
import * as DistributionBasis from "./DistributionBasis.ts"
import type { DistributionLine } from "./DistributionLine.ts"
import { distributionPlans } from "./DistributionPlan.ts"
import { lineOfPayee } from "./LineFigureLookups.ts"
import { linesOfPayees } from "./LineLookups.ts"
import { type LineSource, sourceOfPlan } from "./LineSource.ts"
import { offsetsOf } from "./PayeeLookups.ts"

/** Basis of each figure of a line, or why it has none. */
export interface LineBasis {
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
  // Retention may have deleted a part of what was read meanwhile: it moves the horizon first.
  if (yield* isDeleted(source)) return without("before-horizon")
  if (computed === null) return without("not-computed")
  const { terms } = source
  const offset = plan.executedOffset
  const { party } = line.computedFor
  const previous =
    plan.previous === null
      ? []
      : yield* linesOfPayees([plan.previous.distributionId], [line.computedFor], null)
  const carried = previous[0]?.lineId ?? line.lineId
  const point = (id: string) => ({ resourceKind: "contract", id, offset }) as const
  const self = { resourceKind: "distribution-line", id: line.lineId, offset } as const
  const instrument = { resourceKind: "instrument", id: line.instrumentId, offset } as const
  const payee = {
    resourceKind: line.computedFor.holderId === null ? "party" : "holder",
    id: line.computedFor.holderId ?? party,
    offset: plan.recordOffset
  }
  const rates = { default: instrument, point: point(plan.toPoint), attribute: payee }
  const basis = DistributionBasis.of({
    terms,
    position: computed.payee.position,
    figures: computed.figures,
    sources: {
      instrument,
      payee,
      line: self,
      carry: { ...self, id: carried },
      rate: rates[line.rateSource],
      fromPoint: point(plan.fromPoint ?? plan.toPoint),
      toPoint: point(plan.toPoint),
      offset
    }
  })
  return { basis, basisMissing: null } satisfies LineBasis
})

const without = (basisMissing: BasisMissing): LineBasis => ({ basis: [], basisMissing })

/** Checks whether the history no longer reaches back to what a line is computed from. */
const isDeleted = (source: LineSource) =>
  Effect.flatMap(LedgerReach, ({ horizon }) =>
    Effect.map(horizon, (begins) => Math.min(...offsetsOf(source)) < begins)
  )
