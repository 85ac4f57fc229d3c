/** Record and collection of subscriptions: orders for units, from claim to close. */
import { Effect, Schema } from "effect"
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
import * as OpenOrder from "../order/OpenOrder.ts"
import * as Order from "../order/Order.ts"
import {
  CashLine,
  againstLines,
  againstSettling,
  type NamedLines,
  unpaid
} from "../order/CashLine.ts"
import {
  Allocated,
  at,
  cashIn,
  cashWith,
  Leave,
  Match,
  Misprice,
  mispricedBy,
  MoveLines,
  Release,
  RequestCash,
  requestedBy,
  Withdraw
} from "../order/OrderFacts.ts"
import { match, P } from "ts-pattern"
import * as Date from "../../kernel/Date.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { State } from "../../kernel/Machine.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"
import * as Judged from "../../kernel/Judged.ts"

export interface Subject {
  readonly state: State<typeof SubscriptionMachine>
  /** True if its cash leg is covered: matched when paid by wire, allocated when paid on the ledger. */
  readonly cashStands: boolean
  /** Instant at which a priced order expires; null: it does not expire. */
  readonly settleBy: Instant.Instant | null
  readonly now: Instant.Instant
}

const judgePriced = ({ cashStands, now, settleBy }: Subject) => {
  if (settleBy !== null && Instant.atOrAfter(now, settleBy)) return "expired"
  return cashStands ? "ready" : "awaiting-cash"
}

export const SubscriptionOrder = Judged.declare<Subject>()("SubscriptionOrderState", {
  doc: "What a subscription still needs before its value date. Open are the first three.",
  states: {
    "awaiting-price": "No price yet.",
    "awaiting-cash": "The cash leg is missing.",
    ready: "The venue may deliver or settle.",
    expired: "Its time to settle passed; the next act is to release it.",
    settled: "Its value date is reached.",
    withdrawn: "Withdrawn before it was priced.",
    released: "Released after it was priced."
  },
  judge: (subject) =>
    match(subject.state)
      .with("claimed", () => "awaiting-price" as const)
      .with("priced", () => judgePriced(subject))
      .with(P.union("delivered", "closed"), () => "settled" as const)
      .with(P.union("withdrawn", "released"), (ended) => ended)
      .exhaustive()
})

export const SubscriptionMachine = Machine.declare("SubscriptionState", {
  doc: "A subscription, from its claim to its close.",
  states: {
    claimed: "The holder's claim is on the ledger; nobody has priced it yet.",
    priced: "Its attestors priced it: the lot exists on the ledger.",
    delivered: "Units are minted to the holder. This is the value date.",
    closed: "The fund has its cash and the lot is closed.",
    released: "The venue released the priced lot undelivered.",
    withdrawn: "The claim was withdrawn before it was priced."
  },
  triggers: {
    price: { by: ["ledger"], announces: ["subscription.priced", "subscription.created"] },
    withdraw: {
      by: ["subscription.withdraw", "dealing-cycle.release"],
      announces: ["subscription.ended"]
    },
    deliver: { by: ["subscription.deliver", "ledger"], announces: ["subscription.delivered"] },
    settle: { by: ["subscription.settle"], announces: ["subscription.ended"] },
    exchange: {
      by: ["subscription.settle", "dealing-cycle.settle"],
      announces: ["subscription.delivered", "subscription.ended"]
    },
    release: {
      by: ["subscription.release", "dealing-cycle.release"],
      announces: ["subscription.ended"]
    }
  },
  initial: "claimed",
  // A projection that begins from a snapshot opens an order as its contract is.
  opensIn: ["claimed", "priced", "delivered"],
  opens: { by: ["subscription.claim", "ledger"] },
  moves: {
    claimed: { price: "priced", withdraw: "withdrawn" },
    priced: { deliver: "delivered", exchange: "closed", release: "released" },
    delivered: { settle: "closed" },
    closed: {},
    released: {},
    withdrawn: {}
  },
  forward: ["price", "deliver", "settle", "exchange"]
})

