/** Look-ups of the acquisitions of minted units: their base price and their cost. */
import { Effect } from "effect"
import * as AcquisitionRules from "../../instruments/lot/AcquisitionRules.ts"
import type { Acquisition } from "../../instruments/lot/Lot.ts"
import type { Movement } from "../../instruments/register/Movement.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { Records } from "../../records/Records.ts"
import { type Mint, mints } from "./Mint.ts"

/**
 * Loads the acquisitions of units that were minted for deposits. A movement that is not of the
 * mint's party, instrument and units, or of another transaction than the one that settled the mint, has
 * none: a requester may write any reference, and a deposit is the cost of one mint alone.
 */
export const acquisitionsOf = Effect.fnUntraced(function* (minted: ReadonlyArray<Movement>) {
  const records = yield* Records
  const ids = minted.flatMap(({ reference }) => (reference === null ? [] : [reference.id]))
  const found = yield* records.many(mints, ids)
  const byId = new Map(found.map((mint) => [mint.mintId as string, mint]))
  return new Map(
    minted.flatMap((movement): ReadonlyArray<readonly [Movement, Acquisition]> => {
      const mint = byId.get(movement.reference?.id ?? "")
      const acquisition = mint === undefined ? null : acquisitionOf(mint, movement)
      return acquisition === null ? [] : [[movement, acquisition]]
    })
  )
})

/** Null: the movement is another one, or the prices of the mint are unknown, as after a snapshot. */
const acquisitionOf = (self: Mint, movement: Movement): Acquisition | null => {
  const { deposit, mintId, price, sharePrice, unit } = self
  if (self.state !== "settled" || price === null || sharePrice === null) return null
  const isItsOwn =
    movement.updateId === self.updateId &&
    movement.registrar === self.registrar &&
    movement.instrumentId === self.instrumentId &&
    movement.to === self.party &&
    Decimal.equals(movement.units, self.units)
  return isItsOwn
    ? AcquisitionRules.ofMint({ mintId, sharePrice, deposit, assetPrice: price, currency: unit })
    : null
}
