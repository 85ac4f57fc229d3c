/** A dealing cycle as the API shows it in lists and results: its sums, and the ids of its orders. */
import { Schema } from "effect"
import * as RecordView from "../../reads/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { DealingCycle, dealingCycles } from "./DealingCycle.ts"
import * as Cycle from "./DealingCycleMachine.ts"
import { grossOf, idsOf, type Orders } from "./DealingCycleOrders.ts"

const { fills: _, ...shown } = DealingCycle.fields

export const DealingCycleView = Schema.Struct({ ...shown, ...RecordView.fields }).annotate({
  identifier: "DealingCycleView",
  description: "A dealing cycle with the ids of the orders in it."
})
export type DealingCycleView = typeof DealingCycleView.Type

/** The cycle as whoever sees all of it sees it. */
export const of = (
  record: Stored<DealingCycle>,
  orders: DealingCycle["orders"] = record.orders
): DealingCycleView => {
  const { fills: _, ...view } = RecordView.of(dealingCycles, record)
  return { ...view, orders }
}

/** What a holder sees: the cycle, and of its orders and sums no more than its own. */
export const own = (record: Stored<DealingCycle>, orders: Orders): DealingCycleView => {
  const gross = record.endedAs === "released" ? Cycle.nothing : grossOf(orders)
  return {
    ...of(record, idsOf(orders)),
    members: {
      subscriptions: orders.subscriptions.length,
      redemptions: orders.redemptions.length
    },
    gross,
    fundNet: Cycle.netOf(gross),
    // What all ordered follows from the factor and the capacity.
    gate: null,
    allocations: []
  }
}
