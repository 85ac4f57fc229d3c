/** What the venue may do with an order that stands: withdraw, deliver, settle or release it. */
import { Effect, Schema } from "effect"
import { configurationOf } from "../../instruments/instrument/Instrument.ts"
import { judge } from "../../kernel/Gates.ts"
import * as PlainJson from "../../kernel/PlainJson.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { DeliveredLot, Lot, SubscriptionClaim } from "../../templates/Market.ts"
import { exercise } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import * as Timely from "../../writes/Timely.ts"
import * as Cash from "./CashLine.ts"
import { type Subscription, SubscriptionId, subscriptions } from "./Subscription.ts"
import { take } from "./CashOperations.ts"
import { claim } from "./ClaimOperations.ts"
import { decide } from "./SubscriptionMachine.ts"
import {
  type Closing,
  delivering,
  type Exchanging,
  load,
  type Standing,
  settling
} from "./SubscriptionJudgingReads.ts"
import { marketOf } from "./SubscriptionStandingReads.ts"
import * as SubscriptionView from "./SubscriptionView.ts"

const One = Schema.Struct({ subscriptionId: SubscriptionId })

/** With the bank lines that paid it; for an order paid on the ledger there are none. */
const Paid = Schema.Struct({
  subscriptionId: SubscriptionId,
  cash: Cash.CashLines.pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
})

type Named = typeof One.Type

const resource = {
  kind: "subscription",
  id: ({ subscriptionId }: Named) => subscriptionId,
  href: ({ subscriptionId }: Named) => `/v1/subscriptions/${subscriptionId}`
} as const

export const withdraw = Operation.defineOnLedger("subscription.withdraw", {
  doc: "Takes an order back before it is priced.",
  route: "POST /v1/subscriptions/{subscriptionId}:withdraw",
  makers: ["operator", "app"],
  approvers: 0,
  resource,
  input: One,
  result: SubscriptionView.SubscriptionView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  plan: Effect.fn("subscription.withdraw.plan")(function* ({ subscriptionId }) {
    const self = yield* load(subscriptionId)
    yield* Effect.fromResult(decide(self, { on: "withdraw" }))
    const argument = letGo(self)
    const cid = standing(self.claimCid, "claim")
    return { commands: [exercise(SubscriptionClaim, cid, "Withdraw", argument)], last: true }
  }),
  finish: ({ subscriptionId }, act) => shown(subscriptionId, act)
})

export const release = Operation.defineOnLedger("subscription.release", {
  doc: "Lets a priced order go undelivered; cash allocated to it goes back.",
  route: "POST /v1/subscriptions/{subscriptionId}:release",
  makers: ["operator"],
  approvers: 0,
  resource,
  input: One,
  result: SubscriptionView.SubscriptionView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  plan: Effect.fn("subscription.release.plan")(function* ({ subscriptionId }) {
    const self = yield* load(subscriptionId)
    yield* Effect.fromResult(decide(self, { on: "release" }))
    return { commands: [exercise(Lot, lotOf(self).cid, "Release", letGo(self))], last: true }
  }),
  finish: ({ subscriptionId }, act) => shown(subscriptionId, act)
})

export const deliver = Operation.defineOnLedger("subscription.deliver", {
  doc: "Has a wire-paid order's units minted: by the market where one is agreed, else on request.",
  route: "POST /v1/subscriptions/{subscriptionId}:deliver",
  makers: ["operator"],
  approvers: 0,
  resource,
  input: Paid,
  result: SubscriptionView.SubscriptionView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  gates: (input, act) => Effect.map(delivering(input, act), ({ rows }) => rows),
  plan: Effect.fn("subscription.deliver.plan")(function* (input, act) {
    const { self, standing, lines, rows } = yield* delivering(input, act)
    yield* Effect.fromResult(judge(rows))
    yield* take(lines, act)
    return { commands: [yield* delivery(self, standing)], last: true }
  }),
  finish: ({ subscriptionId, cash }, act) => matched(subscriptionId, cash, act)
})

