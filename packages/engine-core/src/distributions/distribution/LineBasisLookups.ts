/** Computes the basis of a line's figures again, from the plan of its execution. */
import { Effect, Option } from "effect"
import type { Basis } from "../../kernel/Basis.ts"
import { Records } from "../../records/Records.ts"
import { type Distribution, distributions } from "./Distribution.ts"
import * as DistributionBasis from "./DistributionBasis.ts"
import type { DistributionLine } from "./DistributionLine.ts"
import { distributionPlans } from "./DistributionPlan.ts"
import { lineOfPayee } from "./LineFigureLookups.ts"
import { linesOfPayees } from "./LineLookups.ts"
import { termsOf } from "./LineSource.ts"

/** Returns one basis for each figure; none where the store has no plan of the execution. */
export const basisOf = Effect.fnUntraced(function* (line: DistributionLine) {
  const records = yield* Records
  const distribution: Distribution | null = Option.getOrNull(
    yield* records.find(distributions, line.distributionId)
  )
  const operationId = distribution?.executedBy.operationId ?? null
  if (distribution === null || operationId === null) return none
  const plan = Option.getOrNull(yield* records.find(distributionPlans, operationId))
  if (plan === null || plan.recordOffset === null) return none
  const terms = termsOf(plan)
  const computed = yield* lineOfPayee(
    { ...plan, terms, recordOffset: plan.recordOffset },
    line.computedFor
  )
  if (computed === null) return none
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
  return DistributionBasis.of({
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
})

const none: ReadonlyArray<Basis> = []
