/** A dealing cycle as the API shows it in lists and results: its sums, and the ids of its orders. */
import { Struct } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { DealingCycle, dealingCycles } from "./DealingCycle.ts"
import * as Cycle from "./DealingCycleMachine.ts"
import { grossOf, idsOf, type Orders, ordersIn } from "./DealingCycleOrders.ts"
import type { Settlement } from "./DealingCycleRules.ts"

const shown = Struct.pick(DealingCycle.fields, [
  "cycleId",
  "instrumentId",
  "state",
  "endedAs",
  "cutOffAt",
  "acceptsOrders",
  "settleBy",
  "pointCid",
  "price",
  "swungPrice",
  "orders",
  "gross",
  "fundNet",
  // The currency of the cash in `gross` and `fundNet`.
  "currency",
  "gate",
  // The terms it settled under, or those that a what-if read supposes.
  "policyVersion",
  "uid"
])

export const DealingCycleView = RecordView.schemaOf(shown, {
  identifier: "DealingCycleView",
  description: "A dealing cycle with the ids of the orders in it."
})
export type DealingCycleView = typeof DealingCycleView.Type

/** The cycle's view for readers without a limited scope. */
export const of = (
  record: Stored<DealingCycle>,
  orders: DealingCycle["orders"] = record.orders
): DealingCycleView => ({ ...RecordView.of(dealingCycles, shown, record), orders })

/** The cycle with the figures that settling it now would give. */
export const settling = (
  view: DealingCycleView,
  { gross, fundNet, gate }: Settlement
): DealingCycleView => ({ ...view, gross, fundNet, gate })

/**
 * The view of a cycle for one holder: orders and sums count that holder's own orders only. `named`
 * holds every order of the holder that ever named the cycle.
 */
export const own = (record: Stored<DealingCycle>, named: Orders): DealingCycleView => {
  const orders = ordersIn(record, named)
  const gross = record.endedAs === "released" ? Cycle.nothing : grossOf(orders)
  return {
    ...of(record, idsOf(orders)),
    gross,
    fundNet: Cycle.netOf(gross),
    // What all ordered follows from the factor and the capacity.
    gate: null,
    ...knownOf(record, named)
  }
}

/**
 * The version and the time of change that a holder is shown count the facts it may know: the cycle's
 * own, and those of its own orders until the cycle ended. Everybody's would tell how many others deal.
 */
const knownOf = (record: Stored<DealingCycle>, { subscriptions, redemptions }: Orders) => {
  const { createdAt, cutOffAt, endedAt } = record
  const isPast = !record.acceptsOrders && (endedAt === null || Instant.atOrAfter(endedAt, cutOffAt))
  const apart = ({ endedAt: at }: { readonly endedAt: Instant.Instant | null }) =>
    at === endedAt ? null : at
  const instants = [
    createdAt,
    isPast ? cutOffAt : null,
    endedAt,
    ...subscriptions.flatMap((order) => [order.claimedAt, order.pricedAt, apart(order)]),
    ...redemptions.flatMap((order) => [
      order.claimedAt,
      order.pricedAt,
      // A redemption burned by request has left the cycle; one burned with its payment has not.
      order.burnedAt === order.settledAt ? apart(order) : order.burnedAt
    ])
  ].filter((at) => at !== null && (endedAt === null || Instant.atOrBefore(at, endedAt)))
  return {
    version: instants.length,
    updatedAt: instants.reduce<Instant.Instant>(
      (last, at) => Instant.max(last, at ?? last),
      createdAt
    )
  }
}
