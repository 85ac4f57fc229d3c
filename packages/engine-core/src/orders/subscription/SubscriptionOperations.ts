/** Writes of a subscription: withdraw, deliver, settle, release. */
import { Effect, Schema } from "effect"
import { configurationOf } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { DeliveredLot, Lot, OwedRefund, SubscriptionClaim } from "../../templates/Market.ts"
import { exercise } from "../../templates/Template.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, sentence } from "../../writes/Summary.ts"
import * as Timely from "../../records/Timely.ts"
import { bankLines, contractOf, digestOf, paidBy, refuses, reload } from "../order/OrderSteps.ts"
import * as Cash from "../order/CashLine.ts"
import {
  owesRefund,
  type Subscription,
  SubscriptionId,
  subscriptions,
  toPayBack,
  SubscriptionMachine
} from "./Subscription.ts"
import { consumeReserved, lockLines, releaseReserved, reserveCash } from "../order/CashSteps.ts"
import { dropReversed, lessReversed, type ReversedCash } from "../order/CashReversalSteps.ts"
import { claim } from "./SubscriptionClaimOperations.ts"
import { withRemaining } from "./SubscriptionLotLookups.ts"
import {
  type JudgedSettlement,
  type SubscriptionContext,
  delivering,
  type JudgedExchange,
  load,
  marketOf,
  settling
} from "./SubscriptionGateLookups.ts"
import * as SubscriptionView from "./SubscriptionView.ts"

const ById = Schema.Struct({ subscriptionId: SubscriptionId })
const Paid = Schema.Struct({ subscriptionId: SubscriptionId, cash: bankLines })
/** Also names the bank lines that paid the refund. */
const Settled = Schema.Struct({ ...Paid.fields, refunds: bankLines })

type ById = typeof ById.Type

const resource = {
  kind: "subscription",
  id: ({ subscriptionId }: ById) => subscriptionId,
  href: ({ subscriptionId }: ById) => `/v1/subscriptions/${subscriptionId}`,
  concerns: Concerns.ofRecord(subscriptions, ({ subscriptionId }: ById) => subscriptionId)
} as const

const commonMembers = {
  approvers: 0,
  resource,
  result: SubscriptionView.SubscriptionView,
  refuses
} as const

const shown = (subscriptionId: string, act: OperationAct) =>
  Effect.flatMap(reload(subscriptions, subscriptionId), (self) => viewOf(self, act))

const viewOf = (self: Stored<Subscription>, { now }: OperationAct) =>
  Effect.map(withRemaining([self]), ([order = self]) => SubscriptionView.of(order, now))

const withdraw = Operation.defineOnLedger("subscription.withdraw", {
  ...commonMembers,
  doc: "Withdraws an order before it is priced.",
  summary: (_, subject) =>
    sentence`Withdraws subscription ${subject.resource.id}${concerning(subject)}.`,
  route: "POST /v1/subscriptions/{subscriptionId}:withdraw",
  makers: ["operator", "app"],
  input: ById,
  refuses: ["not-found", "state-conflict"],
  plan: Effect.fn("subscription.withdraw.plan")(function* ({ subscriptionId }) {
    const self = yield* load(subscriptionId)
    yield* Effect.fromResult(Machine.admit(SubscriptionMachine, self, "withdraw"))
    const argument = endingOf(self)
    const command =
      self.mispricedCid === null
        ? exercise(SubscriptionClaim, contractOf(self.claimCid, "claim"), "Withdraw", argument)
        : exercise(Lot, self.mispricedCid, "Release", argument)
    return { commands: [command], last: true }
  }),
  finish: ({ subscriptionId }, act) => shown(subscriptionId, act)
})

const release = Operation.defineOnLedger("subscription.release", {
  ...commonMembers,
  doc: "Releases a priced order undelivered: allocated cash goes back, and bank lines that paid it may be used again.",
  summary: (_, subject) =>
    sentence`Releases subscription ${subject.resource.id}${concerning(subject)} undelivered.`,
  route: "POST /v1/subscriptions/{subscriptionId}:release",
  makers: ["operator"],
  input: ById,
  refuses: ["not-found", "state-conflict"],
  plan: Effect.fn("subscription.release.plan")(function* ({ subscriptionId }) {
    const self = yield* load(subscriptionId)
    yield* Effect.fromResult(Machine.admit(SubscriptionMachine, self, "release"))
    return { commands: [releasing(self)], last: true }
  }),
  finish: ({ subscriptionId }, act) => shown(subscriptionId, act)
})

