/** Record and collection of subscriptions: orders for units, from claim to close. */
import { Effect, Schema } from "effect"
import * as events from "../events.ts"
import type { Announcement } from "../../kernel/Announcement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Field from "../../templates/Field.ts"
import type { ControlEventType } from "../../vocabulary/EventType.ts"
import * as sets from "../../vocabulary/sets.ts"
import * as OpenOrder from "../OpenOrder.ts"
import * as Order from "../order/Order.ts"
import { CashLine } from "../order/CashLine.ts"
import { Allocated } from "../order/OrderFacts.ts"
import { evolve, Fact, SubscriptionMachine } from "./SubscriptionMachine.ts"
import * as SubscriptionOrder from "./SubscriptionOrder.ts"

export const SubscriptionId = RecordId.make("SubscriptionId")
export type SubscriptionId = typeof SubscriptionId.Type

const { NullOr } = Schema

export const Subscription = Schema.Struct({
  subscriptionId: SubscriptionId,
  ...Order.parties,
  state: SubscriptionMachine.schema,
  ...Order.ordered,
  ...Order.dealing,
  residual: NullOr(Decimal.schema),
  /** The part of the residual that is owed to the holder; null before pricing. */
  refund: NullOr(Decimal.schema),
  /** The part of the refund that is paid; null before pricing, and in records made before it was kept. */
  refunded: Field.optional(Decimal.schema),
  /** The bank lines that paid the refund. */
  refunds: Schema.Array(CashLine).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  attestors: Schema.Array(Schema.Struct({ party: Party.schema, at: Instant.schema })),
  lot: NullOr(
    Schema.Struct({
      lotId: Schema.String,
      cid: Field.contractId,
      basePrice: Decimal.schema,
      units: Decimal.schema,
      remaining: Decimal.schema
    })
  ),
  ...Order.settling,
  deliveredAt: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  endedAs: NullOr(Schema.Literals(["closed", "released", "withdrawn"])),
  remainderOf: NullOr(Schema.String),
  ...Order.terms,
  residualRule: sets.ResidualRule.schema,
  zone: Zone.schema,
  /** The parties that may attest the price, how many must, and the oracle that publishes the price point. */
  attesting: Schema.Struct({
    parties: Schema.Array(Party.schema),
    required: Integer.schema,
    oracle: NullOr(Party.schema)
  }),
  ...Order.onLedger,
  deliveredLotCid: NullOr(Field.contractId),
  /** Contract of the refund that a closed, wire-paid order still owes its holder; null: none is owed. */
  owedRefundCid: Field.optional(Field.contractId),
  mintRequestCid: NullOr(Field.contractId),
  intentCid: NullOr(Field.contractId),
  allocation: NullOr(Allocated)
}).annotate({ identifier: "Subscription", description: "An order for units of an instrument." })
export type Subscription = typeof Subscription.Type

/** Judges the order state at an instant: the step that the order still needs before its value date. */
export const orderStateAt = (self: Subscription, now: Instant.Instant) =>
  SubscriptionOrder.SubscriptionOrder.judge({
    state: self.state,
    cashStands: Order.cashStands(self),
    settleBy: self.settleBy,
    now
  })

/** Checks whether a closed order still owes its refund; such an order stays among the open orders. */
export const owesRefund = ({ owedRefundCid }: Pick<Subscription, "owedRefundCid">): boolean =>
  owedRefundCid !== null

/** Returns the refund that the settling transaction on the ledger pays; null: none is owed. */
export const toPayBack = ({ refund }: Pick<Subscription, "refund">): Decimal.Decimal | null =>
  refund !== null && Decimal.isPositive(refund) ? refund : null

/** Returns the state in the list of open orders: the order state, or `awaiting-refund` if it owes one. */
export const openStateAt = (self: Subscription, now: Instant.Instant) =>
  owesRefund(self) ? ("awaiting-refund" as const) : orderStateAt(self, now)

const openEntryOf = (self: Subscription): OpenOrder.Entry => ({
  kind: "subscription",
  state: openStateAt(self, OpenOrder.untimed),
  until: self.state === "priced" ? self.settleBy : null
})

export const subscriptions = Collection.define<Subscription, Fact>("subscription", {
  doc: "An order for units, from its claim to its close.",
  id: (self) => self.subscriptionId,
  record: Subscription,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  sortKey: (self, createdAt) => `${Instant.sortable(createdAt)} ${self.subscriptionId}`,
  filters: {
    state: (self) => self.state,
    ...Order.filters,
    open: (self) => (self.lost ? null : OpenOrder.open(openEntryOf(self))),
    openUntil: (self) => (self.lost ? null : OpenOrder.openUntil(openEntryOf(self)))
  },
  untold: Order.untold,
  lost: Order.lost,
  waitingOn: (self) => {
    if (self.lost) return []
    if (self.state === "claimed") return ofAttestors(self)
    if (self.state === "priced") return ofPriced(self)
    // A closed order waits only for the bank lines that pay its refund.
    if (self.state === "delivered" || owesRefund(self)) {
      return [{ role: "operator", action: "subscription.settle", by: null }]
    }
    return []
  },
  announce: (self, fact) =>
    fact === undefined
      ? []
      : Order.announcedBy(SubscriptionMachine, fact.on).map((type) =>
          announcementOf(self, eventOf(self, type))
        ),
  invariants: {
    ...Order.invariantsOf(SubscriptionMachine),
    "a priced order has a lot": (self) => (self.pricedAt === null) === (self.lot === null),
    "the value date is the day of delivery": (self) =>
      (self.deliveredAt === null) === (self.valueDate === null),
    "only a closed order owes a refund": (self) => !owesRefund(self) || self.state === "closed"
  }
})

const ofAttestors = (self: Subscription): ReadonlyArray<Collection.WaitingOn> =>
  self.attesting.parties
    .filter((party) => !self.attestors.some((attestor) => attestor.party === party))
    .map((party) => ({ party, action: "SubscriptionClaim.Attest", by: null }))

const ofPriced = (self: Subscription): ReadonlyArray<Collection.WaitingOn> => {
  const by = self.settleBy
  if (self.payment === "ledger") {
    return self.allocation === null
      ? [{ party: self.party, action: "Holding.Allocate", by }]
      : [
          {
            role: "operator",
            action: self.cycleId === null ? "subscription.settle" : "dealing-cycle.settle",
            by
          }
        ]
  }
  return self.mintRequestCid === null
    ? [{ role: "operator", action: "subscription.deliver", by }]
    : [{ party: self.registrar, action: "MintRequest.Accept", by }]
}

const eventOf = (self: Subscription, type: ControlEventType) => {
  const { state, price, units, valueDate } = self
  if (type === "subscription.ended") return events.make(type, { state })
  if (type === "subscription.priced" && price !== null) return events.make(type, { state, price })
  if (type === "subscription.delivered" && units !== null && valueDate !== null) {
    return events.make(type, { state, quantity: units, valueDate })
  }
  throw new Error(`a subscription in state ${state} announces no ${type}`)
}

/** Makes an event of a subscription, with its instrument, its holder and its record. */
export const announcementOf = (
  self: Subscription,
  event: Pick<Announcement, "type" | "payload">
): Announcement =>
  Order.announcement({ ...self, kind: "subscription", id: self.subscriptionId }, event)
