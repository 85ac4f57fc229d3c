/** What every order that comes, is priced or goes changes in the sums of its day and of its cycle. */
import { Effect, Option } from "effect"
import { contracts } from "../../projection/Contract.ts"
import * as Once from "../../projection/Once.ts"
import type { Node } from "../../projection/Reading.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { Lot, SubscriptionClaim } from "../../templates/Market.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import { dealingCycles } from "./DealingCycle.ts"
import * as Cycle from "./DealingCycleMachine.ts"
import { dealingDays } from "./DealingDay.ts"
import * as Day from "./DealingDay.ts"

/**
 * These readings hear of a node after those of the orders themselves, and look at what became of the
 * order: a ledger fact that moved no order moves no sum.
 */
const claim = TypedReading.of(SubscriptionClaim, {
  created: Effect.fn("SubscriptionClaim.counted")(function* ({ subscriptionId }, node) {
    const self = yield* subscription(subscriptionId)
    if (self?.version !== 1 || self.claimCid !== node.contractId) return
    yield* came(orderOf(self), node)
  }),
  exercised: {
    Withdraw: ({ payload }, node) => gone(payload.subscriptionId, node)
  }
})

const lot = TypedReading.of(Lot, {
  created: Effect.fn("Lot.counted")(function* ({ subscriptionId }, node) {
    const self = yield* subscription(subscriptionId)
    if (self === null || self.lot?.cid !== node.contractId || self.pointCid === null) return
    const priced = orderOf(self)
    yield* dealt(priced, self.pointCid, node)
    yield* countInCycle(priced, node, {
      members: 0,
      gross: Cycle.added(priced.gross, Cycle.negated(claimedGross(self)))
    })
  }),
  exercised: {
    Settle: Effect.fn("Lot.Settle.counted")(function* ({ payload }, node) {
      const self = yield* subscription(payload.subscriptionId)
      if (self === null || self.lot?.cid !== node.contractId) return
      yield* leftCycle(orderOf(self), node)
    }),
    Release: ({ payload }, node) => gone(payload.subscriptionId, node)
  }
})

export const readings = [claim, lot] as const

/** An order as its sums see it. */
interface Order {
  readonly kind: "subscriptions" | "redemptions"
  readonly orderId: string
  readonly instrumentId: Subscription["instrumentId"]
  readonly cutOffAt: Subscription["cutOffAt"]
  readonly cycleId: string | null
  readonly ordered: Day.Ordered
  readonly gross: Cycle.Gross
}

const subscription = (subscriptionId: string) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(records.find(subscriptions, subscriptionId), Option.getOrNull)
  )

const orderOf = (self: Stored<Subscription>): Order => ({
  kind: "subscriptions",
  orderId: self.subscriptionId,
  instrumentId: self.instrumentId,
  cutOffAt: self.cutOffAt,
  cycleId: self.cycleId,
  ordered:
    self.amount === null
      ? { ...Day.nothing, subscribedUnits: self.units ?? Day.nothing.subscribedUnits }
      : { ...Day.nothing, subscribedCash: self.amount },
  gross:
    self.lot === null
      ? claimedGross(self)
      : {
          ...Cycle.nothing,
          subscribed: self.cash.expected ?? Cycle.nothing.subscribed,
          minted: self.lot.units
        }
})

/** What an unpriced order is known to come to. */
const claimedGross = ({ amount }: Pick<Subscription, "amount">): Cycle.Gross => ({
  ...Cycle.nothing,
  subscribed: amount ?? Cycle.nothing.subscribed
})

// ---- coming and going

const came = Effect.fnUntraced(function* (order: Order, node: Node) {
  yield* countInDay(order, node, { orders: 1, ordered: order.ordered })
  yield* countInCycle(order, node, { members: 1, gross: order.gross })
})

/** Withdrawn or released, by itself or with its cycle. */
const gone = Effect.fnUntraced(function* (subscriptionId: string, node: Node) {
  const self = yield* subscription(subscriptionId)
  if (self === null || self.endedAs === "closed" || self.endedAt !== node.effectiveAt) return
  const order = orderOf(self)
  yield* countInDay(order, node, { orders: -1, ordered: Day.negated(order.ordered) })
  yield* leftCycle(order, node)
})

const countInDay = Effect.fnUntraced(function* (
  { kind, orderId, instrumentId, cutOffAt }: Order,
  node: Node,
  change: { readonly orders: 1 | -1; readonly ordered: Day.Ordered }
) {
  const records = yield* Records
  const known = yield* records.find(dealingDays, Day.idOf({ instrumentId, cutOffAt }))
  const day = Option.isSome(known)
    ? known.value
    : yield* Once.open(
        dealingDays,
        {
          instrumentId,
          cutOffAt,
          orders: { subscriptions: 0, redemptions: 0 },
          ordered: Day.nothing,
          dealt: null
        },
        node
      )
  yield* records.record(
    dealingDays,
    day,
    {
      on: "count",
      orderId,
      orders: { subscriptions: 0, redemptions: 0, [kind]: change.orders },
      ordered: change.ordered
    },
    node.act
  )
})

/** The first price of a day fixes which orders its swing is judged by. */
const dealt = Effect.fnUntraced(function* (order: Order, pointCid: string, node: Node) {
  const records = yield* Records
  const day = yield* records.find(dealingDays, Day.idOf(order))
  if (Option.isNone(day) || day.value.dealt !== null) return
  yield* records.record(
    dealingDays,
    day.value,
    { on: "deal", pointCid, at: node.effectiveAt },
    node.act
  )
})

// ---- in a cycle

const countInCycle = Effect.fnUntraced(function* (
  { kind, orderId, cycleId }: Order,
  node: Node,
  change: { readonly members: 1 | 0 | -1; readonly gross: Cycle.Gross }
) {
  if (cycleId === null) return
  const records = yield* Records
  const cycle = yield* records.find(dealingCycles, cycleId)
  if (Option.isNone(cycle) || cycle.value.state !== "open") return
  yield* records.record(
    dealingCycles,
    cycle.value,
    {
      on: "count",
      orderId,
      members: { subscriptions: 0, redemptions: 0, [kind]: change.members },
      gross: change.gross
    },
    node.act
  )
})

/** What leaves with its cycle, settled or released, stays in the cycle's sums. */
const leftCycle = Effect.fnUntraced(function* (order: Order, node: Node) {
  if (order.cycleId === null) return
  const records = yield* Records
  const cycle = Option.getOrNull(yield* records.find(dealingCycles, order.cycleId))
  if (cycle === null || cycle.cycleCid === null) return
  const contract = Option.getOrNull(yield* records.find(contracts, cycle.cycleCid))
  if (contract?.archivedOffset !== null) return
  yield* countInCycle(order, node, { members: -1, gross: Cycle.negated(order.gross) })
})