export const deliver = Operation.defineOnLedger("subscription.deliver", {
  ...commonMembers,
  figuresFor: "every-role",
  doc: "Has a wire-paid order's units minted: by the market where one is agreed, else on request.",
  summary: ({ cash = [] }, subject) =>
    sentence`Delivers the units of subscription ${subject.resource.id}${concerning(subject)}${paidBy(cash)}.`,
  route: "POST /v1/subscriptions/{subscriptionId}:deliver",
  makers: ["operator"],
  input: Paid,
  gates: (input, act) => Effect.map(delivering(input, act), ({ rows }) => rows),
  plan: Effect.fn("subscription.deliver.plan")(function* (input, act) {
    yield* lockLines(orderOf(input.subscriptionId), input.cash)
    const { self, context, lines, reversed, rows } = yield* delivering(input, act)
    yield* Effect.fromResult(judge(rows))
    yield* withoutReversed(self, reversed, act)
    yield* reserveCash(lines, act)
    return { commands: [yield* delivery(self, context)], last: true }
  }),
  finish: ({ subscriptionId, cash }, act) => matched(subscriptionId, { cash, refunds: [] }, act)
})

export const settle = Operation.defineOnLedger("subscription.settle", {
  ...commonMembers,
  figuresFor: "every-role",
  doc: "Closes a delivered order whose cash is in; a ledger-paid one is paid, minted and closed in one, its refund paid back in the same transaction. By wire a refund is paid by the bank lines in `refunds`: named as the order closes, or later, in parts, while the closed order still owes it.",
  summary: ({ cash = [] }, subject) =>
    sentence`Settles subscription ${subject.resource.id}${concerning(subject)}${paidBy(cash)}.`,
  route: "POST /v1/subscriptions/{subscriptionId}:settle",
  makers: ["operator"],
  input: Settled,
  gates: (input, act) => Effect.map(settling(input, act), ({ rows }) => rows),
  plan: Effect.fn("subscription.settle.plan")(function* (input, act) {
    yield* lockLines(orderOf(input.subscriptionId), [...input.cash, ...input.refunds])
    const acting = yield* settling(input, act)
    yield* Effect.fromResult(judge(acting.rows))
    if (acting.on === "exchange") return { commands: [exchange(acting)], last: true }
    const self = yield* withoutReversed(acting.self, acting.reversed, act)
    yield* reserveCash(acting.lines, act)
    const command = owesRefund(self) ? payBack({ ...acting, self }) : close({ ...acting, self })
    return { commands: [yield* command], last: true }
  }),
  finish: ({ subscriptionId, ...named }, act) => matched(subscriptionId, named, act)
})

export const operations = [claim, withdraw, deliver, settle, release] as const

/**
 * Scheduled release of orders that are not settled by their `settleBy`, since their allocated cash is
 * locked (docs/domain/orders.md#release). An order in a cycle is released with its cycle.
 */
export const timely = [
  Timely.define({
    name: "subscription.release",
    doc: "Releases a priced, ledger-paid subscription that has not settled by its time to.",
    collection: subscriptions,
    operation: release,
    at: ({ state, payment, cycleId, lost, settleBy }) =>
      state === "priced" && payment === "ledger" && cycleId === null && !lost
        ? (settleBy ?? undefined)
        : undefined,
    request: ({ subscriptionId }) => ({ subscriptionId })
  })
] as const

/** The order, as bank lines are taken for it. */
const orderOf = (orderId: string) => ({ kind: "subscription", orderId }) as const

/** Ends what the order took of entries which the bank took back; returns the order without that cash. */
const withoutReversed = Effect.fnUntraced(function* (
  self: Stored<Subscription>,
  reversed: ReversedCash,
  act: OperationAct
) {
  if (reversed.lines.length === 0) return self
  const records = yield* Records
  yield* dropReversed(reversed, act)
  const { lines } = lessReversed(self.cash, reversed)
  const { refunds } = self
  return yield* records.append(subscriptions, self, { on: "move-lines", lines, refunds }, act)
})

