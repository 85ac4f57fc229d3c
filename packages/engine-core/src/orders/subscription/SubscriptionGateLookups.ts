/** Look-ups of everything that delivering and settling a subscription is judged by. */
import { Effect } from "effect"
import { latest } from "../../admissions/AdmissionLookups.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { controlsOf } from "../ControlLookups.ts"
import { againstSettleBy, asServed } from "../AllocationRules.ts"
import { againstApart } from "../dealing-cycle/OpenCycleLookups.ts"
import { isPaidUnder, subjectOf } from "../order/OrderSubjectLookups.ts"
import { liveMarket } from "../primary-market/PrimaryMarketLookups.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import type * as Cash from "../order/CashLine.ts"
import { named } from "../order/CashSteps.ts"
import { owesRefund, type Subscription, subscriptions } from "./Subscription.ts"
import * as Gates from "./SubscriptionGates.ts"
import { objections, SubscriptionMachine } from "./SubscriptionMachine.ts"

/** An order, and the bank lines that are named as its cash. */
interface Paying extends Pick<Cash.Named, "cash"> {
  readonly subscriptionId: string
}

/** The same, with those that are named as its refund. */
type Settling = Paying & Cash.Named

const standingOf = Effect.fnUntraced(function* (self: Subscription, now: Instant.Instant) {
  return { ...(yield* subjectOf(self, now)), admission: yield* latest(self) }
})
export type Standing = Effect.Success<ReturnType<typeof standingOf>>

/**
 * The market an order mints under: one whose attestors priced it, agreed or past its date, for what
 * opened while it was agreed settles under it. Null: the registrar is asked to mint.
 */
export const marketOf = (self: Subscription) =>
  liveMarket(self.instrumentId, (market) => isMintedUnder(self, market))

const isMintedUnder = (self: Subscription, market: PrimaryMarket): boolean =>
  self.attestors.length >= market.terms.required &&
  self.attestors.every(({ party }) => market.terms.attestors.includes(party)) &&
  (self.payment === "wire" || isPaidUnder(self, market))

export const load = (subscriptionId: string) =>
  Effect.flatMap(Records, (records) => records.get(subscriptions, subscriptionId))

const linesOf = ({ subscriptionId: orderId, cash }: Paying) =>
  named({ kind: "subscription", orderId }, cash)

/**
 * Delivering: the order's state, which is no gate, then its rows. Whether units may go out before the
 * cash is in is said by the policy of today: it is the venue's risk, so a policy that forbids it stops
 * orders that were claimed while it was allowed.
 */
export const delivering = Effect.fnUntraced(function* (paying: Paying, { now }: OperationAct) {
  const self = yield* load(paying.subscriptionId)
  yield* Effect.fromResult(Machine.admit(SubscriptionMachine, self, "deliver"))
  const standing = yield* standingOf(self, now)
  const lines = yield* linesOf(paying)
  const terms = yield* inForce(standing.instrument, now)
  const deliverBeforeCash = terms.deliverBeforeCash ? "allowed" : "never"
  const own = objections(self, { on: "deliver", cash: paying.cash, deliverBeforeCash })
  const rows = Gates.againstUnits(standing, [...own, lines.against])
  return { self, standing, lines, rows }
})

/**
 * Settling: a wire-paid order is closed, a ledger-paid one is paid, minted and closed in one. A closed
 * one that still owes its refund is settled by the bank lines that paid it, and by nothing else.
 */
export const settling = Effect.fnUntraced(function* (paying: Settling, { now }: OperationAct) {
  const self = yield* load(paying.subscriptionId)
  if (owesRefund(self) && paying.refunds.length > 0) return yield* closing(self, paying)
  const on = self.payment === "ledger" ? "exchange" : "settle"
  yield* Effect.fromResult(Machine.admit(SubscriptionMachine, self, on))
  return yield* on === "exchange" ? exchanging(self, paying, now) : closing(self, paying)
})

const closing = Effect.fnUntraced(function* (self: Subscription, paying: Settling) {
  const { cash, refunds, subscriptionId } = paying
  const controls = yield* controlsOf({ instrumentId: self.instrumentId, holderIds: [] })
  const lines = yield* linesOf({ subscriptionId, cash: [...cash, ...refunds] })
  const own = objections(self, { on: "settle", cash, refunds })
  const rows = Gates.againstClosing(controls, [...own, lines.against])
  return { on: "settle" as const, self, lines, cash, refunds, rows }
})
export type Closing = Effect.Success<ReturnType<typeof closing>>

const exchanging = Effect.fnUntraced(function* (
  self: Subscription,
  { cash, refunds }: Settling,
  now: Instant.Instant
) {
  const standing = yield* standingOf(self, now)
  const market = yield* marketOf(self)
  const rows = Gates.againstUnits(standing, [
    ...objections(asServed(self, now), { on: "exchange", cash, refunds }),
    againstSettleBy(self, now),
    yield* againstApart(self),
    Gates.againstMarketEnd(market)
  ])
  return { on: "exchange" as const, self, standing, market, rows }
})
export type Exchanging = Effect.Success<ReturnType<typeof exchanging>>