/** Events of a subscription. */
export const subscriptionEvents = {
  "subscription.priced": about(
    "subscription",
    Schema.Struct({ state: SubscriptionMachine.schema, price: Decimal.schema })
  ),
  "subscription.delivered": about(
    "subscription",
    Schema.Struct({
      state: SubscriptionMachine.schema,
      quantity: Decimal.schema,
      valueDate: Date.schema
    })
  ),
  "subscription.ended": about("subscription", Schema.Struct({ state: SubscriptionMachine.schema })),
  "subscription.created": about(
    "subscription",
    Schema.Struct({ contractId: Schema.String, price: Decimal.schema, quantity: Decimal.schema })
  )
} as const

export const makeEvent = announcing(subscriptionEvents)

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

// Facts that do not change the state.

/** Another attestor signed, and the claim is a new contract. */
const Attest = Schema.Struct({
  on: Schema.Literal("attest"),
  claimCid: Field.contractId,
  attestors: Schema.Array(Party.schema),
  ...at
})
/** The holder allocated the order's cash; null: the allocation ended. */
const Allocate = Schema.Struct({
  on: Schema.Literal("allocate"),
  allocation: Schema.NullOr(Allocated)
})
/** The venue delivered the lot, and the registrar is asked to mint its units. */
const RequestMint = Schema.Struct({
  on: Schema.Literal("request-mint"),
  deliveredLotCid: Field.contractId,
  mintRequestCid: Field.contractId
})
/** The registrar rejected the mint request: the lot can be delivered again. */
const RejectMint = Schema.Struct({ on: Schema.Literal("reject-mint") })
/** The venue named the bank lines that paid the order's refund, or a part of it. */
const MatchRefund = Schema.Struct({
  on: Schema.Literal("match-refund"),
  lines: Schema.Array(CashLine)
})
/** The bank paid this part of a closed order's refund; another contract holds the rest. */
const Refund = Schema.Struct({
  on: Schema.Literal("refund"),
  amount: Decimal.schema,
  owedRefundCid: Schema.NullOr(Field.contractId)
})

// Facts of the table's triggers.

const Price = Schema.Struct({
  on: Schema.Literal("price"),
  lotCid: Field.contractId,
  pointCid: Field.contractId,
  price: Decimal.schema,
  /** Unswung price of the point; null in facts recorded before it was kept, and of an unread point. */
  basePrice: Field.optional(Decimal.schema),
  index: Field.optional(Decimal.schema),
  units: Decimal.schema,
  baseUnits: Field.optional(Decimal.schema),
  fee: Decimal.schema,
  expected: Decimal.schema,
  residual: Decimal.schema,
  refund: Decimal.schema,
  attestors: Schema.Array(Party.schema),
  ...at
})
const delivered = { valueDate: Date.schema, ...at } as const
const Deliver = Schema.Struct({
  on: Schema.Literal("deliver"),
  deliveredLotCid: Field.contractId,
  ...delivered
})
/** Paid, minted and closed in one transaction; `refunded` is the refund that this transaction paid. */
const Exchange = Schema.Struct({
  on: Schema.Literal("exchange"),
  refunded: Field.optional(Decimal.schema),
  ...delivered
})
/** Closed by wire: the refund that the bank had paid by then, and the contract of the rest. */
const Settle = Schema.Struct({
  on: Schema.Literal("settle"),
  refunded: Field.optional(Decimal.schema),
  owedRefundCid: Field.optional(Field.contractId),
  ...at
})
export const Fact = Schema.Union([
  Attest,
  RequestCash,
  Allocate,
  RequestMint,
  RejectMint,
  Leave,
  Match,
  MatchRefund,
  MoveLines,
  Refund,
  Misprice,
  Price,
  Deliver,
  Exchange,
  Settle,
  Release,
  Withdraw
])
export type Fact = typeof Fact.Type

/**
 * Commands of the venue that more than the order's state decides about. Pricing is no command: the
 * attestors price, on the ledger.
 */
