/**
 * Readings of the ledger about a ledger-paid redemption's legs: units and cash allocated, asked
 * for, taken back.
 */
import { Effect, Option } from "effect"
import type { Node } from "../../projection/Reading.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { Allocation } from "../../templates/Registry.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import type { Payload } from "../../templates/Template.ts"
import { asServed } from "../AllocationRules.ts"
import { holderOrders, nameOf } from "../subscription/HolderOrder.ts"
import { type Redemption, redemptions } from "./Redemption.ts"
import type { Fact } from "./RedemptionMachine.ts"

type Allocated = Payload<typeof Allocation>

const intent = TypedReading.of(SettlementIntent, {
  created: Effect.fn("SettlementIntent.redemption")(function* (payload, node) {
    const order = yield* orderOf(payload)
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
  created: Effect.fn("Allocation.redemption")(function* (payload, node) {
    if (payload.executor !== node.venue) return
    const order = yield* referredTo(payload)
    // What the venue executes for something else is not a redemption's.
    if (order === null) return
    const leg = legOf(order, payload)
    // One that serves no more is followed by another, whether or not it has been taken back yet.
    const misfit = misfitOf(asServed(order, node.effectiveAt), payload, leg)
    if (misfit !== null) {
      return yield* Unexpected.keep(node, {
        resourceKind: "redemption",
        resourceId: order.redemptionId,
        on: `allocate-${leg}`,
        detail: misfit
      })
    }
    const { amount, settleBefore } = payload
    const allocation = { cid: node.contractId, amount, settleBefore }
    yield* noted(order, node, { on: `allocate-${leg}`, allocation })
  }),
  exercised: {
    Allocation_ExecuteTransfer: ({ payload }, node) => unallocated(payload, node),
    Allocation_Cancel: ({ payload }, node) => unallocated(payload, node),
    Allocation_Withdraw: ({ payload }, node) => unallocated(payload, node)
  }
})

export const readings = [intent, allocation] as const

/** Only an order that has not been settled or let go takes anything. */
const isOpen = ({ endedAt }: Redemption): boolean => endedAt === null

const orderOf = Effect.fnUntraced(function* ({ reference }: Payload<typeof SettlementIntent>) {
  if (reference.kind !== "redemption") return null
  const records = yield* Records
  return Option.getOrNull(yield* records.find(redemptions, reference.id))
})

const unasked = Effect.fnUntraced(function* (
  payload: Payload<typeof SettlementIntent>,
  node: Node
) {
  const order = yield* orderOf(payload)
  if (order === null || order.intentCid !== node.contractId) return
  yield* noted(order, node, { on: "request-cash", intentCid: null })
})

/** The venue's id of an order, or its holder's own where the holder allocates. */
const referredTo = Effect.fnUntraced(function* ({ reference, sender: party }: Allocated) {
  const records = yield* Records
  const named = Option.getOrNull(yield* records.find(redemptions, reference))
  if (named !== null && (named.party === party || named.fund === party)) return named
  const own = yield* records.find(
    holderOrders,
    nameOf({ kind: "redemption", party, orderId: reference })
  )
  if (Option.isNone(own) || own.value.claimedAs === null) return null
  return Option.getOrNull(yield* records.find(redemptions, own.value.claimedAs))
})

/** The holder allocates units, the fund cash; one who is both is told by the asset. */
const legOf = (order: Redemption, { sender, instrument }: Allocated): "units" | "cash" =>
  sender === order.party && instrument.id === order.instrumentId ? "units" : "cash"

/** Why an allocation is not this leg of the order; null where it is. */
const misfitOf = (order: Redemption, payload: Allocated, leg: "units" | "cash"): string | null => {
  if (order.payment !== "ledger") return "The order is paid by wire."
  if (!isOpen(order)) return `The order is ${order.state}.`
  return leg === "units" ? ofUnits(order, payload) : ofCash(order, payload)
}

const ofUnits = (order: Redemption, payload: Allocated): string | null => {
  if (order.state === "burned") return "The order's units are burned."
  if (order.unitsAllocation !== null) return "The order's units are allocated already."
  if (payload.receiver !== order.fund) return "It does not go to the fund."
  if (payload.instrument.admin !== order.registrar) return "It is of another asset."
  // An order by amount takes what its price says, which an unpriced one does not know yet.
  return order.units === null || payload.amount === order.units
    ? null
    : "It is of another number of units."
}

const ofCash = (order: Redemption, payload: Allocated): string | null => {
  const { paymentAsset } = order
  if (order.allocation !== null) return "The order's cash is allocated already."
  if (payload.sender !== order.fund) return "It is not the fund's."
  if (payload.receiver !== order.party) return "It does not go to the holder."
  if (
    paymentAsset === null ||
    paymentAsset.admin !== payload.instrument.admin ||
    paymentAsset.id !== payload.instrument.id
  ) {
    return "It is of another asset."
  }
  return payload.amount === (order.proceeds ?? order.amount) ? null : "It is of another amount."
}

const unallocated = Effect.fnUntraced(function* (payload: Allocated, node: Node) {
  if (payload.executor !== node.venue) return
  const order = yield* referredTo(payload)
  if (order === null) return
  if (order.allocation?.cid === node.contractId) {
    yield* noted(order, node, { on: "allocate-cash", allocation: null })
  } else if (order.unitsAllocation?.cid === node.contractId) {
    yield* noted(order, node, { on: "allocate-units", allocation: null })
  }
})

const noted = (order: Stored<Redemption>, node: Node, fact: Fact) =>
  Effect.flatMap(Records, (records) =>
    Effect.asVoid(records.record(redemptions, order, fact, node.act))
  )
