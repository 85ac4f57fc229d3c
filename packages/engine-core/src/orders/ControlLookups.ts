/** Look-ups of open holds and active restrictions for acts of orders. */
import { Effect } from "effect"
import { openOn } from "../restraints/hold/OpenHoldLookups.ts"
import { inForce } from "../restraints/restriction/RestrictionLookups.ts"

/** The holds open on the instrument, and the restrictions of these holders; two look-ups in all. */
export const controlsOf = Effect.fnUntraced(function* (of: {
  readonly instrumentId: string
  readonly holderIds: ReadonlyArray<string>
}) {
  const { instrumentId, holderIds } = of
  const holds = yield* openOn([instrumentId])
  const restrictions = holderIds.length === 0 ? [] : yield* inForce({ holderIds, instrumentId })
  return { holds, restrictions }
})
