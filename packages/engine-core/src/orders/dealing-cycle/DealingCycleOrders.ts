/** Pure selection of the orders of a dealing cycle, and the sums of each. */
import * as Decimal from "../../kernel/Decimal.ts"
import type { Stored } from "../../records/Records.ts"
import { type Redemption, redemptions } from "../redemption/Redemption.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import * as Cycle from "./DealingCycle.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import * as Rules from "./DealingCycleRules.ts"
import type { SubscriptionFigures, RedemptionFigures } from "./DealingCycleRules.ts"

/** Orders of a cycle, each kind sorted by id. */
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
 * are burned has left it too, and is paid by itself.
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

/** Orders of a cycle that deal, and those that its price makes nothing of. */
interface DealtOrders {
  readonly orders: Orders
  /** Unpriced orders that nobody can price: they would pay no cash, or buy no units. */
  readonly tooSmall: Orders
}

/**
 * Takes out the orders that come to nothing at the price of the cycle: an unpriced redemption that pays
 * less than the currency's smallest amount, an unpriced subscription that buys less than the smallest
 * part of a unit. Neither can be priced on the ledger, and one of them would keep the whole cycle from
 * settling (docs/domain/dealing-cycles.md#orders-that-come-to-nothing). Before any order is priced none
 * is known to be one.
 */
export const dealtOf = (orders: Orders): DealtOrders => {
  const { subscriptions, redemptions } = orders
  const price = [...subscriptions, ...redemptions].find((order) => order.price !== null)?.price
  if (price === undefined || price === null) return { orders, tooSmall: none }
  const buysNothing = (order: Subscription): boolean =>
    order.lot === null &&
    !Decimal.isPositive(Rules.boughtAt({ ...order, id: order.subscriptionId }, price).units)
  const paysNothing = (order: Redemption): boolean =>
    order.price === null &&
    order.burnRequestCid === null &&
    order.units !== null &&
    !Rules.isPayable(order, price)
  return {
    orders: {
      subscriptions: subscriptions.filter((order) => !buysNothing(order)),
      redemptions: redemptions.filter((order) => !paysNothing(order))
    },
    tooSmall: {
      subscriptions: subscriptions.filter(buysNothing),
      redemptions: redemptions.filter(paysNothing)
    }
  }
}

/** Returns the ids of a cycle's orders. */
export const idsOf = (orders: Orders): Cycle.Members => ({
  subscriptions: orders.subscriptions.map(subscriptions.id),
  redemptions: orders.redemptions.map(redemptions.id)
})

/** Figures of a subscription in a settlement; none before it is priced. */
export const boughtOf = (self: Subscription): ReadonlyArray<SubscriptionFigures> => {
  const { subscriptionId: id, cash, lot } = self
  return lot === null || cash.expected === null
    ? []
    : [{ id, cash: cash.expected, refund: refundOf(self), units: lot.units }]
}

/** Refund of an order: the amount owed until it is closed, then the amount paid. */
const refundOf = ({ state, refund, refunded }: Subscription): Decimal.Decimal =>
  (state === "closed" ? refunded : refund) ?? Decimal.zero

/** Figures of a redemption in a settlement; none before it is priced. */
export const soldOf = (self: Redemption): ReadonlyArray<RedemptionFigures> => {
  const { redemptionId: id, units, proceeds, price, feeRate } = self
  return units === null || proceeds === null || price === null
    ? []
    : [{ id, units, proceeds, price, feeRate }]
}

/** Sums of a subscription; before its price only the cash of an order by amount. */
export const grossOfSubscription = (self: Subscription): Cycle.Gross => ({
  ...Cycle.nothing,
  subscribed: (self.lot === null ? self.amount : self.cash.expected) ?? Decimal.zero,
  refunded: self.lot === null ? Decimal.zero : refundOf(self),
  minted: self.lot?.units ?? Decimal.zero
})

/** Sums of a redemption; before its price only the units or the cash that it orders. */
export const grossOfRedemption = (self: Redemption): Cycle.Gross => ({
  ...Cycle.nothing,
  redeemed: self.proceeds ?? self.amount ?? Decimal.zero,
  burned: self.units ?? Decimal.zero
})

/** Sums these orders. */
export const grossOf = (orders: Orders): Cycle.Gross =>
  [
    ...orders.subscriptions.map(grossOfSubscription),
    ...orders.redemptions.map(grossOfRedemption)
  ].reduce(Cycle.added, Cycle.nothing)

/** Splits orders into the figures of the priced ones and the records of the unpriced ones. */
export const partsOf = ({ subscriptions, redemptions }: Orders) => ({
  subscriptions: subscriptions.flatMap(boughtOf),
  redemptions: redemptions.flatMap(soldOf),
  unpriced: {
    subscriptions: subscriptions.filter((order) => boughtOf(order).length === 0),
    redemptions: redemptions.filter((order) => soldOf(order).length === 0)
  } satisfies Orders
})

/**
 * Computes the settlement of these orders: priced ones through the gate, unpriced ones with the sums they
 * have. The action, its precheck and the view of a cycle past its cut-off all use this computation.
 */
export const settlementOf = (
  { unitDecimals, cashDecimals }: Pick<DealingCycle, "unitDecimals" | "cashDecimals">,
  orders: Orders,
  capacity: Decimal.Decimal | null
): Rules.Settlement => {
  const { unpriced, ...priced } = partsOf(orders)
  const settlement = Rules.settlementOf({ ...priced, capacity, unitDecimals, cashDecimals })
  if (isNone(unpriced)) return settlement
  const gross = Cycle.added(settlement.gross, grossOf(unpriced))
  return { ...settlement, gross, fundNet: Cycle.netOf(gross) }
}
