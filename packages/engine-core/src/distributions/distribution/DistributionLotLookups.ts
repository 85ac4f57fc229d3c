/** Loads the acquisitions of units that distributions paid out. */
import { Effect } from "effect"
import * as AcquisitionRules from "../../instruments/lot/AcquisitionRules.ts"
import type { Acquisition } from "../../instruments/lot/Lot.ts"
import type { Movement } from "../../instruments/register/Movement.ts"
import { Records } from "../../records/Records.ts"
import { type Distribution, distributions } from "./Distribution.ts"

/**
 * Loads the acquisitions of units that were minted for distributions. A movement of another
 * instrument, or for a distribution that pays no units, has none, since a requester may write any
 * reference.
 */
export const acquisitionsOf = Effect.fnUntraced(function* (minted: ReadonlyArray<Movement>) {
  const records = yield* Records
  const ids = minted.flatMap(({ reference }) => (reference === null ? [] : [reference.id]))
  const paying = new Map(
    (yield* records.many(distributions, ids)).map((paid) => [paid.distributionId as string, paid])
  )
  return new Map(
    minted.flatMap((movement): ReadonlyArray<readonly [Movement, Acquisition]> => {
      const distribution = paying.get(movement.reference?.id ?? "")
      const acquisition = distribution === undefined ? null : acquisitionOf(distribution, movement)
      return acquisition === null ? [] : [[movement, acquisition]]
    })
  )
})

const acquisitionOf = (self: Distribution, movement: Movement): Acquisition | null => {
  const { currency, distributionId, payoutPrice } = self
  const isItsOwn =
    movement.registrar === self.registrar && movement.instrumentId === self.instrumentId
  return payoutPrice === null || !isItsOwn
    ? null
    : AcquisitionRules.ofDistribution({
        ...{ distributionId, currency, payoutPrice },
        payoutUnits: movement.units
      })
}
