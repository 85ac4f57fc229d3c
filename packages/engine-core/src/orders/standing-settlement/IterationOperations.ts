/** Write of an iteration of a standing settlement: settles orders together from the commitments of their parties. */
import { Effect, Schema, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { admissions, pairOf } from "../../admissions/Admission.ts"
import { type Holder, holders } from "../../holders/holder/Holder.ts"
import { configurationOf, instruments } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import { judge } from "../../kernel/Gates.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import { StandingSettlement as Template } from "../../templates/Standing.ts"
import { exercise } from "../../templates/Template.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, count, sentence } from "../../writes/Summary.ts"
import { controlsOf } from "../order/ControlLookups.ts"
import { asServed } from "../order/AllocationRules.ts"
import { RedemptionId, redemptions } from "../redemption/Redemption.ts"
import {
  type Subscription,
  SubscriptionId,
  subscriptions,
  toPayBack
} from "../subscription/Subscription.ts"
import { liveMarket } from "../primary-market/PrimaryMarketLookups.ts"
import * as Gates from "./IterationGates.ts"
import { type StandingSettlement, StandingSettlementId, decide } from "./StandingSettlement.ts"
import { concernsOf, contractOf, load, shown } from "./StandingSettlementSteps.ts"
import * as Queries from "./StandingSettlementQueries.ts"

/** Largest number of orders of a kind in one iteration. */
const ordersMax = 500

const ids = <S extends Schema.Constraint>(id: S) =>
  Schema.Array(id)
    .check(
      Schema.isMaxLength(ordersMax),
      Schema.isUnique({ expected: "orders that do not repeat" })
    )
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))

const Iteration = Schema.Struct({
  standingSettlementId: StandingSettlementId,
  subscriptions: ids(SubscriptionId),
  redemptions: ids(RedemptionId)
}).check(
  Schema.makeFilter((iteration) =>
    iteration.subscriptions.length + iteration.redemptions.length > 0
      ? undefined
      : "at least one order"
  )
)
type Iteration = typeof Iteration.Type

export const settle = Operation.defineOnLedger("standing-settlement.settle", {
  doc: "Settles priced orders together, out of what their parties committed.",
  summary: ({ redemptions = [], subscriptions = [] }, subject) =>
    sentence`Settles ${count(subscriptions.length, "subscription")} and ${count(redemptions.length, "redemption")} by standing settlement ${subject.resource.id}${concerning({ instrumentId: subject.instrumentId })}.`,
  route: "POST /v1/standing-settlements/{standingSettlementId}:settle",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "standing-settlement",
    id: ({ standingSettlementId }) => standingSettlementId,
    href: ({ standingSettlementId }) => `/v1/standing-settlements/${standingSettlementId}`,
    concerns: ({ standingSettlementId }) => concernsOf(standingSettlementId)
  },
  input: Iteration,
  result: Queries.StandingSettlementView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  gates: (input, act) => Effect.map(iterating(input, act), ({ rows }) => rows),
  plan: Effect.fn("standing-settlement.settle.plan")(function* (input, act) {
    const { iteration, rows } = yield* iterating(input, act)
    yield* Effect.fromResult(judge(rows))
    // The requests end last: an order that is still open would show that nobody is asked for its cash.
    return { commands: [iterated(iteration), ...requestsOf(iteration)], last: true }
  }),
  finish: ({ standingSettlementId }) => shown(standingSettlementId)
})

/** Loads and checks an iteration: first the settlement's state, which is no gate, then the rows. */
const iterating = Effect.fnUntraced(function* (input: Iteration, { now }: OperationAct) {
  const self = yield* load(input.standingSettlementId)
  yield* Effect.fromResult(decide(self, "settle"))
  const { inputsMax } = yield* Settings
  const { redemptions: sold, subscriptions: bought, ...found } = yield* assembled(self, input)
  const terms = yield* inForce(found.instrument, now)
  const fed = { instrumentId: self.instrumentId, terms }
  const iteration = {
    ...found,
    subscriptions: bought.map((order) => asServed(order, now)),
    redemptions: sold.map((order) => asServed(order, now)),
    self,
    feed: yield* NavFeedLookups.verdictOnOrders(fed, [...bought, ...sold], now),
    inputsMax,
    now
  }
  return { iteration, rows: Gates.againstIteration(iteration) }
})

/** Loads the records that an iteration is checked against, with one look-up for each kind of record. */
const assembled = Effect.fnUntraced(function* (self: StandingSettlement, input: Iteration) {
  const records = yield* Records
  const { instrumentId } = self
  const instrument = yield* Effect.fromResult(
    recorded(yield* records.get(instruments, instrumentId))
  )
  const bought = yield* records.many(subscriptions, input.subscriptions)
  const sold = yield* records.many(redemptions, input.redemptions)
  if (bought.length < input.subscriptions.length || sold.length < input.redemptions.length) {
    return yield* Effect.fail(refused("not-found", { detail: "One of the orders does not exist." }))
  }
  const holderIds = [...new Set([...bought, ...sold].map(({ holderId }) => holderId))]
  const found = yield* records.many(holders, holderIds)
  const pair = holderIds.map((holderId) => pairOf({ holderId, instrumentId }))
  const admitted = yield* Stream.runCollect(
    records.stream(admissions, { where: { pair, state: ["admitted"] } })
  )
  return {
    ...(yield* controlsOf({ instrumentId, holderIds })),
    instrument,
    market: yield* marketOf(self, bought),
    subscriptions: bought,
    redemptions: sold,
    holders: new Map(found.map((holder): [string, Stored<Holder>] => [holder.holderId, holder])),
    admissions: new Map(admitted.map(({ record }) => [record.holderId, record]))
  }
})

/** Finds the live market that priced all of the orders; null: none. */
const marketOf = (self: StandingSettlement, bought: ReadonlyArray<Subscription>) =>
  liveMarket(
    self.instrumentId,
    ({ fund, paymentAsset, terms }) =>
      fund === self.fund &&
      paymentAsset.admin === self.paymentAsset.admin &&
      paymentAsset.id === self.paymentAsset.id &&
      bought.every(
        ({ attestors }) =>
          attestors.length >= terms.required &&
          attestors.every(({ party }) => terms.attestors.includes(party))
      )
  )

const iterated = (iteration: Gates.IterationContext) => {
  const { self, instrument, market, subscriptions: bought, redemptions: sold } = iteration
  return exercise(Template, contractOf(self), "Settle", {
    marketCid: required(market?.marketCid),
    commitments: Gates.drawnOn(iteration),
    lots: bought.map((order) => ({
      lotCid: required(order.lot?.cid),
      due: required(order.cash.expected),
      credentialCid: required(iteration.admissions.get(order.holderId)?.credentialCid),
      configurationCid: configurationOf(instrument),
      refund: toPayBack(order)
    })),
    redemptions: sold.map((order) => ({
      redemptionCid: required(order.pricedCid),
      unitsAllocationCid: order.unitsAllocation?.cid ?? null
    }))
  })
}

/**
 * Commands that complete the venue's requests for the orders' cash: the commitments pay in their place, and a
 * wallet that still shows a request would set cash aside for an order that is closed.
 */
const requestsOf = (iteration: Gates.IterationContext) =>
  [...iteration.subscriptions, ...iteration.redemptions].flatMap(({ intentCid }) =>
    intentCid === null ? [] : [exercise(SettlementIntent, intentCid, "Complete", {})]
  )

/** Returns a member that a checked order has; throws if it is absent. */
const required = <A>(member: A | null | undefined): A => {
  if (member === null || member === undefined) {
    throw new Error("an order that passed its gates has all contracts")
  }
  return member
}
