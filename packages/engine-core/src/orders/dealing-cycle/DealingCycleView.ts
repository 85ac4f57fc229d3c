/** A dealing cycle as the API shows it in lists and results: its sums, and the ids of its orders. */
import { Effect, Schema } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import * as RecordView from "../../reads/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { DealingCycle, dealingCycles } from "./DealingCycle.ts"
import * as Cycle from "./DealingCycleMachine.ts"
import { grossOf, idsOf, type Orders, ordersOf } from "./DealingCycleOrders.ts"

const { fills: _, ...shown } = DealingCycle.fields

export const DealingCycleView = Schema.Struct({ ...shown, ...RecordView.fields }).annotate({
  identifier: "DealingCycleView",
  description: "A dealing cycle with the ids of the orders in it."
})
export type DealingCycleView = typeof DealingCycleView.Type

/** At which point, and whose orders: everybody's where there is no holder. */
export interface Seen {
  readonly pin: Pin.Resolved
  readonly holderId: string | null
}

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
    allocations: []
  }
}

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
