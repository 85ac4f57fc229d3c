/** Checks of holds and restrictions for acts of orders. */
import * as HoldRules from "../restraints/hold/HoldRules.ts"
import * as RestrictionRules from "../restraints/restriction/RestrictionRules.ts"
import type { Objection } from "../kernel/Gates.ts"
import type * as Party from "../kernel/Party.ts"

/** Open holds of the instrument and restrictions in force of the act's holders. */
export interface Controls {
  readonly holds: ReadonlyArray<HoldRules.Holding>
  readonly restrictions: ReadonlyArray<RestrictionRules.Restricting>
}

/** The row of the first gate alone, for an act that is about no holder. */
export const held = ({ holds }: Pick<Controls, "holds">): Objection =>
  HoldRules.against(holds, "deal")

/** Both rows, for an act of one holder's order. */
export const against = (
  controls: Controls,
  of: {
    readonly holder: { readonly holderId: string; readonly party: Party.Party }
    readonly instrumentId: string
    readonly passing: RestrictionRules.ActPassing
  }
): ReadonlyArray<Objection> => [
  held(controls),
  RestrictionRules.against(
    controls.restrictions,
    { holderId: of.holder.holderId, instrumentId: of.instrumentId, passing: of.passing },
    of.holder.party
  )
]

/** An order among several: its id and holder. */
export interface Member {
  readonly orderId: string
  readonly holderId: string
  readonly party: Party.Party
}

/**
 * The restriction's row for many orders: the first of them that is stopped is named. Without an order
 * nobody is asked for, and there is no row.
 */
export const againstEach = (
  { restrictions }: Pick<Controls, "restrictions">,
  orders: ReadonlyArray<Member>,
  of: { readonly instrumentId: string; readonly passing: RestrictionRules.ActPassing }
): ReadonlyArray<Objection> => {
  // Few holders are restricted and orders may be many: the others are not asked one by one.
  const restricted = new Set(restrictions.map(({ holderId }) => holderId))
  const stopped = orders.find(
    ({ holderId }) =>
      restricted.has(holderId) && !RestrictionRules.lets(restrictions, { holderId, ...of })
  )
  const shown = stopped ?? orders[0]
  if (shown === undefined) return []
  const { holderId, orderId, party } = shown
  const { refuses, refusal } = RestrictionRules.against(restrictions, { holderId, ...of }, party)
  return [
    {
      refuses,
      refusal: {
        ...refusal,
        detail: `The holder of the order ${orderId} is restricted.`,
        recovery: "Have the restriction lifted, or leave the order out: release it."
      }
    }
  ]
}
