/** Readings that update the sums of a dealing day and its cycle as orders join, are priced or leave. */
import { Effect, Option } from "effect"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import type { Collection } from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { contracts } from "../../projection/Contract.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node } from "../../projection/FromLedger.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { Lot, SubscriptionClaim } from "../../templates/Market.ts"
import { PricedRedemption, RedemptionClaim } from "../../templates/Redemption.ts"
import { BurnRequest } from "../../templates/Registry.ts"
import { type Redemption, redemptions } from "../redemption/Redemption.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import * as Cycle from "./DealingCycle.ts"
import { dealingCycles } from "./DealingCycle.ts"
import { grossOfRedemption, grossOfSubscription } from "./DealingCycleOrders.ts"
import * as Day from "./DealingDay.ts"
import { dealingDays } from "./DealingDay.ts"

/**
 * These readings run after those of the orders on the same node, and count by the order's record: a
 * ledger fact that changed no order changes no sum.
 */
const subscriptionClaim = TypedFromLedger.of(SubscriptionClaim, {
  created: ({ subscriptionId }, node) =>
    counted(subscriptions, subscriptionId, (self) =>
      // An attestation creates another claim contract; only the first one opened the order.
      self.version === 1 && self.claimCid === node.contractId
        ? claimed(bought(self), node)
        : nothing
    ),
  exercised: {
    Withdraw: ({ payload }, node) =>
      counted(subscriptions, payload.subscriptionId, (self) =>
        endedUnsettled(self, bought(self), node)
      )
  }
})

const lot = TypedFromLedger.of(Lot, {
  created: ({ subscriptionId }, node) =>
    counted(subscriptions, subscriptionId, (self) =>
      self.lot?.cid === node.contractId
        ? priced(self, { after: bought(self), before: bought({ ...self, lot: null }) }, node)
        : nothing
    ),
  exercised: {
    Settle: ({ payload }, node) =>
      counted(subscriptions, payload.subscriptionId, (self) =>
        // Subtracts the refund that was added, not the one that the settlement has paid.
        self.lot?.cid === node.contractId
          ? leftCycle(bought({ ...self, refunded: self.refund }), node)
          : nothing
      ),
    Release: ({ payload }, node) =>
      counted(subscriptions, payload.subscriptionId, (self) =>
        endedUnsettled(self, bought(self), node)
      )
  }
})

const redemptionClaim = TypedFromLedger.of(RedemptionClaim, {
  created: ({ redemptionId }, node) =>
    counted(redemptions, redemptionId, (self) =>
      self.claimCid === node.contractId
        ? self.version === 1
          ? claimed(sold(self), node)
          : joined(sold(self), node)
        : nothing
    ),
  exercised: {
    Withdraw: ({ payload }, node) =>
      counted(redemptions, payload.redemptionId, (self) => endedUnsettled(self, sold(self), node))
  }
})

const pricedRedemption = TypedFromLedger.of(PricedRedemption, {
  created: ({ redemptionId }, node) =>
    counted(redemptions, redemptionId, (self) =>
      self.pricedCid === node.contractId
        ? priced(self, { after: sold(self), before: sold(unpriced(self)) }, node)
        : nothing
    ),
  exercised: {
    Settle: ({ payload }, node) =>
      counted(redemptions, payload.redemptionId, (self) =>
        // A redemption that was burned before has left its cycle already.
        self.settledAt === node.effectiveAt && self.burnedAt === self.settledAt
          ? leftCycle(sold(self), node)
          : nothing
      ),
    Release: ({ payload }, node) =>
      counted(redemptions, payload.redemptionId, (self) => endedUnsettled(self, sold(self), node))
  }
})

const burnRequest = TypedFromLedger.of(BurnRequest, {
  exercised: {
    Accept: ({ payload: { reference } }, node) =>
      reference.kind === "redemption"
        ? counted(redemptions, reference.id, (self) =>
            self.state === "burned" && self.burnedAt === node.effectiveAt
              ? leftCycle(sold(self), node)
              : nothing
          )
        : nothing
  }
})

