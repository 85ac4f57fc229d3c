/** Facts from the ledger about the orders that holders sign: signed, claimed, withdrawn. */
import { Effect, Option } from "effect"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node } from "../../projection/FromLedger.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records } from "../../records/Records.ts"
import { SubscriptionOrder } from "../../templates/Market.ts"
import { RedemptionOrder } from "../../templates/Redemption.ts"
import type { Payload } from "../../templates/Template.ts"
import { type Fact, holderOrders, type OrderKind, nameOf } from "./HolderOrder.ts"

/** Payload that the contracts of both kinds of order share. */
type Order = Payload<typeof SubscriptionOrder>

const subscription = TypedFromLedger.of(SubscriptionOrder, {
  created: (payload, node) => signed("subscription", payload, node),
  exercised: {
    Claim: ({ payload, argument: { subscriptionId: claimedAs } }, node) =>
      noted("subscription", payload, node, { on: "claim", claimedAs }),
    Withdraw: ({ payload }, node) => noted("subscription", payload, node, { on: "withdraw" })
  }
})

const redemption = TypedFromLedger.of(RedemptionOrder, {
  created: (payload, node) => signed("redemption", payload, node),
  exercised: {
    Claim: ({ payload, argument: { redemptionId: claimedAs } }, node) =>
      noted("redemption", payload, node, { on: "claim", claimedAs }),
    Withdraw: ({ payload }, node) => noted("redemption", payload, node, { on: "withdraw" })
  }
})

/** Readings of the ledger's order templates, which the projection calls. */
export const fromLedger = [subscription, redemption] as const

/** Largest length of an order id, which the holder chooses; a longer one is not recorded. */
const orderIdMax = 128

const signed = Effect.fnUntraced(function* (kind: OrderKind, payload: Order, node: Node) {
  const { orderId, holder: party } = payload
  if (orderId.length > orderIdMax) return yield* surprise(payload, node, "Its id is too long.")
  const records = yield* Records
  const existing = yield* records.find(holderOrders, nameOf({ kind, party, orderId }))
  const terms = termsOf(payload, node)
  if (Option.isNone(existing)) {
    const state = "signed" as const
    yield* LedgerRecord.open(
      holderOrders,
      { kind, orderId, party, state, claimedAs: null, ...terms },
      node
    )
  } else if (existing.value.state === "withdrawn") {
    yield* records.append(holderOrders, existing.value, { on: "sign", ...terms }, node.act)
  } else {
    yield* surprise(payload, node, "The holder has an order of this id.")
  }
})

const termsOf = (
  { instrument, fund, paymentAsset, amount, units, expiresAt }: Order,
  node: Node
) => ({ cid: node.contractId, instrument, fund, paymentAsset, amount, units, expiresAt })

/** Records a fact of a signed order; ignores a contract that was not recorded when it was signed. */
const noted = Effect.fnUntraced(function* (
  kind: OrderKind,
  { orderId, holder: party }: Order,
  node: Node,
  fact: Fact
) {
  const records = yield* Records
  const signedOrder = yield* records.find(holderOrders, nameOf({ kind, party, orderId }))
  if (Option.isNone(signedOrder) || signedOrder.value.cid !== node.contractId) return
  yield* records.append(holderOrders, signedOrder.value, fact, node.act)
})

const surprise = (payload: Order, node: Node, detail: string) =>
  Unexpected.keep(node, {
    resourceKind: "contract",
    resourceId: node.contractId,
    on: "sign",
    detail: `Order ${payload.orderId.slice(0, orderIdMax)}: ${detail}`
  })
