/** View of a dealing cycle in lists and results: its public members, with the ids of its orders. */
import { Struct } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import * as LazyStruct from "../../kernel/LazyStruct.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as Cycle from "./DealingCycle.ts"
import { DealingCycle, dealingCycles } from "./DealingCycle.ts"
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
  "lost"
])

/** Update of the ledger that ended the cycle; null: it is open. */
const updateId = DealingCycle.fields.uid

export const DealingCycleView = RecordView.schemaOf(
  { ...shown, updateId },
  {
    identifier: "DealingCycleView",
    description: "A dealing cycle with the ids of the orders in it."
  }
)
export type DealingCycleView = typeof DealingCycleView.Type

/** Makes the view for callers that see all orders. */
export const of = (
  record: Stored<DealingCycle>,
  orders: DealingCycle["orders"] = record.orders
): DealingCycleView =>
  LazyStruct.extend(RecordView.of(dealingCycles, shown, record), { orders, updateId: record.uid })

/** Returns the view with the figures that settling the cycle now would give. */
export const settling = (
  view: DealingCycleView,
  { gross, fundNet, gate }: Settlement
): DealingCycleView => ({ ...view, gross, fundNet, gate })

/**
 * Makes the view for a caller limited to one holder: orders and sums count that holder's orders only.
 * `named` are all orders of the holder that ever named the cycle.
 */
export const ofHolder = (record: Stored<DealingCycle>, named: Orders): DealingCycleView => {
  const orders = ordersIn(record, named)
  const gross = record.endedAs === "released" ? Cycle.nothing : grossOf(orders)
  return {
    ...of(record, idsOf(orders)),
    gross,
    fundNet: Cycle.netOf(gross),
    // Factor and capacity together would disclose the sum of all orders.
    gate: null,
    ...visibleChangesOf(record, named)
  }
}

/**
 * Computes the version and the time of change that a holder sees: they count the facts of the cycle and
 * of the holder's own orders until the cycle ended. Counting all orders would disclose the number of
 * others.
 */
const visibleChangesOf = (record: Stored<DealingCycle>, { subscriptions, redemptions }: Orders) => {
  const { createdAt, cutOffAt, endedAt } = record
  const isPast = !record.acceptsOrders && (endedAt === null || Instant.atOrAfter(endedAt, cutOffAt))
  const endApart = ({ endedAt: at }: { readonly endedAt: Instant.Instant | null }) =>
    at === endedAt ? null : at
  const instants = [
    createdAt,
    isPast ? cutOffAt : null,
    endedAt,
    ...subscriptions.flatMap((order) => [order.claimedAt, order.pricedAt, endApart(order)]),
    ...redemptions.flatMap((order) => [
      order.claimedAt,
      order.pricedAt,
      // A redemption burned by request has left the cycle; one burned with its payment has not.
      order.burnedAt === order.settledAt ? endApart(order) : order.burnedAt
    ])
  ].filter((at) => at !== null && (endedAt === null || Instant.atOrBefore(at, endedAt)))
  return {
    version: instants.length,
    updatedAt: instants.reduce<Instant.Instant>(
      (latest, at) => Instant.max(latest, at ?? latest),
      createdAt
    )
  }
}
