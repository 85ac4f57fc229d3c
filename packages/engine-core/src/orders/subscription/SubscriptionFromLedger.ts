/** Facts from the ledger about a subscription: claimed, attested, priced, delivered, ended. */
import { Effect, Option } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node } from "../../projection/FromLedger.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { DeliveredLot, Lot, OwedRefund, SubscriptionClaim } from "../../templates/Market.ts"
import { MintRequest } from "../../templates/Registry.ts"
import type { Payload } from "../../templates/Template.ts"
import { awaitingTerms } from "../../instruments/instrument/AwaitingTermsSteps.ts"
import { cutOffOf, openingOf } from "../order/OrderClaimLookups.ts"
import { beyondAnOrder, isPriceSized } from "../order/OrderSize.ts"
import { pricingOf } from "../order/OrderPricingLookups.ts"
import {
  announcementOf,
  type Subscription,
  subscriptions,
  type Fact,
  SubscriptionMachine,
  makeEvent
} from "./Subscription.ts"
import { claimedAs } from "./SubscriptionOpening.ts"
import * as Pricing from "./SubscriptionPricing.ts"

type Claim = Payload<typeof SubscriptionClaim>
type LotPayload = Payload<typeof Lot>

const order = LedgerRecord.transitionsOf({
  collection: subscriptions,
  machine: SubscriptionMachine,
  resourceKind: "subscription"
})

const claim = TypedFromLedger.of(SubscriptionClaim, {
  created: Effect.fn("SubscriptionClaim.created")(function* (payload, node) {
    const records = yield* Records
    const existing = yield* records.find(subscriptions, payload.subscriptionId)
    if (Option.isNone(existing)) return yield* opened(payload, node)
    // Each attestation but the one that completes them creates another claim contract.
    if (existing.value.state === "claimed" && payload.attested.length > 0) {
      return yield* order.record(existing.value, node, {
        on: "attest",
        claimCid: node.contractId,
        attestors: payload.attested,
        at: node.effectiveAt
      })
    }
    yield* order.keepBreach(node, payload.subscriptionId, {
      on: "claim",
      detail: "A subscription of this id exists."
    })
  }),
  exercised: {
    Withdraw: ({ payload }, node) =>
      order.moveBy(payload.subscriptionId, node, { on: "withdraw", at: node.effectiveAt })
  }
})

const lot = TypedFromLedger.of(Lot, {
  created: Effect.fn("Lot.created")(function* (payload, node) {
    const records = yield* Records
    const claimed = yield* records.find(subscriptions, payload.subscriptionId)
    if (
      Option.isNone(claimed) ||
      !order.allows(claimed.value, "price") ||
      claimed.value.mispricedCid !== null
    ) {
      return yield* order.keepBreach(node, payload.subscriptionId, {
        on: "price",
        detail: "No claimed subscription of this id waits for a price."
      })
    }
    yield* priced(claimed.value, payload, node)
  }),
  exercised: {
    Deliver: ({ payload, result }, node) =>
      result.mintRequest === null
        ? order.move(payload.subscriptionId, node, "deliver", (self) =>
            delivered(self, result.deliveredLot, node)
          )
        : requested(payload.subscriptionId, node, {
            deliveredLotCid: result.deliveredLot,
            mintRequestCid: result.mintRequest
          }),
    Settle: ({ payload, argument }, node) =>
      order.move(payload.subscriptionId, node, "exchange", (self) => ({
        on: "exchange",
        refunded: argument.refund ?? Decimal.zero,
        ...valued(self, node)
      })),
    Release: ({ payload }, node) =>
      order.withRecord(payload.subscriptionId, node, "release", (self) =>
        order.moveBy(payload.subscriptionId, node, {
          on: self.mispricedCid === node.contractId ? "withdraw" : "release",
          at: node.effectiveAt
        })
      )
  }
})

const deliveredLot = TypedFromLedger.of(DeliveredLot, {
  exercised: {
    Settle: ({ payload, argument, result }, node) =>
      order.moveBy(payload.subscriptionId, node, {
        on: "settle",
        refunded: argument.refunded?.amount ?? Decimal.zero,
        owedRefundCid: result.owedRefund,
        at: node.effectiveAt
      }),
    Redeliver: ({ payload, result }, node) =>
      requested(payload.subscriptionId, node, {
        deliveredLotCid: result.deliveredLot,
        mintRequestCid: result.mintRequest
      }),
    Release: ({ payload }, node) =>
      order.moveBy(payload.subscriptionId, node, { on: "release", at: node.effectiveAt })
  }
})

/** Payments of owed refunds. The settlement records the debt, so the creation of this contract is not read. */
const owedRefund = TypedFromLedger.of(OwedRefund, {
  exercised: {
    Pay: ({ payload, argument, result }, node) =>
      order.withRecord(payload.subscriptionId, node, "refund", (self) =>
        self.owedRefundCid === node.contractId
          ? order.record(self, node, {
              on: "refund",
              amount: argument.amount,
              owedRefundCid: result.owedRefund
            })
          : order.keepBreach(node, payload.subscriptionId, {
              on: "refund",
              detail: "The subscription owes no refund under this contract."
            })
      )
  }
})

