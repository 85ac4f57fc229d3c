/** A subscription: an order for units, from its claim to its close. */
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
  /**
   * The part of the residual that goes back to the holder, and how much of that part has been paid.
   * Null before pricing; `refunded` is null too for orders that closed before it was recorded.
   */
  refund: NullOr(Decimal.schema),
  refunded: Field.optional(Decimal.schema),
  /** The bank lines that paid it back. */
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
  /** Who may attest its price, how many must, and whose point it is. */
  attesting: Schema.Struct({
    parties: Schema.Array(Party.schema),
    required: Integer.schema,
    oracle: NullOr(Party.schema)
  }),
  ...Order.onLedger,
  deliveredLotCid: NullOr(Field.contractId),
  /** What a closed order that was paid by wire still owes its holder. */
  owedRefundCid: Field.optional(Field.contractId),
  mintRequestCid: NullOr(Field.contractId),
  intentCid: NullOr(Field.contractId),
  allocation: NullOr(Allocated)
}).annotate({ identifier: "Subscription", description: "An order for units of an instrument." })
export type Subscription = typeof Subscription.Type

/** What stands between the order and its value date, at an instant. */
export const orderStateAt = (self: Subscription, now: Instant.Instant) =>
  SubscriptionOrder.SubscriptionOrder.judge({
    state: self.state,
    cashStands: Order.cashStands(self),
    settleBy: self.settleBy,
    now
  })

/** Whether its refund is still to be paid though it is closed: that stops nothing, and is open. */
export const owesRefund = ({ owedRefundCid }: Pick<Subscription, "owedRefundCid">): boolean =>
  owedRefundCid !== null

/** The refund that its settling transaction on the ledger pays; null: there is none to pay. */
export const toPayBack = ({ refund }: Pick<Subscription, "refund">): Decimal.Decimal | null =>
  refund !== null && Decimal.isPositive(refund) ? refund : null

/** What it is listed as among the open orders: by its order state, or by what it still owes. */
export const openStateAt = (self: Subscription, now: Instant.Instant) =>
  owesRefund(self) ? ("awaiting-refund" as const) : orderStateAt(self, now)

const standingOf = (self: Subscription): OpenOrder.Standing => ({
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
    open: (self) => OpenOrder.open(standingOf(self)),
    openUntil: (self) => OpenOrder.openUntil(standingOf(self))
  },
  waitingOn: (self) => {
    if (self.state === "claimed") return ofAttestors(self)
    if (self.state === "priced") return ofPriced(self)
    // Closed it waits for nothing but the evidence that its refund is paid.
    if (self.state === "delivered" || owesRefund(self)) {
      return [{ role: "operator", action: "subscription.settle", by: null }]
    }
    return []
  },
  announce: (self, fact) =>
    fact === undefined
      ? []
      : Order.announcedBy(SubscriptionMachine, fact.on).map((type) =>
          tell(self, eventOf(self, type))
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
    .filter((party) => !self.attestors.some((signed) => signed.party === party))
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

/** An event of a subscription, with the instrument, the holder and the record that it is about. */
export const tell = (
  self: Subscription,
  event: Pick<Announcement, "type" | "payload">
): Announcement =>
  Order.announcement({ ...self, kind: "subscription", id: self.subscriptionId }, event)
