/** The orders of dealing cycles: which are in one, what each comes to, and how they are looked up. */
import { Effect, Stream } from "effect"
import type { Collection } from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Redemption, redemptions } from "../redemption/Redemption.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import * as Cycle from "./DealingCycleMachine.ts"
import type { Bought, Sold } from "./DealingCycleRules.ts"

/** The orders of a cycle, each kind by its ids. */
export interface Orders {
  readonly subscriptions: ReadonlyArray<Stored<Subscription>>
  readonly redemptions: ReadonlyArray<Stored<Redemption>>
}

export const none: Orders = { subscriptions: [], redemptions: [] }

export const isNone = (orders: Orders): boolean =>
  orders.subscriptions.length + orders.redemptions.length === 0

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

const isIn = (cycles: ReadonlyMap<string, DealingCycle>, kind: keyof Cycle.Members) => {
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

/** The ids of a cycle's orders. */
export const idsOf = (orders: Orders): Cycle.Members => ({
  subscriptions: orders.subscriptions.map(subscriptions.id),
  redemptions: orders.redemptions.map(redemptions.id)
})

/** A priced subscription as it deals; one without a price has no figures to deal in. */
export const boughtOf = ({ subscriptionId: id, cash, lot }: Subscription): ReadonlyArray<Bought> =>
  lot === null || cash.expected === null ? [] : [{ id, cash: cash.expected, units: lot.units }]

/** A priced redemption as it deals. */
export const soldOf = (self: Redemption): ReadonlyArray<Sold> => {
  const { redemptionId: id, units, proceeds, price, feeRate } = self
  return units === null || proceeds === null || price === null
    ? []
    : [{ id, units, proceeds, price, feeRate }]
}

/** What a subscription comes to as far as it is known: its cash at once where it names an amount. */
export const grossOfSubscription = (self: Subscription): Cycle.Gross => ({
  ...Cycle.nothing,
  subscribed: (self.lot === null ? self.amount : self.cash.expected) ?? Decimal.zero,
  minted: self.lot?.units ?? Decimal.zero
})

/** What a redemption comes to as far as it is known: units or cash at once, whichever it names. */
export const grossOfRedemption = (self: Redemption): Cycle.Gross => ({
  ...Cycle.nothing,
  redeemed: self.proceeds ?? self.amount ?? Decimal.zero,
  burned: self.units ?? Decimal.zero
})

/** The sums of these orders as they stand. */
export const grossOf = (orders: Orders): Cycle.Gross =>
  [
    ...orders.subscriptions.map(grossOfSubscription),
    ...orders.redemptions.map(grossOfRedemption)
  ].reduce(Cycle.added, Cycle.nothing)
