/** A dealing cycle as the API shows it: its sums, the orders in it, and the legs they come to. */
import { Effect, Schema, Stream } from "effect"
import type { Collection } from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { refused, type Unavailable } from "../../kernel/Refusal.ts"
import * as RecordView from "../../reads/RecordView.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import { DealingCycle, dealingCycles } from "./DealingCycle.ts"
import * as Cycle from "./DealingCycleMachine.ts"

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
})
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

/** The orders of a cycle. */
export interface Orders {
  readonly subscriptions: ReadonlyArray<Stored<Subscription>>
}
const none: Orders = { subscriptions: [] }

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
  pin: Pin.Resolved,
  holderId: string | null
) {
  const asked = holderId === null ? cycles.filter(({ endedAs }) => endedAs !== "settled") : cycles
  const orders = yield* ordersOf(asked, pin, holderId)
  return cycles.map((cycle) => {
    const found = orders.get(cycle.cycleId)
    if (found === undefined) return of(cycle)
    return holderId === null ? of(cycle, idsOf(found)) : own(cycle, found)
  })
})

/** One cycle with its legs; one that a holder has no order in is not there for it. */
export const detail = Effect.fnUntraced(function* (
  cycle: Stored<DealingCycle>,
  pin: Pin.Resolved,
  holderId: string | null
) {
  const orders = (yield* ordersOf([cycle], pin, holderId)).get(cycle.cycleId) ?? none
  if (holderId !== null && orders.subscriptions.length === 0) {
    return yield* Effect.fail(
      refused("not-found", { detail: `There is no such ${dealingCycles.name}.` })
    )
  }
  const view = holderId === null ? of(cycle, idsOf(orders)) : own(cycle, orders)
  return { ...view, legs: legsOf(cycle, orders) }
})

/** What a holder sees: the cycle, and of its orders and sums no more than its own. */
const own = (cycle: Stored<DealingCycle>, orders: Orders): DealingCycleView => {
  const ids = idsOf(orders)
  const gross = grossOf(orders)
  return {
    ...of(cycle, ids),
    members: {
      subscriptions: ids.subscriptions.length,
      redemptions: ids.redemptions.length
    },
    gross,
    fundNet: Cycle.netOf(gross),
    allocations: []
  }
}

// ---- the orders of cycles

/** The orders of these cycles, by cycle: those that left by themselves are in none. */
export const ordersOf = (
  cycles: ReadonlyArray<DealingCycle>,
  pin: Pin.Resolved | undefined,
  holderId: string | null
): Effect.Effect<ReadonlyMap<string, Orders>, Unavailable, Records> =>
  Effect.gen(function* () {
    if (cycles.length === 0) return new Map()
    const endOf = new Map<string, DealingCycle["endedAt"]>(
      cycles.map(({ cycleId, endedAt }) => [cycleId, endedAt])
    )
    const query = {
      where: {
        cycleId: [...endOf.keys()],
        ...(holderId === null ? {} : { holderId: [holderId] })
      },
      ...(pin === undefined ? {} : { pin })
    }
    const subscribed = yield* inCycles(subscriptions, query, endOf)
    return new Map(
      cycles.map(({ cycleId }) => [cycleId, { subscriptions: subscribed.get(cycleId) ?? [] }])
    )
  })

/** An order that left by itself ended at another time than its cycle. */
const inCycles = <R extends Pick<Subscription, "cycleId" | "endedAt">, F>(
  collection: Collection<R, F>,
  query: Parameters<Records["Service"]["stream"]>[1],
  endOf: ReadonlyMap<string, DealingCycle["endedAt"]>
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.stream(collection, query).pipe(
      Stream.map(({ record }) => record),
      Stream.filter(
        ({ cycleId, endedAt }) =>
          cycleId !== null && (endedAt === null || endedAt === endOf.get(cycleId))
      ),
      Stream.runCollect
    )
    return Map.groupBy(found, ({ cycleId }) => cycleId ?? "")
  })

/** The ids of a cycle's orders, in order. */
export const idsOf = (orders: Orders): DealingCycle["orders"] => ({
  subscriptions: orders.subscriptions.map(({ subscriptionId }) => subscriptionId).toSorted(),
  redemptions: []
})

// ---- what the orders come to

/** The sums of these orders, as they are priced so far. */
export const grossOf = (orders: Orders): Cycle.Gross => ({
  ...Cycle.nothing,
  subscribed: Decimal.sum(orders.subscriptions.map(({ cash }) => cash.expected ?? Decimal.zero)),
  minted: Decimal.sum(orders.subscriptions.map(({ lot }) => lot?.units ?? Decimal.zero))
})

/**
 * Cash to the fund and units to the holder for a subscription, units away and cash to the holder for
 * a redemption. An unpriced order has no legs yet; what a released cycle held came to nothing.
 */
export const legsOf = (cycle: DealingCycle, orders: Orders): ReadonlyArray<Leg> => {
  if (cycle.endedAs === "released") return []
  const { fund, paymentAsset, registrar } = cycle
  const units = { admin: registrar, id: cycle.instrumentId }
  return orders.subscriptions
    .toSorted((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1))
    .flatMap(
      ({ party, lot, cash }): ReadonlyArray<Leg> =>
        lot === null || cash.expected === null
          ? []
          : [
              { from: party, to: fund, asset: paymentAsset, amount: cash.expected },
              { from: registrar, to: party, asset: units, amount: lot.units }
            ]
    )
}