export const settle = Operation.defineOnLedger("subscription.settle", {
  doc: "Closes a delivered order whose cash is in; a ledger-paid one is paid, minted and closed in one.",
  route: "POST /v1/subscriptions/{subscriptionId}:settle",
  makers: ["operator"],
  approvers: 0,
  resource,
  input: Paid,
  result: SubscriptionView.SubscriptionView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  gates: (input, act) => Effect.map(settling(input, act), ({ rows }) => rows),
  plan: Effect.fn("subscription.settle.plan")(function* (input, act) {
    const acting = yield* settling(input, act)
    yield* Effect.fromResult(judge(acting.rows))
    if (acting.on === "exchange") return { commands: [exchange(acting)], last: true }
    yield* take(acting.lines, act)
    return { commands: [yield* close(acting)], last: true }
  }),
  finish: ({ subscriptionId, cash }, act) => matched(subscriptionId, cash, act)
})

export const operations = [claim, withdraw, deliver, settle, release] as const

/**
 * Cash that is allocated is locked, so the wait for it ends: the engine lets go what has not settled
 * by its time (domain.md section 2.12). An order in a cycle goes with its cycle.
 */
export const timely = [
  Timely.define({
    name: "subscription.release",
    doc: "Releases a priced, ledger-paid subscription that has not settled by its time to.",
    collection: subscriptions,
    operation: release,
    at: ({ state, payment, cycleId, settleBy }) =>
      state === "priced" && payment === "ledger" && cycleId === null
        ? (settleBy ?? undefined)
        : undefined,
    request: ({ subscriptionId }) => ({ subscriptionId })
  })
] as const

const standing = (cid: string | null, what: string): string => {
  if (cid === null) throw new Error(`an order in this state stands on a ${what}`)
  return cid
}

const lotOf = ({ lot }: Subscription) => {
  if (lot === null) throw new Error("a priced order has a lot")
  return lot
}

const letGo = ({ allocation, intentCid }: Subscription) => ({
  allocationCid: allocation?.cid ?? null,
  intentCid
})

const delivery = Effect.fnUntraced(function* (
  self: Subscription,
  { admission, instrument }: Standing
) {
  if (self.deliveredLotCid !== null) {
    return exercise(DeliveredLot, self.deliveredLotCid, "Redeliver", { executeBefore: null })
  }
  const market = yield* marketOf(self)
  return exercise(Lot, lotOf(self).cid, "Deliver", {
    marketCid: market?.marketCid ?? null,
    credentialCid: admission?.credentialCid ?? null,
    configurationCid: configurationOf(instrument),
    executeBefore: null
  })
})

/** The cash of a delivered order is in: what shows it outside the ledger goes there as a digest. */
const close = Effect.fnUntraced(function* ({ self, lines }: Closing) {
  const crypto = yield* Crypto
  const known = Schema.encodeSync(Cash.CashLines)([...self.cash.lines, ...lines.cash])
  return exercise(DeliveredLot, standing(self.deliveredLotCid, "delivered lot"), "Settle", {
    allocationCid: null,
    evidence: crypto.sha256(PlainJson.canonical(known))
  })
})

const exchange = ({ self, standing: { admission, instrument }, market }: Exchanging) =>
  exercise(Lot, lotOf(self).cid, "Settle", {
    marketCid: standing(market?.marketCid ?? null, "market"),
    allocationCid: standing(self.allocation?.cid ?? null, "allocation"),
    credentialCid: standing(admission?.credentialCid ?? null, "credential"),
    configurationCid: configurationOf(instrument),
    intentCid: self.intentCid
  })

/** The lines join the record once the ledger has moved it. */
const matched = Effect.fnUntraced(function* (
  subscriptionId: string,
  lines: ReadonlyArray<Cash.CashLine>,
  act: OperationAct
) {
  const records = yield* Records
  const self = yield* read(subscriptionId)
  const after =
    lines.length === 0
      ? self
      : yield* records.record(subscriptions, self, { on: "match", lines }, act)
  return SubscriptionView.of(after, act.now)
})

const shown = (subscriptionId: string, act: OperationAct) =>
  Effect.map(read(subscriptionId), (record) => SubscriptionView.of(record, act.now))

const read = (subscriptionId: string): Effect.Effect<Stored<Subscription>, Unavailable, Records> =>
  Effect.catchTag(load(subscriptionId), "Refused", () =>
    Effect.die(new Error(`subscription ${subscriptionId} vanished`))
  )
