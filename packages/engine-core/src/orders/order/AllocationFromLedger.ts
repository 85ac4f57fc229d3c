/**
 * Facts from the ledger about the legs of ledger-paid orders: cash requested, cash or units
 * allocated, allocations ended. A subscription has one leg, the holder's cash; a redemption has two,
 * the holder's units and the fund's cash.
 */
import { Effect, Option } from "effect"
import * as SettlementEventSteps from "../proposal/SettlementEventSteps.ts"
import type { Node } from "../../projection/FromLedger.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import type * as Instant from "../../kernel/Instant.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { Allocation } from "../../templates/Registry.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import type { Payload } from "../../templates/Template.ts"
import { asServed } from "./AllocationRules.ts"
import { type Redemption, redemptions } from "../redemption/Redemption.ts"
import { holderOrders, type OrderKind, nameOf } from "./HolderOrder.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"

type Intent = Payload<typeof SettlementIntent>
type AllocationPayload = Payload<typeof Allocation>
type Order = Subscription | Redemption
type Leg = "cash" | "units"

const intent = TypedFromLedger.of(SettlementIntent, {
  created: Effect.fn("SettlementIntent.created")(function* (payload, node) {
    // The room of reserves reads the request for a mint's deposit.
    if (payload.reference.kind === "mint") return
    const records = yield* Records
    const order = yield* requestedFor(payload)
    const event = SettlementEventSteps.proposed(node, {
      reference: payload.reference.id,
      instrumentId: order?.instrumentId ?? null,
      party: order?.party ?? null,
      holderIds: order === null ? [] : [order.holderId]
    })
    yield* records.announce([event])
    if (order !== null && isOpen(order)) {
      const { settleBefore } = payload
      yield* requested(order, { intentCid: node.contractId, settleBefore }, node)
    }
  }),
  exercised: {
    Complete: ({ payload }, node) => requestEnded(payload, node),
    AllocationRequest_Withdraw: ({ payload }, node) => requestEnded(payload, node),
    AllocationRequest_Reject: ({ payload }, node) => requestEnded(payload, node)
  }
})

const allocation = TypedFromLedger.of(Allocation, {
  created: Effect.fn("Allocation.created")(function* (payload, node) {
    for (const order of yield* referredTo(payload, node)) {
      const leg = legOf(order, payload)
      // An allocation past its deadline does not count: another may replace it before it is withdrawn.
      const misfit = misfitOf(asServed(order, node.effectiveAt), payload, leg)
      yield* misfit === null
        ? allocated(order, leg, allocationOf(payload, node), node)
        : unexpected(order, leg, misfit, node)
    }
  }),
  exercised: {
    Allocation_ExecuteTransfer: ({ payload }, node) => unallocated(payload, node),
    Allocation_Cancel: ({ payload }, node) => unallocated(payload, node),
    Allocation_Withdraw: ({ payload }, node) => unallocated(payload, node)
  }
})

export const fromLedger = [intent, allocation] as const

const isSubscription = <O extends Order>(
  order: O
): order is Extract<O, { subscriptionId: unknown }> => "subscriptionId" in order

/** Checks whether the order still accepts allocations. */
const isOpen = (order: Order): boolean =>
  "subscriptionId" in order
    ? order.state === "claimed" || order.state === "priced"
    : order.endedAt === null

const find = Effect.fnUntraced(function* (kind: OrderKind, id: string) {
  const records = yield* Records
  const found: Option.Option<Stored<Order>> =
    kind === "subscription"
      ? yield* records.find(subscriptions, id)
      : yield* records.find(redemptions, id)
  return Option.getOrNull(found)
})

// ---- requests for cash

/** Finds the order that a cash request refers to; null: the request settles something else. */
const requestedFor = ({ reference: { kind, id } }: Intent) =>
  kind === "subscription" || kind === "redemption" ? find(kind, id) : Effect.succeed(null)

const requestEnded = Effect.fnUntraced(function* (payload: Intent, node: Node) {
  const order = yield* requestedFor(payload)
  if (order?.intentCid === node.contractId) {
    yield* requested(order, { intentCid: null, settleBefore: null }, node)
  }
})

const requested = Effect.fnUntraced(function* (
  order: Stored<Order>,
  request: {
    readonly intentCid: string | null
    readonly settleBefore: Instant.Instant | null
  },
  node: Node
) {
  const records = yield* Records
  const fact = { on: "request-cash" as const, ...request }
  if (isSubscription(order)) yield* records.append(subscriptions, order, fact, node.act)
  else yield* records.append(redemptions, order, fact, node.act)
})

// ---- allocations

/**
 * Finds the orders that an allocation refers to, if the venue executes it: by the venue's order id, if
 * the sender is a party of that order, or by the holder's own order id.
 */
