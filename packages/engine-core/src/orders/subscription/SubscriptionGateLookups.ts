/** Look-ups of the records that delivering and settling a subscription are checked against. */
import { Effect } from "effect"
import { latest } from "../../admissions/AdmissionLookups.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import type * as Instant from "../../kernel/Instant.ts"
import { followed } from "../../restraints/restriction/SuccessorRestrictionLookups.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import { controlsOf } from "../order/ControlLookups.ts"
import { againstSettleBy, asServed } from "../order/AllocationRules.ts"
import { againstApart } from "../dealing-cycle/OpenCycleLookups.ts"
import { isPaidUnder, subjectOf } from "../order/OrderSubjectLookups.ts"
import { liveMarket } from "../primary-market/PrimaryMarketLookups.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import type * as Cash from "../order/CashLine.ts"
import { lessReversed, type ReversedCash, reversedCashOf } from "../order/CashReversalSteps.ts"
import { named } from "../order/CashSteps.ts"
import {
  owesRefund,
  type Subscription,
  subscriptions,
  objections,
  SubscriptionMachine
} from "./Subscription.ts"
import * as Gates from "./SubscriptionGates.ts"

/** Input of a delivery: the order, and the bank lines named as its cash. */
interface DeliveryInput extends Pick<Cash.NamedLines, "cash"> {
  readonly subscriptionId: string
}

/** Input of a settlement: also the bank lines named as its refund. */
type SettlementInput = DeliveryInput & Cash.NamedLines

const contextOf = Effect.fnUntraced(function* (self: Subscription, now: Instant.Instant) {
  return { ...(yield* subjectOf(self, now)), admission: yield* latest(self) }
})
export type SubscriptionContext = Effect.Success<ReturnType<typeof contextOf>>

/**
 * Finds the live market that mints an order's units: the one whose attestors priced the order, also past
 * its date, since orders claimed while it was agreed settle under it. Null: the registrar is asked to
 * mint.
 */
export const marketOf = (self: Subscription) =>
  liveMarket(self.instrumentId, (market) => isMintedUnder(self, market))

const isMintedUnder = (self: Subscription, market: PrimaryMarket): boolean =>
  self.attestors.length >= market.terms.required &&
  self.attestors.every(({ party }) => market.terms.attestors.includes(party)) &&
  (self.payment === "wire" || isPaidUnder(self, market))

export const load = (subscriptionId: string) =>
  Effect.flatMap(Records, (records) => records.get(subscriptions, subscriptionId))

const linesOf = (self: Subscription, namedLines: Cash.NamedLines) =>
  named({ ...self, kind: "subscription", orderId: self.subscriptionId }, namedLines)

/** Finds the order's cash that its bank took back; of a closed order nothing is judged by it any more. */
const reversedOf = (self: Subscription) =>
  self.payment === "wire" && self.state !== "closed"
    ? reversedCashOf({ kind: "subscription", orderId: self.subscriptionId })
    : Effect.succeed<ReversedCash>({ takings: [], lines: [] })

/**
 * Loads and checks a delivery: first the order's state, which is no gate, then the rows. The policy
 * in force now decides whether units may be delivered before the cash is received: that is the
 * venue's risk, so a policy that forbids it also stops orders that were claimed while it was
 * allowed.
 */
export const delivering = Effect.fnUntraced(function* (
  paying: DeliveryInput,
  { now }: OperationAct
) {
  const self = yield* load(paying.subscriptionId)
  yield* Effect.fromResult(Machine.admit(SubscriptionMachine, self, "deliver"))
  const context = yield* contextOf(self, now)
  const lines = yield* linesOf(self, { cash: paying.cash, refunds: [] })
  const reversed = yield* reversedOf(self)
  const terms = yield* inForce(context.instrument, now)
  const deliverBeforeCash = terms.deliverBeforeCash ? "allowed" : "never"
  const paid = { ...self, cash: lessReversed(self.cash, reversed) }
  const ofOrder = objections(paid, { on: "deliver", cash: paying.cash, deliverBeforeCash })
  const ofFeed = yield* NavFeedLookups.againstOrder({ ...context, terms }, self, now)
  const rows = Gates.againstUnits(context, [...ofOrder, ofFeed, ...lines.rows])
  return { self, context, lines, reversed, rows }
})

/**
 * Loads and checks a settlement: it closes a wire-paid order, and pays, mints and closes a
 * ledger-paid order in one transaction. A closed order that still owes its refund settles only by
 * the bank lines that paid the refund.
 */
export const settling = Effect.fnUntraced(function* (
  paying: SettlementInput,
  { now }: OperationAct
) {
  const self = yield* load(paying.subscriptionId)
  if (owesRefund(self) && paying.refunds.length > 0) return yield* closing(self, paying)
  const on = self.payment === "ledger" ? "exchange" : "settle"
  yield* Effect.fromResult(Machine.admit(SubscriptionMachine, self, on))
  return yield* on === "exchange" ? exchanging(self, paying, now) : closing(self, paying)
})

const closing = Effect.fnUntraced(function* (self: Stored<Subscription>, paying: SettlementInput) {
  const { cash, refunds } = paying
  const { holds } = yield* controlsOf({ instrumentId: self.instrumentId, holderIds: [] })
  const lines = yield* linesOf(self, paying)
  const reversed = yield* reversedOf(self)
  const paid = { ...self, cash: lessReversed(self.cash, reversed) }
  const ofOrder = [...objections(paid, { on: "settle", cash, refunds }), ...lines.rows]
  const rows =
    refunds.length === 0
      ? Gates.againstClosing({ holds }, ofOrder)
      : Gates.againstRefund(self, { holds, restrictions: yield* followed(self) }, ofOrder)
  return { on: "settle" as const, self, lines, reversed, cash, refunds, rows }
})
export type JudgedSettlement = Effect.Success<ReturnType<typeof closing>>

const exchanging = Effect.fnUntraced(function* (
  self: Subscription,
  { cash, refunds }: SettlementInput,
  now: Instant.Instant
) {
  const context = yield* contextOf(self, now)
  const market = yield* marketOf(self)
  const terms = yield* inForce(context.instrument, now)
  const rows = Gates.againstUnits(context, [
    ...objections(asServed(self, now), { on: "exchange", cash, refunds }),
    againstSettleBy(self, now),
    yield* againstApart(self),
    yield* NavFeedLookups.againstOrder({ ...context, terms }, self, now),
    Gates.againstMarketEnd(market)
  ])
  return { on: "exchange" as const, self, context, market, rows }
})
export type JudgedExchange = Effect.Success<ReturnType<typeof exchanging>>
