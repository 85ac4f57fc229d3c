/** Write that claims a subscription: its conditions, and its claim contract. */
import { Effect, Option, Schema } from "effect"
import { latest } from "../../admissions/AdmissionLookups.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Party from "../../kernel/Party.ts"
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
import * as Currency from "../../kernel/Currency.ts"
import { dayPriceOf } from "../DayPriceLookups.ts"
import * as OrderClaimSteps from "../order/OrderClaimSteps.ts"
import * as OrderClaim from "../OrderClaim.ts"
import { dealingDays, idOf as dayOf } from "../dealing-cycle/DealingDay.ts"
import { lastPriceOf } from "../order/LastPriceLookups.ts"
import * as Rebasing from "../RebasingRules.ts"
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

export const claim = Operation.defineOnLedger("subscription.claim", {
  ...OrderClaimSteps.declaration({
    kind: "subscription",
    orders: subscriptions,
    idOf: ({ subscriptionId }: Claim) => subscriptionId,
    passing: "order-in",
    view: SubscriptionView.of,
    judged: (input, loaded) => judged(input, loaded),
    byWire: ({ amount, attesting, units }, subscriptionId, fields) =>
      create(SubscriptionClaim, {
        ...fields,
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
      }),
    onLedger: (judgedClaim, subscriptionId, { argument, marketCid }) =>
      exercise(PrimaryMarketTemplate, marketCid, "ClaimSubscription", {
        ...argument,
        subscriptionId,
        ...duesOf(judgedClaim)
      })
  }),
  doc: "Places a holder's order for units, by the cash it spends or by the units it buys.",
  route: "POST /v1/subscriptions",
  input: Claim,
  complete: (input, makeId) =>
    input.subscriptionId === null
      ? { ...input, subscriptionId: Schema.decodeSync(SubscriptionId)(makeId()) }
      : input,
  lasts: Lasting.whileIn(subscriptions, ({ subscriptionId }) => [subscriptionId ?? ""], [
    "claimed",
    "priced",
    "delivered"
  ]),
  result: SubscriptionView.SubscriptionView
})

const judged = Effect.fnUntraced(function* (input: Claim, loaded: OrderClaimSteps.LoadedClaim) {
  const attesting = Rules.attestingOf(loaded.instrument, loaded.market)
  const claiming: Gates.ClaimContext = {
    ...loaded,
    admission: yield* latest(input),
    ...(yield* estimateOf(loaded, attesting.oracle)),
    attestors: attesting.parties
  }
  const ofFeed = yield* NavFeedLookups.againstClaim(loaded, attesting.oracle, loaded.now)
  const rows = Gates.againstClaim(claiming, [...loaded.ofOrder, ofFeed])
  return { ...loaded, attesting, rows }
})

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