export const fromLedger = [
  subscriptionClaim,
  lot,
  redemptionClaim,
  pricedRedemption,
  burnRequest
] as const

const nothing: LedgerRecord.LedgerEffect = Effect.void

/** Reads the order as the earlier readings of this node left it. */
const counted = <R, F>(
  collection: Collection<R, F>,
  id: string,
  read: (self: Stored<R>) => LedgerRecord.LedgerEffect
): LedgerRecord.LedgerEffect =>
  Effect.flatMap(Records, (records) =>
    Effect.flatMap(
      records.find(collection, id),
      Option.match({ onNone: () => nothing, onSome: read })
    )
  )

/** Members of an order that the sums of its day and its cycle count. */
interface Order {
  readonly kind: keyof Cycle.Counts
  readonly orderId: string
  readonly instrumentId: Subscription["instrumentId"]
  readonly registrar: string
  readonly cutOffAt: Subscription["cutOffAt"]
  readonly cycleId: string | null
  readonly ordered: Day.OrderedSums
  readonly gross: Cycle.Gross
}

const bought = (self: Subscription): Order => ({
  ...self,
  kind: "subscriptions",
  orderId: self.subscriptionId,
  ordered:
    self.amount === null
      ? { ...Day.nothing, subscribedUnits: self.units ?? Decimal.zero }
      : { ...Day.nothing, subscribedCash: self.amount },
  gross: grossOfSubscription(self)
})

const sold = (self: Redemption): Order => ({
  ...self,
  kind: "redemptions",
  orderId: self.redemptionId,
  ordered:
    self.amount === null
      ? { ...Day.nothing, redeemedUnits: self.units ?? Decimal.zero }
      : { ...Day.nothing, redeemedCash: self.amount },
  gross: grossOfRedemption(self)
})

/** Returns the order without its price: an order by amount then has no units. */
const unpriced = (self: Redemption): Redemption => ({
  ...self,
  proceeds: null,
  units: self.amount === null ? self.units : null
})

// ---- claimed, priced, ended

const claimed = Effect.fnUntraced(function* (order: Order, node: Node) {
  yield* countInDay(order, node, { orders: 1, ordered: order.ordered })
  yield* countInCycle(order, node, { members: 1, gross: order.gross })
})

/** Counts an order in a cycle that was opened after its claim; its day counts it since the claim. */
const joined = (order: Order, node: Node) =>
  countInCycle(order, node, { members: 1, gross: order.gross })

const priced = Effect.fnUntraced(function* (
  { pointCid }: { readonly pointCid: string | null },
  { before, after }: { readonly before: Order; readonly after: Order },
  node: Node
) {
  if (pointCid !== null) yield* dealt(after, pointCid, node)
  const gross = Cycle.added(after.gross, Cycle.negated(before.gross))
  yield* countInCycle(after, node, { members: 0, gross })
})

/** Subtracts an order that was withdrawn or released, by itself or with its cycle. */
const endedUnsettled = Effect.fnUntraced(function* (
  self: Pick<Subscription | Redemption, "endedAs" | "endedAt">,
  order: Order,
  node: Node
) {
  const isUnsettled = self.endedAs === "withdrawn" || self.endedAs === "released"
  if (!isUnsettled || self.endedAt !== node.effectiveAt) return
  yield* countInDay(order, node, { orders: -1, ordered: Day.negated(order.ordered) })
  yield* leftCycle(order, node)
})

// ---- shown by a snapshot

/**
 * Counts the orders that a snapshot shows: in their day, and in their open cycle. A day with a
 * priced order is fixed by its remaining orders, since orders that ended before the snapshot are
 * unknown.
 */