const mintRequest = TypedFromLedger.of(MintRequest, {
  exercised: {
    Accept: ({ payload }, node) =>
      ofRequest(payload, node, ({ subscriptionId }) =>
        order.move(subscriptionId, node, "deliver", (self) =>
          delivered(self, self.deliveredLotCid, node)
        )
      ),
    Reject: ({ payload }, node) => unminted(payload, node),
    Withdraw: ({ payload }, node) =>
      isReleased(payload).pipe(
        Effect.flatMap((released) => (released ? Effect.void : unminted(payload, node)))
      )
  }
})

export const fromLedger = [claim, lot, deliveredLot, owedRefund, mintRequest].map(awaitingTerms)

// ---- a claim opens the order

const opened = Effect.fnUntraced(function* (payload: Claim, node: Node) {
  const opening = yield* openingOf(payload, node)
  if (opening === null) {
    return yield* order.keepBreach(node, payload.subscriptionId, {
      on: "claim",
      detail: "Its instrument or its holder is not recorded."
    })
  }
  const cutOff = yield* cutOffOf(payload, opening, node)
  yield* LedgerRecord.open(subscriptions, claimedAs(payload, opening, cutOff), node)
})

// ---- a lot prices it

/**
 * Records the price that the attestors signed; a breach of the rules is kept for reconciliation. A price
 * whose figures are beyond those of an order prices nothing: the order stays claimed, until it is withdrawn.
 */
const priced = Effect.fnUntraced(function* (
  self: Stored<Subscription>,
  payload: LotPayload,
  node: Node
) {
  if (!isPriceSized(payload)) {
    yield* order.keepBreach(node, self.subscriptionId, { on: "price", detail: beyondAnOrder })
    const mispricedCid = node.contractId
    return yield* order.record(self, node, { on: "misprice", mispricedCid })
  }
  const records = yield* Records
  const pricing = yield* pricingOf(
    { ...self, oracle: self.attesting.oracle },
    payload.pointCid,
    node.effectiveAt
  )
  const breaches = Pricing.breaches(self, payload, pricing)
  if (breaches.length > 0) {
    yield* order.keepBreach(node, self.subscriptionId, { on: "price", detail: breaches.join(" ") })
  }
  const figures = Pricing.figuresOf(self, payload)
  yield* records.announce([created(self, figures, node)])
  yield* records.append(
    subscriptions,
    self,
    {
      on: "price",
      lotCid: node.contractId,
      pointCid: payload.pointCid,
      price: figures.price,
      index: figures.index,
      basePrice: Pricing.basePriceOf(payload, pricing),
      units: figures.units,
      baseUnits: figures.baseUnits,
      fee: figures.fee,
      expected: figures.due,
      residual: figures.residual,
      refund: figures.refund,
      attestors: payload.attestors,
      at: node.effectiveAt
    },
    node.act
  )
})

const created = (self: Subscription, { price, units }: Pricing.PricedFigures, node: Node) => ({
  ...announcementOf(
    self,
    makeEvent("subscription.created", {
      contractId: node.contractId,
      price,
      quantity: units
    })
  ),
  journal: {
    at: node.effectiveAt,
    offset: node.offset,
    source: Snapshot.sourceOf(node, "subscription.created")
  }
})

// ---- the market mints at once, or the registrar by request

const valued = (self: Subscription, node: Node) => ({
  at: node.effectiveAt,
  valueDate: Zone.dateAt(self.zone, node.effectiveAt)
})

const delivered = (
  self: Subscription,
  deliveredLotCid: string | null,
  node: Node
): Extract<Fact, { readonly on: "deliver" }> => {
  if (deliveredLotCid === null) throw new Error("a delivered order has a delivered lot")
  return { on: "deliver", deliveredLotCid, ...valued(self, node) }
}

const requested = (
  subscriptionId: string,
  node: Node,
  contractIds: { readonly deliveredLotCid: string; readonly mintRequestCid: string }
) =>
  order.withRecord(subscriptionId, node, "deliver", (self) =>
    order.allows(self, "deliver")
      ? order.record(self, node, { on: "request-mint", ...contractIds })
      : order.keepBreach(node, subscriptionId, {
          on: "deliver",
          detail: `A subscription in state ${self.state} asked for units.`
        })
  )

const unminted = (payload: Payload<typeof MintRequest>, node: Node) =>
  ofRequest(payload, node, (self) => order.record(self, node, { on: "reject-mint" }))

/** Checks whether the request ended with its order: a release withdraws it, and is read before it. */
const isReleased = ({ reference }: Payload<typeof MintRequest>) =>
  Effect.gen(function* () {
    if (reference.kind !== "subscription") return false
    const records = yield* Records
    const self = yield* records.find(subscriptions, reference.id)
    return Option.isSome(self) && self.value.state === "released"
  })

/** Reads a mint request of an order; one that the order does not wait for is kept for reconciliation. */
const ofRequest = (
  { requester, reference }: Payload<typeof MintRequest>,
  node: Node,
  read: (self: Stored<Subscription>) => LedgerRecord.LedgerEffect
): LedgerRecord.LedgerEffect => {
  if (requester !== node.venue || reference.kind !== "subscription") return Effect.void
  return order.withRecord(reference.id, node, "mint", (self) =>
    self.mintRequestCid === node.contractId
      ? read(self)
      : order.keepBreach(node, reference.id, {
          on: "mint",
          detail: "The subscription does not wait for this mint request."
        })
  )
}
