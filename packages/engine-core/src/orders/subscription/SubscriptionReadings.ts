/** Readings of the ledger about a subscription: claimed, attested, priced, delivered, ended. */
import { Effect, Option, Schema } from "effect"
import * as events from "../../feeds/events.ts"
import { holderParties } from "../../holders/holder/Holder.ts"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Follow from "../../projection/Follow.ts"
import * as Once from "../../projection/Once.ts"
import type { Node } from "../../projection/Reading.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { DeliveredLot, Lot, OwedRefund, SubscriptionClaim } from "../../templates/Market.ts"
import { MintRequest } from "../../templates/Registry.ts"
import type { Payload } from "../../templates/Template.ts"
import * as Currency from "../../kernel/Currency.ts"
import { type Subscription, SubscriptionId, subscriptions, tell } from "./Subscription.ts"
import { type Fact, SubscriptionMachine } from "./SubscriptionMachine.ts"
import * as Pricing from "./SubscriptionPricing.ts"
import * as Rules from "./SubscriptionRules.ts"
import { knownFor } from "./SubscriptionLookups.ts"

type Claim = Payload<typeof SubscriptionClaim>
type Priced = Payload<typeof Lot>

const order = Follow.of({
  collection: subscriptions,
  machine: SubscriptionMachine,
  resourceKind: "subscription"
})

const claim = TypedReading.of(SubscriptionClaim, {
  created: Effect.fn("SubscriptionClaim.created")(function* (payload, node) {
    const records = yield* Records
    const known = yield* records.find(subscriptions, payload.subscriptionId)
    if (Option.isNone(known)) return yield* opened(payload, node)
    // Every attestation but the last makes the claim anew.
    if (known.value.state === "claimed" && payload.attested.length > 0) {
      return yield* order.noted(known.value, node, {
        on: "attest",
        claimCid: node.contractId,
        attestors: payload.attested,
        at: node.effectiveAt
      })
    }
    yield* order.surprise(node, payload.subscriptionId, {
      on: "claim",
      detail: "A subscription of this id exists."
    })
  }),
  exercised: {
    Withdraw: ({ payload }, node) =>
      order.stepped(payload.subscriptionId, node, { on: "withdraw", at: node.effectiveAt })
  }
})

const lot = TypedReading.of(Lot, {
  created: Effect.fn("Lot.created")(function* (payload, node) {
    const records = yield* Records
    const known = yield* records.find(subscriptions, payload.subscriptionId)
    if (Option.isNone(known) || !order.allows(known.value, "price")) {
      return yield* order.surprise(node, payload.subscriptionId, {
        on: "price",
        detail: "No claimed subscription of this id waits for a price."
      })
    }
    yield* priced(known.value, payload, node)
  }),
  exercised: {
    Deliver: ({ payload, result }, node) =>
      result.mintRequest === null
        ? order.moved(payload.subscriptionId, node, "deliver", (self) =>
            delivered(self, result.deliveredLot, node)
          )
        : requested(payload.subscriptionId, node, {
            deliveredLotCid: result.deliveredLot,
            mintRequestCid: result.mintRequest
          }),
    Settle: ({ payload, argument }, node) =>
      order.moved(payload.subscriptionId, node, "exchange", (self) => ({
        on: "exchange",
        refunded: argument.refund ?? Decimal.zero,
        ...valued(self, node)
      })),
    Release: ({ payload }, node) =>
      order.stepped(payload.subscriptionId, node, { on: "release", at: node.effectiveAt })
  }
})

