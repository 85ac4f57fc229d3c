/** Readings of the ledger about a ledger-paid order's cash: asked for, allocated, taken back. */
import { Effect, Option } from "effect"
import * as events from "../../feeds/events.ts"
import type { Node } from "../../projection/Reading.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { Allocation } from "../../templates/Registry.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import type { Payload } from "../../templates/Template.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { asServed } from "../AllocationRules.ts"
import { holderOrders, nameOf } from "./HolderOrder.ts"
import { type Subscription, subscriptions } from "./Subscription.ts"
import type { Fact } from "./SubscriptionMachine.ts"

type Allocated = Payload<typeof Allocation>

const intent = TypedReading.of(SettlementIntent, {
  created: Effect.fn("SettlementIntent.created")(function* (payload, node) {
    const records = yield* Records
    const order = yield* orderOf(payload)
    yield* records.announce([proposed(payload, order ?? (yield* redemptionOf(payload)), node)])
    if (order !== null && isOpen(order)) {
      yield* noted(order, node, { on: "request-cash", intentCid: node.contractId })
    }
  }),
  exercised: {
    Complete: ({ payload }, node) => unasked(payload, node),
    AllocationRequest_Withdraw: ({ payload }, node) => unasked(payload, node),
    AllocationRequest_Reject: ({ payload }, node) => unasked(payload, node)
  }
})

const allocation = TypedReading.of(Allocation, {
  created: Effect.fn("Allocation.created")(function* (payload, node) {
    if (payload.executor !== node.venue) return
    const order = yield* referredTo(payload)
    // Cash for something else that the venue executes is not an order's.
    if (order === null) return
    // One that serves no more is followed by another, whether or not it has been taken back yet.
    const misfit = misfitOf(asServed(order, node.effectiveAt), payload)
    if (misfit !== null) {
      return yield* Unexpected.keep(node, {
        resourceKind: "subscription",
        resourceId: order.subscriptionId,
        on: "allocate",
        detail: misfit
      })
    }
    const { amount, settleBefore } = payload
    const allocation = { cid: node.contractId, amount, settleBefore }
    yield* noted(order, node, { on: "allocate", allocation })
  }),
  exercised: {
    Allocation_ExecuteTransfer: ({ payload }, node) => unallocated(payload, node),
    Allocation_Cancel: ({ payload }, node) => unallocated(payload, node),
    Allocation_Withdraw: ({ payload }, node) => unallocated(payload, node)
  }
})

export const readings = [intent, allocation] as const

/** Only an order that still waits for its cash takes any. */
const isOpen = ({ state }: Subscription): boolean => state === "claimed" || state === "priced"

const orderOf = Effect.fnUntraced(function* ({ reference }: Payload<typeof SettlementIntent>) {
  if (reference.kind !== "subscription") return null
  const records = yield* Records
  return Option.getOrNull(yield* records.find(subscriptions, reference.id))
})

/** The redemption that asks for the fund's cash: its own readings move it, and it is told of here. */
const redemptionOf = Effect.fnUntraced(function* ({ reference }: Payload<typeof SettlementIntent>) {
  if (reference.kind !== "redemption") return null
  const records = yield* Records
  return Option.getOrNull(yield* records.find(redemptions, reference.id))
})

const proposed = (
  { reference }: Payload<typeof SettlementIntent>,
  order: Pick<Subscription, "instrumentId" | "party" | "holderId"> | null,
  node: Node
) => ({
  ...events.make("settlement.proposed", { contractId: node.contractId, reference: reference.id }),
  resourceKind: "contract" as const,
  resourceId: node.contractId,
  instrumentId: order?.instrumentId ?? null,
  party: order?.party ?? null,
  holderIds: order === null ? [] : [order.holderId],
  journal: {
    at: node.effectiveAt,
    offset: node.offset,
    source: `${node.offset}:${node.nodeId}:settlement.proposed`
  }
})

const unasked = Effect.fnUntraced(function* (
  payload: Payload<typeof SettlementIntent>,
  node: Node
) {
  const order = yield* orderOf(payload)
  if (order === null || order.intentCid !== node.contractId) return
  yield* noted(order, node, { on: "request-cash", intentCid: null })
})

/** A holder refers to an order by the venue's id or by its own. */
const referredTo = Effect.fnUntraced(function* ({ reference, sender: party }: Allocated) {
  const records = yield* Records
  const named = Option.getOrNull(yield* records.find(subscriptions, reference))
  if (named !== null && named.party === party) return named
  const own = yield* records.find(
    holderOrders,
    nameOf({ kind: "subscription", party, orderId: reference })
  )
  if (Option.isNone(own) || own.value.claimedAs === null) return null
  return Option.getOrNull(yield* records.find(subscriptions, own.value.claimedAs))
})

/** Why an allocation is not this order's cash; null where it is. */
const misfitOf = (order: Subscription, payload: Allocated): string | null => {
  const { paymentAsset } = order
  if (order.payment !== "ledger") return "The order is paid by wire."
  if (!isOpen(order)) return `The order is ${order.state}.`
  if (order.allocation !== null) return "The order's cash is allocated already."
  if (payload.receiver !== order.fund) return "It does not go to the fund."
  if (
    paymentAsset === null ||
    paymentAsset.admin !== payload.instrument.admin ||
    paymentAsset.id !== payload.instrument.id
  ) {
    return "It is of another asset."
  }
  return payload.amount === order.cash.expected ? null : "It is of another amount."
}

const unallocated = Effect.fnUntraced(function* (payload: Allocated, node: Node) {
  if (payload.executor !== node.venue) return
  const order = yield* referredTo(payload)
  if (order === null || order.allocation?.cid !== node.contractId) return
  yield* noted(order, node, { on: "allocate", allocation: null })
})

const noted = (order: Stored<Subscription>, node: Node, fact: Fact) =>
  Effect.flatMap(Records, (records) =>
    Effect.asVoid(records.record(subscriptions, order, fact, node.act))
  )