const referredTo = Effect.fnUntraced(function* (payload: AllocationPayload, node: Node) {
  if (payload.executor !== node.venue) return []
  const subscription = yield* orderOf("subscription", payload)
  const redemption = yield* orderOf("redemption", payload)
  return [subscription, redemption].filter((order) => order !== null)
})

const orderOf = Effect.fnUntraced(function* (
  kind: OrderKind,
  { reference, sender: party }: AllocationPayload
) {
  const records = yield* Records
  const order = yield* find(kind, reference)
  if (order !== null && mayAllocate(order, party)) return order
  const signed = yield* records.find(holderOrders, nameOf({ kind, party, orderId: reference }))
  if (Option.isNone(signed) || signed.value.claimedAs === null) return null
  return yield* find(kind, signed.value.claimedAs)
})

/** Checks whether a party may allocate: the holder any leg, the fund a redemption's cash. */
export const mayAllocate = (order: Order, sender: string): boolean =>
  order.party === sender || (!isSubscription(order) && order.fund === sender)

/**
 * Leg of an allocation: a holder that is also the fund allocates both legs, which differ by their
 * asset.
 */
export const legOf = (order: Order, { sender, instrument }: AllocationPayload): Leg =>
  !isSubscription(order) && sender === order.party && instrument.id === order.instrumentId
    ? "units"
    : "cash"

/** Reason why an allocation does not fit this leg of the order; null: it fits. */
export const misfitOf = (order: Order, payload: AllocationPayload, leg: Leg): string | null => {
  if (order.payment !== "ledger") return "The order is paid by wire."
  if (!isOpen(order)) return `The order is ${order.state}.`
  return leg === "units" && !isSubscription(order)
    ? misfitOfUnits(order, payload)
    : misfitOfCash(order, payload)
}

const misfitOfUnits = (order: Redemption, payload: AllocationPayload): string | null => {
  if (order.state === "burned") return "The order's units are burned."
  if (order.unitsAllocation !== null) return "The order's units are allocated already."
  if (payload.receiver !== order.fund) return "It does not go to the fund."
  if (payload.instrument.admin !== order.registrar) return "It is of another asset."
  // An order by amount has no units before it is priced.
  return order.units === null || payload.amount === order.units
    ? null
    : "It is of another number of units."
}

const misfitOfCash = (order: Order, payload: AllocationPayload): string | null => {
  const { allocation, cash, fund, party, paymentAsset } = order
  if (allocation !== null) return "The order's cash is allocated already."
  if (isSubscription(order)) {
    if (payload.receiver !== fund) return "It does not go to the fund."
  } else {
    if (payload.sender !== fund) return "It is not the fund's."
    if (payload.receiver !== party) return "It does not go to the holder."
  }
  if (
    paymentAsset === null ||
    paymentAsset.admin !== payload.instrument.admin ||
    paymentAsset.id !== payload.instrument.id
  ) {
    return "It is of another asset."
  }
  return payload.amount === cash.expected ? null : "It is of another amount."
}

const unallocated = Effect.fnUntraced(function* (payload: AllocationPayload, node: Node) {
  for (const order of yield* referredTo(payload, node)) {
    if (order.allocation?.cid === node.contractId) yield* allocated(order, "cash", null, node)
    else if (!isSubscription(order) && order.unitsAllocation?.cid === node.contractId) {
      yield* allocated(order, "units", null, node)
    }
  }
})

export const allocationOf = (
  { amount, settleBefore }: AllocationPayload,
  node: Pick<Node, "contractId">
) => ({
  cid: node.contractId,
  amount,
  settleBefore
})

/** Records the allocation of a leg; null: the allocation was withdrawn, cancelled or executed. */
const allocated = Effect.fnUntraced(function* (
  order: Stored<Order>,
  leg: Leg,
  allocation: ReturnType<typeof allocationOf> | null,
  node: Node
) {
  const records = yield* Records
  if (isSubscription(order)) {
    yield* records.append(subscriptions, order, { on: "allocate", allocation }, node.act)
  } else {
    yield* records.append(redemptions, order, { on: `allocate-${leg}`, allocation }, node.act)
  }
})

const unexpected = (order: Stored<Order>, leg: Leg, detail: string, node: Node) =>
  isSubscription(order)
    ? Unexpected.keep(node, {
        resourceKind: Unexpected.idleKindOf("subscription"),
        resourceId: order.subscriptionId,
        on: "allocate",
        detail
      })
    : Unexpected.keep(node, {
        resourceKind: Unexpected.idleKindOf("redemption"),
        resourceId: order.redemptionId,
        on: `allocate-${leg}`,
        detail
      })
