/** Write that claims a subscription: its conditions, and its claim contract. */
import { Effect, Option, Schema } from "effect"
import { latest } from "../../admissions/AdmissionLookups.ts"
import { isRecorded } from "../../instruments/instrument/Instrument.ts"
import { notRecorded } from "../../instruments/instrument/InstrumentGates.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import type * as Party from "../../kernel/Party.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import * as Field from "../../templates/Field.ts"
import {
  PrimaryMarket as PrimaryMarketTemplate,
  SubscriptionClaim
} from "../../templates/Market.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, sentence } from "../../writes/Summary.ts"
import * as Currency from "../../kernel/Currency.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { dayPriceOf } from "../order/DayPriceLookups.ts"
import * as OrderClaimSteps from "../order/OrderClaimSteps.ts"
import * as OrderClaim from "../order/OrderClaim.ts"
import { join } from "../dealing-cycle/JoiningSteps.ts"
import { dealingDays, idOf as dayOf } from "../dealing-cycle/DealingDay.ts"
import { lastPriceOf } from "../order/LastPriceLookups.ts"
import { shownAfter } from "../order/OrderSteps.ts"
import * as Rebasing from "../order/RebasingRules.ts"
import { SubscriptionId, subscriptions } from "./Subscription.ts"
import * as Gates from "./SubscriptionGates.ts"
import * as Rules from "./SubscriptionRules.ts"
import * as SubscriptionView from "./SubscriptionView.ts"

const Claim = Schema.Struct({
  /** Id of the subscription; the engine makes one when the caller names none. */
  subscriptionId: Field.optional(SubscriptionId),
  ...OrderClaim.fields
}).check(OrderClaim.isWhole)
type Claim = typeof Claim.Type

const idOf = ({ subscriptionId }: Pick<Claim, "subscriptionId">) =>
  RecordId.made(subscriptionId, "a subscription")

export const claim = Operation.defineOnLedger("subscription.claim", {
  ...OrderClaimSteps.sharedDeclaration,
  doc: "Places a holder's order for units, by the cash it spends or by the units it buys.",
  summary: (request, subject) =>
    sentence`Places subscription ${subject.resource.id}${concerning(subject)}${OrderClaim.sizeOf(request)}.`,
  route: "POST /v1/subscriptions",
  input: Claim,
  resource: {
    kind: "subscription",
    id: idOf,
    href: (input) => `/v1/subscriptions/${idOf(input)}`,
    instrumentId: ({ instrumentId }) => instrumentId,
    holderId: ({ holderId }) => holderId
  },
  complete: (input, makeId) =>
    input.subscriptionId === null
      ? { ...input, subscriptionId: Schema.decodeSync(SubscriptionId)(makeId()) }
      : input,
  gates: Effect.fn("subscription.claim.gates")(function* (input, act) {
    const subject = yield* subjectOf(input)
    if (!isRecorded(subject.instrument)) return [...subject.ofControls, notRecorded]
    return (yield* judged(input, subject, act)).rows
  }),
  plan: Effect.fn("subscription.claim.plan")(function* (input, act) {
    const order = yield* judged(input, yield* subjectOf(input), act)
    yield* Effect.fromResult(judge(order.rows))
    const { cycleId } = order
    if (cycleId !== null) yield* join(cycleId, { kind: "subscriptions", orderId: idOf(input) }, act)
    return { commands: commandsOf(order, input, act), last: true }
  }),
  finish: (input, act) => shown(idOf(input), act),
  lasts: Lasting.whileIn(subscriptions, ({ subscriptionId }) => [subscriptionId ?? ""], [
    "claimed",
    "priced",
    "delivered"
  ]),
  result: SubscriptionView.SubscriptionView
})

const shown = shownAfter(subscriptions, SubscriptionView.of)

const subjectOf = (input: Claim) =>
  OrderClaimSteps.subjectOf(input, {
    id: input.subscriptionId,
    orders: subscriptions,
    passing: "order-in"
  })