export type Command =
  | ({ readonly on: "exchange" | "settle" } & NamedLines)
  | {
      readonly on: "deliver"
      readonly cash: ReadonlyArray<CashLine>
      /** The instrument's policy: whether units may be delivered before the cash is received. */
      readonly deliverBeforeCash: "never" | "allowed"
    }

/** Conditions of a command on the order's own record, one row a condition. */
export const objections = (self: Subscription, command: Command): ReadonlyArray<Judgement> =>
  match(command)
    .with({ on: "deliver" }, (deliver) => againstDelivery(self, deliver))
    .with({ on: "settle" }, (named) => againstSettling(self, named))
    .with({ on: "exchange" }, (named) => againstExchange(self, named))
    .exhaustive()

const againstDelivery = (
  self: Subscription,
  { cash, deliverBeforeCash }: Extract<Command, { on: "deliver" }>
): ReadonlyArray<Judgement> => [
  condition("paid-by-wire", self.payment === "wire"),
  condition("mint-requested", self.mintRequestCid === null, { party: self.registrar }),
  ...againstLines(self.cash, cash),
  unpaid(self.cash, deliverBeforeCash === "never" ? cash : null)
]

const againstExchange = (
  self: Subscription,
  { cash, refunds }: NamedLines
): ReadonlyArray<Judgement> => [
  condition("paid-on-ledger", self.payment === "ledger", {
    recovery: "Deliver it first: its cash comes by wire."
  }),
  condition("cash-on-ledger", cash.length + refunds.length === 0),
  condition("cash-allocated", self.allocation !== null, { party: self.party })
]

/** Fold: the subscription after `fact`. */
export const evolve = (self: Subscription, fact: Fact): Subscription =>
  match(fact)
    .with({ on: "attest" }, (attested) => ({
      ...self,
      claimCid: attested.claimCid,
      attestors: signed(self, attested)
    }))
    .with({ on: "request-cash" }, (request) => requestedBy(self, request))
    .with({ on: "allocate" }, ({ allocation }) => ({ ...self, allocation }))
    .with({ on: "request-mint" }, ({ deliveredLotCid, mintRequestCid }) => ({
      ...self,
      deliveredLotCid,
      mintRequestCid
    }))
    .with({ on: "reject-mint" }, () => ({ ...self, mintRequestCid: null }))
    .with({ on: "leave" }, ({ formerCycle }) => ({ ...self, cycleId: null, formerCycle }))
    .with({ on: "match" }, ({ lines }) => ({
      ...self,
      cash: cashWith(self.cash, lines)
    }))
    .with({ on: "match-refund" }, ({ lines }) => ({
      ...self,
      refunds: [...self.refunds, ...lines]
    }))
    .with({ on: "move-lines" }, ({ lines, refunds }) => ({
      ...self,
      cash: cashIn(self.cash, lines),
      refunds
    }))
    .with({ on: "refund" }, ({ amount, owedRefundCid }) => ({
      ...self,
      refunded: Decimal.add(self.refunded ?? Decimal.zero, amount),
      owedRefundCid
    }))
    .with({ on: "misprice" }, (fact) => mispricedBy(self, fact))
    .with({ on: "price" }, (priced) => ({ ...moved(self, priced.on), ...pricedAs(self, priced) }))
    .with({ on: "deliver" }, ({ on, deliveredLotCid, ...value }) => ({
      ...moved(self, on),
      ...deliveredAs(value),
      deliveredLotCid
    }))
    .with({ on: "exchange" }, ({ on, refunded, ...value }) => ({
      ...moved(self, on),
      ...deliveredAs(value),
      ...ended("closed", value.at),
      refunded,
      cash: { ...self.cash, matched: self.cash.expected ?? self.cash.matched }
    }))
    .with({ on: "settle" }, ({ on, at, refunded, owedRefundCid }) => ({
      ...moved(self, on),
      ...ended("closed", at),
      refunded,
      owedRefundCid
    }))
    // Its cash is the holder's again, and its bank lines may pay another order.
    .with({ on: P.union("release", "withdraw") }, (fact) => ({
      ...moved(self, fact.on),
      ...ended(fact.on === "release" ? "released" : "withdrawn", fact.at),
      mintRequestCid: null,
      cash: { ...self.cash, matched: Decimal.zero, lines: [] }
    }))
    .exhaustive()

