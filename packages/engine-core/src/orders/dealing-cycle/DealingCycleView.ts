/** A dealing cycle as the API shows it: its sums, the orders in it, and the legs they come to. */
import { Effect, Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as RecordView from "../../reads/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { DealingCycle, dealingCycles } from "./DealingCycle.ts"
import * as Cycle from "./DealingCycleMachine.ts"
import {
  boughtOf,
  grossOf,
  idsOf,
  isNone,
  none,
  type Orders,
  ordersOf,
  soldOf
} from "./DealingCycleOrders.ts"

export const DealingCycleView = Schema.Struct({
  ...DealingCycle.fields,
  ...RecordView.fields
}).annotate({
  identifier: "DealingCycleView",
  description: "A dealing cycle with the ids of the orders in it."
})
export type DealingCycleView = typeof DealingCycleView.Type

/** One side of what an order comes to: an asset from one party to another. */
export const Leg = Schema.Struct({
  from: Party.schema,
  to: Party.schema,
  asset: Field.asset,
  amount: Decimal.schema
}).annotate({ identifier: "CycleLeg", description: "One side of what an order comes to." })
export type Leg = typeof Leg.Type

/** The legs are gross: each account moves only its net, statements and tax go by these. */
export const DealingCycleDetail = Schema.Struct({
  ...DealingCycleView.fields,
  legs: Schema.Array(Leg)
}).annotate({
  identifier: "DealingCycleDetail",
  description: "A dealing cycle with its orders and their gross legs."
})
export type DealingCycleDetail = typeof DealingCycleDetail.Type

/** At which point, and whose orders: everybody's where there is no holder. */
export interface Seen {
  readonly pin: Pin.Resolved
  readonly holderId: string | null
}

/** The cycle as whoever sees all of it sees it. */
export const of = (
  record: Stored<DealingCycle>,
  orders: DealingCycle["orders"] = record.orders
): DealingCycleView => ({ ...RecordView.of(dealingCycles, record), orders })

/**
 * The cycles of a page. A settled one knows its orders; those of the others are looked up, in one go
 * for all, and so are those of a holder that sees nobody else's.
 */
export const many = Effect.fnUntraced(function* (
  cycles: ReadonlyArray<Stored<DealingCycle>>,
  seen: Seen
) {
  const asked =
    seen.holderId === null ? cycles.filter(({ endedAs }) => endedAs !== "settled") : cycles
  const orders = yield* ordersOf(asked, seen)
  return cycles.map((cycle) => {
    const found = orders.get(cycle.cycleId)
    if (found === undefined) return of(cycle)
    return seen.holderId === null ? of(cycle, idsOf(found)) : own(cycle, found)
  })
})

/** One cycle with its legs; one that a holder has no order in is not there for it. */
export const detail = Effect.fnUntraced(function* (cycle: Stored<DealingCycle>, seen: Seen) {
  const orders = (yield* ordersOf([cycle], seen)).get(cycle.cycleId) ?? none
  if (seen.holderId !== null && isNone(orders)) {
    return yield* Effect.fail(
      refused("not-found", { detail: `There is no such ${dealingCycles.name}.` })
    )
  }
  const view = seen.holderId === null ? of(cycle, idsOf(orders)) : own(cycle, orders)
  return { ...view, legs: legsOf(cycle, orders) }
})

/** What a holder sees: the cycle, and of its orders and sums no more than its own. */
const own = (cycle: Stored<DealingCycle>, orders: Orders): DealingCycleView => {
  const gross = cycle.endedAs === "released" ? Cycle.nothing : grossOf(orders)
  return {
    ...of(cycle, idsOf(orders)),
    members: {
      subscriptions: orders.subscriptions.length,
      redemptions: orders.redemptions.length
    },
    gross,
    fundNet: Cycle.netOf(gross),
    allocations: []
  }
}

/**
 * Cash to the fund and units to the holder for a subscription, units away and cash to the holder for
 * a redemption. An unpriced order has no legs yet; what a released cycle held came to nothing.
 */
export const legsOf = (cycle: DealingCycle, orders: Orders): ReadonlyArray<Leg> => {
  if (cycle.endedAs === "released") return []
  const { fund, paymentAsset, registrar } = cycle
  const units = { admin: registrar, id: cycle.instrumentId }
  return [
    ...orders.subscriptions.flatMap((order) =>
      boughtOf(order).flatMap((one) => [
        { from: order.party, to: fund, asset: paymentAsset, amount: one.cash },
        { from: registrar, to: order.party, asset: units, amount: one.units }
      ])
    ),
    ...orders.redemptions.flatMap((order) =>
      soldOf(order).flatMap((one) => [
        { from: order.party, to: registrar, asset: units, amount: one.units },
        { from: fund, to: order.party, asset: paymentAsset, amount: one.proceeds }
      ])
    )
  ]
}