/** Loads the records that a subscription is checked against, and makes one row for each check. */
const judged = Effect.fnUntraced(function* (
  input: Claim,
  subject: OrderClaimSteps.Subject,
  act: OperationAct
) {
  const loaded = yield* OrderClaimSteps.load("subscription", input, subject, act)
  const attesting = Rules.attestingOf(loaded.instrument, loaded.market)
  const admission = yield* latest(input)
  const estimate = yield* estimateOf(loaded, attesting.oracle)
  const ofFeed = yield* NavFeedLookups.againstClaim(loaded, attesting.oracle, loaded.now)
  const rows = Gates.againstClaim(
    { ...loaded, admission, ...estimate, attestors: attesting.parties },
    [...loaded.ofOrder, ofFeed]
  )
  return { ...loaded, attesting, rows }
})
type JudgedClaim = Effect.Success<ReturnType<typeof judged>>

/** Commands of a claim that has passed its gates: its contract, and the request of its cash. */
const commandsOf = (
  order: JudgedClaim,
  input: Claim,
  act: OperationAct
): Operation.Plan["commands"] => {
  const subscriptionId = idOf(input)
  const { amount, attesting, holder, units } = order
  const signed = OrderClaimSteps.signedOf(order)
  if (signed === null) {
    const claimed = create(SubscriptionClaim, {
      ...OrderClaimSteps.wireFields(order, act),
      subscriptionId,
      cash: amount,
      feeRate: null,
      cashDecimals: null,
      oracle: attesting.oracle,
      orderedUnits: units,
      attestors: attesting.parties,
      required: attesting.required,
      attested: [],
      pointCid: null,
      price: null,
      units: null
    })
    return [claimed]
  }
  const { market } = signed
  const claimed = exercise(PrimaryMarketTemplate, market.marketCid, "ClaimSubscription", {
    ...OrderClaimSteps.marketArgument(order, signed),
    subscriptionId,
    ...duesOf(order)
  })
  const reference = { kind: "subscription", id: subscriptionId } as const
  const payment = { reference, sender: holder.party, receiver: market.fund }
  return [claimed, ...OrderClaimSteps.allocationRequest(order, signed, payment, act)]
}

/**
 * Estimates the cash that an order costs and the units that it buys, at the oracle's latest price; null
 * without a price. Once the first order of a dealing day is priced, the day's swing applies to every
 * order of that day. An amount that is all fee buys nothing at any price.
 */
const estimateOf = Effect.fnUntraced(function* (
  { amount, cashDecimals, cutOffAt, instrument, now, terms, units }: OrderClaimSteps.LoadedClaim,
  oracle: Party.Party | null
) {
  const { residual, unitDecimals } = terms.manifest
  const feeRate = terms.fees.subscription
  const isAllFee =
    amount !== null && Decimal.atLeast(Rules.feeOf(amount, { feeRate, cashDecimals }), amount)
  const lastPrice = isAllFee ? null : yield* lastPriceOf(instrument, oracle, now)
  if (lastPrice === null) {
    return { worth: amount, buys: isAllFee ? Decimal.zero : units, moves: null }
  }
  const day = { ...instrument, cutOffAt }
  const published = (yield* hasDealt(day))
    ? yield* dayPriceOf(day, lastPrice, { instrument, now })
    : lastPrice
  const { index, price } = Rebasing.dealtAt(Rebasing.isRebasing(terms.manifest), published)
  const dealing = { price, feeRate, unitDecimals, cashDecimals, residual }
  const buys = amount === null ? units : Rules.byAmount(amount, dealing).units
  return {
    worth: amount ?? (units === null ? null : Rules.byUnits(units, dealing).due),
    buys,
    moves: buys === null ? null : Rebasing.baseOf(buys, index)
  }
})

const hasDealt = Effect.fnUntraced(function* (dealingDay: Parameters<typeof dayOf>[0]) {
  const records = yield* Records
  const day = Option.getOrNull(yield* records.find(dealingDays, dayOf(dealingDay)))
  return day !== null && day.dealt !== null
})

/** Terms that the ledger needs to compute the cash of an order in units; an order by amount needs none. */
const duesOf = ({ order, terms: { fees, manifest } }: OrderClaimSteps.LoadedClaim) =>
  order === null || order.units === null
    ? { feeRate: null, cashDecimals: null }
    : { feeRate: fees.subscription, cashDecimals: Currency.decimals(manifest.currency) }
