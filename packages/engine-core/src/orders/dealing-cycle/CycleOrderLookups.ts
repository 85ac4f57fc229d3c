/** Look-up of the orders of dealing cycles, with two queries for any number of cycles. */
import { Effect, Stream } from "effect"
import type { Collection } from "../../kernel/Collection.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import { cycleNamedBy } from "./FormerCycle.ts"
import { none, type Orders, ordersIn } from "./DealingCycleOrders.ts"

/** Loads all orders that name these cycles, or one holder's, by cycle; orders that left a cycle included. */
export const ordersNaming = (
  cycles: ReadonlyArray<DealingCycle>,
  { pin, holderId }: { readonly pin: Pin.ResolvedPin | null; readonly holderId: string | null }
): Effect.Effect<ReadonlyMap<string, Orders>, Unavailable, Records> =>
  Effect.gen(function* () {
    if (cycles.length === 0) return new Map()
    const query = {
      where: {
        cycleId: cycles.map(({ cycleId }) => cycleId),
        ...(holderId === null ? {} : { holderId: [holderId] })
      },
      ...(pin === null ? {} : { pin })
    }
    const bought = yield* inCycles(subscriptions, query)
    const sold = yield* inCycles(redemptions, query)
    return new Map(
      cycles.map(({ cycleId }) => [
        cycleId,
        { subscriptions: bought.get(cycleId) ?? [], redemptions: sold.get(cycleId) ?? [] }
      ])
    )
  })

/** Loads all orders that are in these cycles, or one holder's, by cycle. */
export const ordersOf = (
  cycles: ReadonlyArray<DealingCycle>,
  scope: { readonly pin: Pin.ResolvedPin | null; readonly holderId: string | null }
): Effect.Effect<ReadonlyMap<string, Orders>, Unavailable, Records> =>
  Effect.map(
    ordersNaming(cycles, scope),
    (named) =>
      new Map(
        cycles.map((cycle) => [cycle.cycleId, ordersIn(cycle, named.get(cycle.cycleId) ?? none)])
      )
  )

/**
 * Loads the orders that are still in a cycle, with the changes of this transaction: the committed ones, and those that
 * the transaction has written itself, which a list does not find. Only inside `Records.transact`.
 */
export const ordersLeft = (cycle: DealingCycle): Effect.Effect<Orders, Unavailable, Records> =>
  Effect.gen(function* () {
    const bought = yield* leftIn(subscriptions, cycle.cycleId)
    const sold = yield* leftIn(redemptions, cycle.cycleId)
    return ordersIn(cycle, { subscriptions: bought, redemptions: sold })
  })

/** Loads the orders whose cycle this is, with the changes of this transaction, sorted by id. */
export const leftIn = <R extends Pick<Subscription, "cycleId">, F>(
  collection: Collection<R, F>,
  cycleId: string
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const listed = yield* Stream.runCollect(
      records.ids(collection, { where: { cycleId: [cycleId] } })
    )
    const written = yield* records.uncommitted(collection, { column: "cycleId", anyOf: [cycleId] })
    const orders = yield* records.many(collection, [...new Set([...listed, ...written])])
    return orders
      .filter((order) => order.cycleId === cycleId)
      .toSorted((a, b) => (collection.id(a) < collection.id(b) ? -1 : 1))
  })

const inCycles = <R extends Pick<Subscription, "cycleId" | "formerCycle">, F>(
  collection: Collection<R, F>,
  query: Parameters<Records["Service"]["stream"]>[1]
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.stream(collection, query).pipe(
      Stream.map(({ record }) => record),
      Stream.runCollect
    )
    const inOrder = found.toSorted((a, b) => (collection.id(a) < collection.id(b) ? -1 : 1))
    return Map.groupBy(inOrder, (order) => cycleNamedBy(order) ?? "")
  })
