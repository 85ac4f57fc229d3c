/** Which orders are in which dealing cycles, at the point of a read: found with two look-ups for all. */
import { Effect, Stream } from "effect"
import type { Collection } from "../../kernel/Collection.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import type { Members } from "./DealingCycleMachine.ts"
import type { Orders } from "./DealingCycleOrders.ts"

/**
 * The orders of these cycles, by cycle, everybody's or one holder's: those that a settled one names,
 * and of any other those that did not leave by themselves, which they did at another time than it
 * ended. A redemption whose units were burned before is paid by itself.
 */
export const ordersOf = (
  cycles: ReadonlyArray<DealingCycle>,
  of: { readonly pin: Pin.Resolved | null; readonly holderId: string | null }
): Effect.Effect<ReadonlyMap<string, Orders>, Unavailable, Records> =>
  Effect.gen(function* () {
    if (cycles.length === 0) return new Map()
    const known = new Map<string, DealingCycle>(cycles.map((cycle) => [cycle.cycleId, cycle]))
    const query = {
      where: {
        cycleId: [...known.keys()],
        ...(of.holderId === null ? {} : { holderId: [of.holderId] })
      },
      ...(of.pin === null ? {} : { pin: of.pin })
    }
    const bought = yield* inCycles(subscriptions, query, isIn(known, "subscriptions"))
    const sold = yield* inCycles(redemptions, query, isIn(known, "redemptions"))
    return new Map(
      cycles.map(({ cycleId }) => [
        cycleId,
        {
          subscriptions: bought.get(cycleId) ?? [],
          redemptions: (sold.get(cycleId) ?? []).filter(({ state }) => state !== "burned")
        }
      ])
    )
  })

type Member = Pick<Subscription, "cycleId" | "endedAt">

const isIn = (cycles: ReadonlyMap<string, DealingCycle>, kind: keyof Members) => {
  const settled = new Set([...cycles.values()].flatMap(({ orders }) => orders[kind]))
  return ({ cycleId, endedAt }: Member, id: string): boolean => {
    const cycle = cycleId === null ? undefined : cycles.get(cycleId)
    if (cycle === undefined) return false
    return cycle.endedAs === "settled"
      ? settled.has(id)
      : endedAt === null || endedAt === cycle.endedAt
  }
}

const inCycles = <R extends Member, F>(
  collection: Collection<R, F>,
  query: Parameters<Records["Service"]["stream"]>[1],
  is: (order: Member, id: string) => boolean
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.stream(collection, query).pipe(
      Stream.map(({ record }) => record),
      Stream.filter((order) => is(order, collection.id(order))),
      Stream.runCollect
    )
    const inOrder = found.toSorted((a, b) => (collection.id(a) < collection.id(b) ? -1 : 1))
    return Map.groupBy(inOrder, ({ cycleId }) => cycleId ?? "")
  })
