/** Orders of a dealing cycle, and the sums of each. */
import * as Decimal from "../../kernel/Decimal.ts"
import type { Stored } from "../../records/Records.ts"
import { type Redemption, redemptions } from "../redemption/Redemption.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import * as Cycle from "./DealingCycleMachine.ts"
import * as Rules from "./DealingCycleRules.ts"
import type { Bought, Sold } from "./DealingCycleRules.ts"

/** The orders of a cycle, each kind by its ids. */
export interface Orders {
  readonly subscriptions: ReadonlyArray<Stored<Subscription>>
  readonly redemptions: ReadonlyArray<Stored<Redemption>>
}

export const none: Orders = { subscriptions: [], redemptions: [] }

export const isNone = (orders: Orders): boolean =>
  orders.subscriptions.length + orders.redemptions.length === 0

/**
 * Filters the orders that name a cycle down to its members. A settled cycle lists its members; in any
 * other cycle an order that ended at another time than the cycle has left it. A redemption whose units
 * were burned before is paid by itself.
 */
export const ordersIn = (
  { cycleId, endedAs, endedAt, orders }: DealingCycle,
  named: Orders
): Orders => {
  const settled = (kind: keyof Cycle.Members): ReadonlySet<string> => new Set(orders[kind])
  const isIn = (kind: keyof Cycle.Members) => {
    const ids = settled(kind)
    return (id: string, order: Pick<Subscription, "cycleId" | "endedAt">): boolean =>
      order.cycleId === cycleId &&
      (endedAs === "settled" ? ids.has(id) : order.endedAt === null || order.endedAt === endedAt)
  }
  const [isBought, isSold] = [isIn("subscriptions"), isIn("redemptions")]
  return {
    subscriptions: named.subscriptions.filter((order) => isBought(order.subscriptionId, order)),
    redemptions: named.redemptions.filter(
      (order) => order.state !== "burned" && isSold(order.redemptionId, order)
    )
  }
}

/** The ids of a cycle's orders. */
export const idsOf = (orders: Orders): Cycle.Members => ({
  subscriptions: orders.subscriptions.map(subscriptions.id),
  redemptions: orders.redemptions.map(redemptions.id)
})

/** A priced subscription as it deals; one without a price has no figures to deal in. */
export const boughtOf = (self: Subscription): ReadonlyArray<Bought> => {
  const { subscriptionId: id, cash, lot } = self
  return lot === null || cash.expected === null
    ? []
    : [{ id, cash: cash.expected, refund: refundOf(self), units: lot.units }]
}

/** Refund of an order: the amount owed until it is closed, then the amount paid. */
const refundOf = ({ state, refund, refunded }: Subscription): Decimal.Decimal =>
  (state === "closed" ? refunded : refund) ?? Decimal.zero

/** A priced redemption as it deals. */
export const soldOf = (self: Redemption): ReadonlyArray<Sold> => {
  const { redemptionId: id, units, proceeds, price, feeRate } = self
  return units === null || proceeds === null || price === null
    ? []
    : [{ id, units, proceeds, price, feeRate }]
}

/** Sums of a subscription as far as they are known: the cash at once where it names an amount. */
export const grossOfSubscription = (self: Subscription): Cycle.Gross => ({
  ...Cycle.nothing,
  subscribed: (self.lot === null ? self.amount : self.cash.expected) ?? Decimal.zero,
  refunded: self.lot === null ? Decimal.zero : refundOf(self),
  minted: self.lot?.units ?? Decimal.zero
})

/** Sums of a redemption as far as they are known: units or cash at once, whichever it names. */
export const grossOfRedemption = (self: Redemption): Cycle.Gross => ({
  ...Cycle.nothing,
  redeemed: self.proceeds ?? self.amount ?? Decimal.zero,
  burned: self.units ?? Decimal.zero
})

/** The sums of these orders as they stand. */
export const grossOf = (orders: Orders): Cycle.Gross =>
  [
    ...orders.subscriptions.map(grossOfSubscription),
    ...orders.redemptions.map(grossOfRedemption)
  ].reduce(Cycle.added, Cycle.nothing)

/** Priced orders as they deal, and those that have no price yet. */
export const partsOf = ({ subscriptions, redemptions }: Orders) => ({
  bought: subscriptions.flatMap(boughtOf),
  sold: redemptions.flatMap(soldOf),
  unpriced: {
    subscriptions: subscriptions.filter((order) => boughtOf(order).length === 0),
    redemptions: redemptions.filter((order) => soldOf(order).length === 0)
  } satisfies Orders
})

/**
 * Computes the settlement of these orders: priced orders through the gate, unpriced ones as far as they
 * are known. The action, its precheck and the view of a cycle past its cut-off show this one computation.
 */
export const settlementOf = (
  { unitDecimals, cashDecimals }: Pick<DealingCycle, "unitDecimals" | "cashDecimals">,
  orders: Orders,
  capacity: Decimal.Decimal | null
): Rules.Settlement => {
  const { bought, sold, unpriced } = partsOf(orders)
  const settlement = Rules.settlementOf({ bought, sold, capacity, unitDecimals, cashDecimals })
  if (isNone(unpriced)) return settlement
  const gross = Cycle.added(settlement.gross, grossOf(unpriced))
  return { ...settlement, gross, fundNet: Cycle.netOf(gross) }
}