export const countShown = Effect.fnUntraced(function* (
  shownDay: {
    readonly subscriptions: ReadonlyArray<Subscription>
    readonly redemptions: ReadonlyArray<Redemption>
  },
  node: Pick<Node, "act">
) {
  const orders = [...shownDay.subscriptions.map(bought), ...shownDay.redemptions.map(sold)]
  for (const group of Map.groupBy(orders, (order) => `${order.kind} ${Day.idOf(order)}`).values()) {
    const ordered = group.map((order) => order.ordered).reduce(Day.added, Day.nothing)
    yield* countInDay(group[0]!, node, { orders: group.length, ordered })
  }
  const inCycles = orders.filter(({ cycleId }) => cycleId !== null)
  for (const group of Map.groupBy(inCycles, (order) => `${order.kind} ${order.cycleId}`).values()) {
    const gross = group.map((order) => order.gross).reduce(Cycle.added, Cycle.nothing)
    yield* countInCycle(group[0]!, node, { members: group.length, gross })
  }
})

/** Fixes the days of these orders at the first that was priced. */
export const dealShown = Effect.fnUntraced(function* (
  orders: ReadonlyArray<
    Pick<
      Subscription | Redemption,
      "instrumentId" | "registrar" | "cutOffAt" | "pointCid" | "pricedAt"
    >
  >,
  node: Pick<Node, "act">
) {
  for (const { pointCid, pricedAt, ...order } of orders) {
    if (pointCid === null || pricedAt === null) continue
    yield* dealt(order, pointCid, { ...node, effectiveAt: pricedAt })
  }
})

// ---- in a day

const countInDay = Effect.fnUntraced(function* (
  { kind, orderId, instrumentId, cutOffAt }: Order,
  node: Pick<Node, "act">,
  change: { readonly orders: number; readonly ordered: Day.OrderedSums }
) {
  const records = yield* Records
  const found = yield* records.find(dealingDays, Day.idOf({ instrumentId, cutOffAt }))
  const day = Option.isSome(found)
    ? found.value
    : yield* LedgerRecord.open(
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
  yield* records.append(
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

/** Fixes the inputs of the day's swing at its first price: the sums ordered, and the units outstanding. */
const dealt = Effect.fnUntraced(function* (
  order: Pick<Order, "instrumentId" | "registrar" | "cutOffAt">,
  pointCid: string,
  node: Pick<Node, "act" | "effectiveAt">
) {
  const records = yield* Records
  const day = yield* records.find(dealingDays, Day.idOf(order))
  if (Option.isNone(day) || day.value.dealt !== null) return
  const supply = yield* records.find(supplies, assetKeyOf(order))
  yield* records.append(
    dealingDays,
    day.value,
    {
      on: "deal",
      pointCid,
      at: node.effectiveAt,
      outstanding: Option.isSome(supply) ? supply.value.units : Decimal.zero
    },
    node.act
  )
})

// ---- counts of orders in a cycle

const countInCycle = Effect.fnUntraced(function* (
  { kind, orderId, cycleId }: Order,
  node: Pick<Node, "act">,
  change: { readonly members: number; readonly gross: Cycle.Gross }
) {
  if (cycleId === null) return
  const records = yield* Records
  const cycle = yield* records.find(dealingCycles, cycleId)
  if (Option.isNone(cycle) || cycle.value.state !== "open") return
  yield* records.append(
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

/** Subtracts an order from its open cycle; an order that ends with its cycle stays in the cycle's sums. */
const leftCycle = Effect.fnUntraced(function* (order: Order, node: Node) {
  if (order.cycleId === null) return
  const records = yield* Records
  const cycle = Option.getOrNull(yield* records.find(dealingCycles, order.cycleId))
  if (cycle === null || cycle.cycleCid === null) return
  const contract = Option.getOrNull(yield* records.find(contracts, cycle.cycleCid))
  if (contract?.archivedOffset !== null) return
  yield* countInCycle(order, node, { members: -1, gross: Cycle.negated(order.gross) })
})
