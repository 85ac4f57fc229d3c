/** State machine of a subscription: moves, and who makes each. */
import { Result, Schema } from "effect"
import { match, P } from "ts-pattern"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, judge, type Judgement } from "../../kernel/Gates.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import {
  againstLines,
  againstSettling,
  CashLine,
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
  MoveLines,
  Release,
  RequestCash,
  Withdraw
} from "../order/OrderFacts.ts"
import type { Subscription } from "./Subscription.ts"

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
  Price,
  Deliver,
  Exchange,
  Settle,
  Release,
  Withdraw
])
export type Fact = typeof Fact.Type

/** Commands of the venue. Pricing is none of them: the attestors price, on the ledger. */
export type Command =
  | { readonly on: "withdraw" | "release" }
  | ({ readonly on: "exchange" | "settle" } & NamedLines)
  | {
      readonly on: "deliver"
      readonly cash: ReadonlyArray<CashLine>
      /** The instrument's policy: whether units may be delivered before the cash is received. */
      readonly deliverBeforeCash: "never" | "allowed"
    }

/**
 * Guard: decides by the order's own record whether the venue may send the command to the ledger. The
 * fact is recorded once the ledger has committed it.
 */
export const decide = (self: Subscription, command: Command) =>
  Machine.admit(SubscriptionMachine, self, command.on).pipe(
    Result.flatMap(() => judge(objections(self, command))),
    Result.map(() => command)
  )

/** Conditions of a command on the order's own record, one row a condition. */
export const objections = (self: Subscription, command: Command): ReadonlyArray<Judgement> =>
  match(command)
    .with({ on: P.union("withdraw", "release") }, () => [])
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
    .with({ on: "request-cash" }, ({ intentCid }) => ({ ...self, intentCid }))
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
  intentCid: null,
  allocation: null,
  deliveredLotCid: null
})
