/**
 * Look-ups of the lots of subscriptions: the acquisition of their units, and the units that remain.
 */
import { Effect } from "effect"
import * as AcquisitionRules from "../../instruments/lot/AcquisitionRules.ts"
import { type Acquisition, idOf, lots } from "../../instruments/lot/Lot.ts"
import type { Movement } from "../../instruments/register/Movement.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Subscription, subscriptions } from "./Subscription.ts"

/**
 * Loads the acquisitions of units that were minted for subscriptions. A movement that is not of the
 * order's party, instrument and units has none: requesters write references freely.
 */
export const acquisitionsOf = Effect.fnUntraced(function* (minted: ReadonlyArray<Movement>) {
  const records = yield* Records
  const ids = minted.flatMap(({ reference }) => (reference === null ? [] : [reference.id]))
  const orders = new Map(
    (yield* records.many(subscriptions, ids)).map((order) => [
      order.subscriptionId as string,
      order
    ])
  )
  return new Map(
    minted.flatMap((movement): ReadonlyArray<readonly [Movement, Acquisition]> => {
      const order = orders.get(movement.reference?.id ?? "")
      const acquisition = order === undefined ? null : acquisitionOf(order, movement)
      return acquisition === null ? [] : [[movement, acquisition]]
    })
  )
})

const acquisitionOf = (self: Subscription, movement: Movement): Acquisition | null => {
  const { cash, currency, lot, refund, subscriptionId } = self
  if (lot === null || cash.expected === null || refund === null) return null
  const isItsOwn =
    movement.registrar === self.registrar &&
    movement.instrumentId === self.instrumentId &&
    movement.to === self.party &&
    Decimal.equals(movement.units, lot.units)
  return isItsOwn
    ? AcquisitionRules.ofSubscription({
        ...{ subscriptionId, currency, refund },
        pointPrice: lot.basePrice,
        cash: cash.expected
      })
    : null
}

/**
 * Loads the units that remain at the pin of the lots of delivered orders, with one look-up, and
 * returns the orders with them. Before the delivery, and where the projection began after it,
 * `remaining` stays as the order was priced.
 */
export const withRemaining = Effect.fnUntraced(function* (
  orders: ReadonlyArray<Stored<Subscription>>,
  pin?: Pin.ResolvedPin
) {
  const ids = orders.flatMap((order) => (order.deliveredAt === null ? [] : [lotOf(order)]))
  if (ids.length === 0) return orders
  const records = yield* Records
  const found = yield* records.many(lots, ids, pin)
  const byId = new Map(found.map((lot) => [idOf(lot), lot]))
  return orders.map((order) => {
    const remaining = byId.get(lotOf(order))?.remaining
    return order.lot === null || remaining === undefined || remaining === order.lot.remaining
      ? order
      : { ...order, lot: { ...order.lot, remaining } }
  })
})

const lotOf = (order: Subscription): string => idOf({ ...order, lotId: order.subscriptionId })