const deliveredLot = TypedReading.of(DeliveredLot, {
  exercised: {
    Settle: ({ payload, argument, result }, node) =>
      order.stepped(payload.subscriptionId, node, {
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
      order.stepped(payload.subscriptionId, node, { on: "release", at: node.effectiveAt })
  }
})

/** A debt is read off the settlement that left it: one that the venue writes by itself moves nothing. */
const owedRefund = TypedReading.of(OwedRefund, {
  exercised: {
    Pay: ({ payload, argument, result }, node) =>
      order.found(payload.subscriptionId, node, "refund", (self) =>
        self.owedRefundCid === node.contractId
          ? order.noted(self, node, {
              on: "refund",
              amount: argument.amount,
              owedRefundCid: result.owedRefund
            })
          : order.surprise(node, payload.subscriptionId, {
              on: "refund",
              detail: "The subscription does not owe by this contract."
            })
      )
  }
})

const mintRequest = TypedReading.of(MintRequest, {
  exercised: {
    Accept: ({ payload }, node) =>
      asked(payload, node, ({ subscriptionId }) =>
        order.moved(subscriptionId, node, "deliver", (self) =>
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

export const readings = [claim, lot, deliveredLot, owedRefund, mintRequest] as const

// ---- a claim opens the order

const opened = Effect.fnUntraced(function* (payload: Claim, node: Node) {
  const records = yield* Records
  const found = yield* records.find(instruments, payload.instrument.id)
  const holder = yield* records.find(holderParties, payload.holder)
  if (Option.isNone(found) || !isRecorded(found.value) || Option.isNone(holder)) {
    return yield* order.surprise(node, payload.subscriptionId, {
      on: "claim",
      detail: "Its instrument or its holder is not known."
    })
  }
  const { instrumentId, registrar } = found.value
  const terms = yield* inForce(found.value, node.effectiveAt)
  const { manifest, policyVersion } = terms
  const cutOff = Rules.nextCutOff(terms.cutOff, node.effectiveAt)
  const cashDecimals = payload.cashDecimals ?? Currency.decimals(payload.currency)
  // The ledger holds an order in units to the rate that its claim names.
  const feeRate = payload.feeRate ?? terms.fees.subscription
  yield* Once.open(
    subscriptions,
    {
      ...unpriced,
      subscriptionId: Schema.decodeSync(SubscriptionId)(payload.subscriptionId),
      instrumentId,
      registrar,
      holderId: holder.value.holderId,
      party: payload.holder,
      payment: payload.mode,
      orderedAs: payload.orderedUnits === null ? "amount" : "units",
      amount: payload.orderedUnits === null ? payload.cash : null,
      units: payload.orderedUnits,
      currency: payload.currency,
      fee:
        payload.cash === null || payload.orderedUnits !== null
          ? null
          : Rules.feeOf(payload.cash, { feeRate, cashDecimals }),
      policyVersion,
      cutOffAt: cutOff.at,
      dealingDate: cutOff.date,
      cycleId: payload.cycleId,
      formerCycle: null,
      cash: { expected: payload.cash, matched: Decimal.zero, lines: [] },
      settleBy: payload.mode === "ledger" ? Rules.settleBy(cutOff.at) : null,
      claimedAt: node.effectiveAt,
      pricing: manifest.pricing,
      feeRate,
      unitDecimals: manifest.unitDecimals,
      cashDecimals,
      residualRule: manifest.residual,
      zone: manifest.businessZone ?? Zone.utc,
      attesting: {
        parties: payload.attestors,
        required: payload.required,
        oracle: payload.oracle
      },
      fund: payload.fund,
      paymentAsset: payload.paymentAsset,
      orderId: payload.orderId,
      claimCid: node.contractId
    },
    node
  )
})

const unpriced = {
  state: SubscriptionMachine.initial,
  price: null,
  pointCid: null,
  residual: null,
  refund: null,
  refunded: null,
  refunds: [],
  attestors: [],
  lot: null,
  valueDate: null,
  pricedAt: null,
  deliveredAt: null,
  endedAt: null,
  endedAs: null,
  remainderOf: null,
  deliveredLotCid: null,
  owedRefundCid: null,
  mintRequestCid: null,
  intentCid: null,
  allocation: null
} as const

// ---- a lot prices it

/** The record moves whatever the attestors did: a breach of the rules is kept for reconciliation. */
const priced = Effect.fnUntraced(function* (
  self: Stored<Subscription>,
  payload: Priced,
  node: Node
) {
  const records = yield* Records
  const breaches = Pricing.breaches(
    self,
    payload,
    yield* knownFor(self, payload.pointCid, node.effectiveAt)
  )
  if (breaches.length > 0) {
    yield* order.surprise(node, self.subscriptionId, { on: "price", detail: breaches.join(" ") })
  }
  const figures = Pricing.figuresOf(self, payload)
  yield* records.announce([created(self, payload, node)])
  yield* records.record(
    subscriptions,
    self,
    {
      on: "price",
      lotCid: node.contractId,
      pointCid: payload.pointCid,
      price: payload.price,
      units: payload.units,
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

const created = (self: Subscription, { price, units }: Priced, node: Node) => ({
  ...tell(
    self,
    events.make("subscription.created", {
      contractId: node.contractId,
      price,
      quantity: units
    })
  ),
  journal: {
    at: node.effectiveAt,
    offset: node.offset,
    source: `${node.offset}:${node.nodeId}:subscription.created`
  }
})

// ---- units come by the market at once, or by the registrar

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
  of: { readonly deliveredLotCid: string; readonly mintRequestCid: string }
) =>
  order.found(subscriptionId, node, "deliver", (self) =>
    order.allows(self, "deliver")
      ? order.noted(self, node, { on: "request-mint", ...of })
      : order.surprise(node, subscriptionId, {
          on: "deliver",
          detail: `A subscription in state ${self.state} asked for units.`
        })
  )

const unminted = (payload: Payload<typeof MintRequest>, node: Node) =>
  asked(payload, node, (self) => order.noted(self, node, { on: "reject-mint" }))

/** The venue takes a request back with the order that it lets go, and the order is read first. */
const isReleased = ({ reference }: Payload<typeof MintRequest>) =>
  Effect.gen(function* () {
    if (reference.kind !== "subscription") return false
    const records = yield* Records
    const self = yield* records.find(subscriptions, reference.id)
    return Option.isSome(self) && self.value.state === "released"
  })

/** The order whose request this is; another's, or one that it does not wait for, is kept. */
const asked = (
  { requester, reference }: Payload<typeof MintRequest>,
  node: Node,
  read: (self: Stored<Subscription>) => Follow.Reads
): Follow.Reads => {
  if (requester !== node.venue || reference.kind !== "subscription") return Effect.void
  return order.found(reference.id, node, "mint", (self) =>
    self.mintRequestCid === node.contractId
      ? read(self)
      : order.surprise(node, reference.id, {
          on: "mint",
          detail: "The subscription does not wait for this mint request."
        })
  )
}
