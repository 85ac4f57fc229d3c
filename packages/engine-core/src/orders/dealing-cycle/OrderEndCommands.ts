/** Ledger commands that end orders unsettled: a priced one is released, an unpriced one is withdrawn. */
import { Lot, SubscriptionClaim } from "../../templates/Market.ts"
import { PricedRedemption, RedemptionClaim } from "../../templates/Redemption.ts"
import { exercise } from "../../templates/Template.ts"
import type { Redemption } from "../redemption/Redemption.ts"
import type { Subscription } from "../subscription/Subscription.ts"
import type { Orders } from "./DealingCycleOrders.ts"

/** Returns the commands that end these orders and give back what is allocated to them. */
export const endingOf = ({ subscriptions, redemptions }: Orders) => [
  ...subscriptions.map(endSubscription),
  ...redemptions.map(endRedemption)
]

const endSubscription = ({
  claimCid,
  mispricedCid,
  lot,
  allocation,
  intentCid,
  subscriptionId
}: Subscription) => {
  const argument = { allocationCid: allocation?.cid ?? null, intentCid }
  if (mispricedCid !== null) return exercise(Lot, mispricedCid, "Release", argument)
  return lot === null
    ? exercise(SubscriptionClaim, claimCid ?? withoutContract(subscriptionId), "Withdraw", argument)
    : exercise(Lot, lot.cid, "Release", argument)
}

const endRedemption = (order: Redemption) => {
  const { claimCid, mispricedCid, redemptionId } = order
  const pricedCid = order.pricedCid ?? mispricedCid
  const argument = {
    unitsAllocationCid: order.unitsAllocation?.cid ?? null,
    allocationCid: order.allocation?.cid ?? null,
    intentCid: order.intentCid
  }
  return pricedCid === null
    ? exercise(RedemptionClaim, claimCid ?? withoutContract(redemptionId), "Withdraw", argument)
    : exercise(PricedRedemption, pricedCid, "Release", argument)
}

/** Throws for an open record without a contract: a corrupt history. */
export const withoutContract = (id: string): never => {
  throw new Error(`${id} is open and has no contract`)
}
