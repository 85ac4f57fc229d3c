/** Checks of holds and restrictions for acts on orders. */
import * as HoldRules from "../../restraints/hold/HoldRules.ts"
import * as RestrictionRules from "../../restraints/restriction/RestrictionRules.ts"
import type { Judgement } from "../../kernel/Gates.ts"
import type * as Party from "../../kernel/Party.ts"

/** Open holds of the instrument, and restrictions in force of the holders of the act. */
export interface Controls {
  readonly holds: ReadonlyArray<HoldRules.OpenHold>
  readonly restrictions: ReadonlyArray<RestrictionRules.RestrictionInForce>
}

/** Checks the holds alone, for an act that concerns no holder. */
export const held = ({ holds }: Pick<Controls, "holds">): Judgement =>
  HoldRules.against(holds, "deal")

/** Checks holds and restrictions, for an act on one holder's order. */
export const against = (
  controls: Controls,
  {
    holder,
    instrumentId,
    passing
  }: {
    readonly holder: { readonly holderId: string; readonly party: Party.Party }
    readonly instrumentId: string
    readonly passing: RestrictionRules.ActDirection
  }
): ReadonlyArray<Judgement> => [
  held(controls),
  RestrictionRules.against(
    controls.restrictions,
    { holderId: holder.holderId, instrumentId, passing },
    holder.party
  )
]

/** An order among several: its id and holder. */
interface Member {
  readonly orderId: string
  readonly holderId: string
  readonly party: Party.Party
}

/**
 * Checks the restrictions for many orders, in one row that names the first order that is stopped. Without
 * an order there is no row.
 */
export const againstEach = (
  { restrictions }: Pick<Controls, "restrictions">,
  orders: ReadonlyArray<Member>,
  movement: { readonly instrumentId: string; readonly passing: RestrictionRules.ActDirection }
): ReadonlyArray<Judgement> => {
  // Index: few of the many holders are restricted, and only those are checked in full.
  const restricted = new Set(restrictions.map(({ holderId }) => holderId))
  const stopped = orders.find(
    ({ holderId }) =>
      restricted.has(holderId) && !RestrictionRules.permits(restrictions, { holderId, ...movement })
  )
  const shown = stopped ?? orders[0]
  if (shown === undefined) return []
  const { holderId, orderId, party } = shown
  const { refuses, refusal } = RestrictionRules.against(
    restrictions,
    { holderId, ...movement },
    party
  )
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