const lotOf = ({ lot }: Subscription) => {
  if (lot === null) throw new Error("a priced order has a lot")
  return lot
}

/** Argument of withdrawal and release: the allocation and the cash request that end with the order. */
const endingOf = ({ allocation, intentCid }: Subscription) => ({
  allocationCid: allocation?.cid ?? null,
  intentCid
})

/** Command that releases the lot, or the delivered lot with its mint request, whose units are not minted. */
const releasing = (self: Subscription) =>
  self.deliveredLotCid === null
    ? exercise(Lot, lotOf(self).cid, "Release", endingOf(self))
    : exercise(DeliveredLot, self.deliveredLotCid, "Release", {
        mintRequestCid: self.mintRequestCid
      })

const delivery = Effect.fnUntraced(function* (
  self: Subscription,
  { admission, instrument }: SubscriptionContext
) {
  const credentialCid = contractOf(admission?.credentialCid ?? null, "credential")
  if (self.deliveredLotCid !== null) {
    const argument = { credentialCid, executeBefore: null }
    return exercise(DeliveredLot, self.deliveredLotCid, "Redeliver", argument)
  }
  const market = yield* marketOf(self)
  return exercise(Lot, lotOf(self).cid, "Deliver", {
    marketCid: market?.marketCid ?? null,
    credentialCid,
    configurationCid: configurationOf(instrument),
    executeBefore: null
  })
})

const refundedBy = Effect.fnUntraced(function* (refunds: ReadonlyArray<Cash.CashLine>) {
  const amount = Decimal.sum(refunds.map((line) => line.amount))
  return { amount, evidence: yield* digestOf(refunds) }
})

/** Command that closes a delivered order; the ledger keeps a digest of the bank lines as evidence. */
const close = Effect.fnUntraced(function* ({ self, cash, refunds }: JudgedSettlement) {
  const refunded = refunds.length === 0 ? null : yield* refundedBy(refunds)
  const owed = Decimal.subtract(Cash.unrefunded(self), refunded?.amount ?? Decimal.zero)
  return exercise(DeliveredLot, contractOf(self.deliveredLotCid, "delivered lot"), "Settle", {
    allocationCid: null,
    evidence: yield* digestOf([...self.cash.lines, ...cash]),
    refunded,
    owed: Decimal.isPositive(owed) ? owed : null
  })
})

/** Command that pays the refund of a closed order, or a part of it. */
const payBack = Effect.fnUntraced(function* ({ self, refunds }: JudgedSettlement) {
  const cid = contractOf(self.owedRefundCid, "owed refund")
  return exercise(OwedRefund, cid, "Pay", yield* refundedBy(refunds))
})

const exchange = ({ self, context: { admission, instrument }, market }: JudgedExchange) =>
  exercise(Lot, lotOf(self).cid, "Settle", {
    marketCid: contractOf(market?.marketCid ?? null, "market"),
    allocationCid: contractOf(self.allocation?.cid ?? null, "allocation"),
    credentialCid: contractOf(admission?.credentialCid ?? null, "credential"),
    configurationCid: configurationOf(instrument),
    intentCid: self.intentCid,
    refund: toPayBack(self)
  })

/** Records the bank lines of an act after the ledger has committed it, and returns the view. */
const matched = Effect.fnUntraced(function* (
  subscriptionId: string,
  named: Cash.NamedLines,
  act: OperationAct
) {
  const records = yield* Records
  const order = orderOf(subscriptionId)
  const { cash, refunds } = yield* consumeReserved(order, named, act)
  let self = yield* reload(subscriptions, subscriptionId)
  if (cash.length > 0) {
    self = yield* records.append(subscriptions, self, { on: "match", lines: cash }, act)
  }
  if (refunds.length > 0) {
    self = yield* records.append(subscriptions, self, { on: "match-refund", lines: refunds }, act)
  }
  // A delivered order may still take the rest of its cash, and a closed one that of its refund.
  if (Machine.isTerminal(SubscriptionMachine, self.state) && !owesRefund(self)) {
    yield* releaseReserved(order, ["reserved"], act)
  }
  return yield* viewOf(self, act)
})