const moved = (
  self: Subscription,
  on: Machine.TriggerOf<typeof SubscriptionMachine>
): Subscription => ({ ...self, state: Machine.follow(SubscriptionMachine, self.state, on) })

/** The attestors that have signed, each with the instant of its first signature. */
const signed = (
  self: Subscription,
  by: { readonly attestors: ReadonlyArray<Party.Party>; readonly at: Instant.Instant }
) => [
  ...self.attestors,
  ...by.attestors
    .filter((party) => !self.attestors.some((attestor) => attestor.party === party))
    .map((party) => ({ party, at: by.at }))
]

const pricedAs = (self: Subscription, fact: typeof Price.Type) => ({
  price: fact.price,
  pointCid: fact.pointCid,
  index: fact.index,
  units: fact.units,
  baseUnits: fact.baseUnits,
  fee: fact.fee,
  residual: fact.residual,
  refund: fact.refund,
  refunded: Decimal.zero,
  cash: { ...self.cash, expected: fact.expected },
  pricedAt: fact.at,
  attestors: signed(self, fact),
  lot: {
    lotId: self.subscriptionId,
    cid: fact.lotCid,
    basePrice: fact.basePrice ?? fact.index ?? fact.price,
    units: fact.baseUnits ?? fact.units,
    remaining: fact.baseUnits ?? fact.units
  },
  claimCid: null
})

const deliveredAs = (value: { readonly at: Instant.Instant; readonly valueDate: Date.Date }) => ({
  deliveredAt: value.at,
  valueDate: value.valueDate,
  mintRequestCid: null
})

const ended = (endedAs: "closed" | "released" | "withdrawn", at: Instant.Instant) => ({
  endedAs,
  endedAt: at,
  claimCid: null,
  mispricedCid: null,
  intentCid: null,
  allocation: null,
  deliveredLotCid: null
})

/** Judges the order state at an instant: the step that the order still needs before its value date. */
export const orderStateAt = (self: Subscription, now: Instant.Instant) =>
  SubscriptionOrder.judge({
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
  waitingOn: (self) => waitingOn(self),
  indexedWaits: (self) => OpenOrder.indexedWaits(waitingOn(self), openEntryOf(self), self.state),
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
    "only a claimed order is mispriced": Order.isMispricedOnlyAsClaimed,
    "only a closed order owes a refund": (self) => !owesRefund(self) || self.state === "closed"
  }
})

const waitingOn = (self: Subscription): ReadonlyArray<Collection.WaitingOn> => {
  if (self.lost) return []
  if (self.mispricedCid !== null) {
    return [{ role: "operator", action: "subscription.withdraw", by: null }]
  }
  if (self.state === "claimed") return ofAttestors(self)
  if (self.state === "priced") return ofPriced(self)
  // A closed order waits only for the bank lines that pay its refund.
  if (self.state === "delivered" || owesRefund(self)) {
    return [{ role: "operator", action: "subscription.settle", by: null }]
  }
  return []
}

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
  if (type === "subscription.ended") return makeEvent(type, { state })
  if (type === "subscription.priced" && price !== null) return makeEvent(type, { state, price })
  if (type === "subscription.delivered" && units !== null && valueDate !== null) {
    return makeEvent(type, { state, quantity: units, valueDate })
  }
  throw new Error(`a subscription in state ${state} announces no ${type}`)
}

/** Makes an event of a subscription, with its instrument, its holder and its record. */
export const announcementOf = (
  self: Subscription,
  event: Pick<Announcement, "type" | "payload">
): Announcement =>
  Order.announcement({ ...self, kind: "subscription", id: self.subscriptionId }, event)
