/** Readings of the ledger about the orders that holders sign: signed, claimed, withdrawn. */
import { Effect, Option } from "effect"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node } from "../../projection/Reading.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records } from "../../records/Records.ts"
import { SubscriptionOrder } from "../../templates/Market.ts"
import { RedemptionOrder } from "../../templates/Redemption.ts"
import type { Payload } from "../../templates/Template.ts"
import { type Fact, holderOrders, type Kind, nameOf } from "./HolderOrder.ts"

/** What both kinds of order say. */
type Order = Payload<typeof SubscriptionOrder>

const subscription = TypedReading.of(SubscriptionOrder, {
  created: (payload, node) => signed("subscription", payload, node),
  exercised: {
    Claim: ({ payload, argument: { subscriptionId: claimedAs } }, node) =>
      noted("subscription", payload, node, { on: "claim", claimedAs }),
    Withdraw: ({ payload }, node) => noted("subscription", payload, node, { on: "withdraw" })
  }
})

const redemption = TypedReading.of(RedemptionOrder, {
  created: (payload, node) => signed("redemption", payload, node),
  exercised: {
    Claim: ({ payload, argument: { redemptionId: claimedAs } }, node) =>
      noted("redemption", payload, node, { on: "claim", claimedAs }),
    Withdraw: ({ payload }, node) => noted("redemption", payload, node, { on: "withdraw" })
  }
})

export const readings = [subscription, redemption] as const

/** The holder chose the id; a longer one names nothing here. */
const orderIdMax = 128

const signed = Effect.fnUntraced(function* (kind: Kind, payload: Order, node: Node) {
  const { orderId, holder: party } = payload
  if (orderId.length > orderIdMax) return yield* surprise(payload, node, "Its id is too long.")
  const records = yield* Records
  const known = yield* records.find(holderOrders, nameOf({ kind, party, orderId }))
  const said = signedAs(payload, node)
  if (Option.isNone(known)) {
    const state = "signed" as const
    yield* LedgerRecord.open(
      holderOrders,
      { kind, orderId, party, state, claimedAs: null, ...said },
      node
    )
  } else if (known.value.state === "withdrawn") {
    yield* records.record(holderOrders, known.value, { on: "sign", ...said }, node.act)
  } else {
    yield* surprise(payload, node, "The holder has an order of this id.")
  }
})

const signedAs = (
  { instrument, fund, paymentAsset, amount, units, expiresAt }: Order,
  node: Node
) => ({ cid: node.contractId, instrument, fund, paymentAsset, amount, units, expiresAt })

/** A contract that was not taken in when it was signed has nothing to note. */
const noted = Effect.fnUntraced(function* (
  kind: Kind,
  { orderId, holder: party }: Order,
  node: Node,
  fact: Fact
) {
  const records = yield* Records
  const known = yield* records.find(holderOrders, nameOf({ kind, party, orderId }))
  if (Option.isNone(known) || known.value.cid !== node.contractId) return
  yield* records.record(holderOrders, known.value, fact, node.act)
})

const surprise = (payload: Order, node: Node, detail: string) =>
  Unexpected.keep(node, {
    resourceKind: "contract",
    resourceId: node.contractId,
    on: "sign",
    detail: `Order ${payload.orderId.slice(0, orderIdMax)}: ${detail}`
  })
