/** Step that moves the projection of a distribution for investors and apps. */
import { Effect, Option } from "effect"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { type Distribution, shownDistributions, type Fact } from "./Distribution.ts"

/** Records a fact on the projection of a distribution for investors and apps. Only inside `transact`. */
export const recordShown = Effect.fnUntraced(function* (
  { distributionId }: Pick<Distribution, "distributionId">,
  fact: Fact,
  act: Act
) {
  const records = yield* Records
  const shown = Option.getOrNull(yield* records.find(shownDistributions, distributionId))
  if (shown === null) throw new Error(`the distribution ${distributionId} is shown to nobody`)
  yield* records.append(shownDistributions, shown, fact, act)
})
