/** Look-up of the open holds and the restrictions in force, for acts on orders. */
import { Effect } from "effect"
import { openOn } from "../../restraints/hold/OpenHoldLookups.ts"
import { inForce } from "../../restraints/restriction/RestrictionLookups.ts"

/** Loads the open holds of the instrument and the restrictions of these holders, with two look-ups. */
export const controlsOf = Effect.fnUntraced(function* ({
  instrumentId,
  holderIds
}: {
  readonly instrumentId: string
  readonly holderIds: ReadonlyArray<string>
}) {
  const holds = yield* openOn([instrumentId])
  const restrictions = holderIds.length === 0 ? [] : yield* inForce({ holderIds, instrumentId })
  return { holds, restrictions }
})
