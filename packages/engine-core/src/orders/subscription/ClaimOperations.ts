/** Write that claims a subscription: its checks, and its ledger commands. */
import { Effect, Option, Schema } from "effect"
import { type Holder, holders } from "../../holders/holder/Holder.ts"
import { latest } from "../../admissions/admission/AdmissionOperations.ts"
import {
  assetOf,
  instruments,
  isRecorded,
  type Recorded
} from "../../instruments/instrument/Instrument.ts"
import { notRecorded, recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import type { Terms } from "../../instruments/policy/Policy.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import {
  PrimaryMarket as PrimaryMarketTemplate,
  SubscriptionClaim
} from "../../templates/Market.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import * as ControlGates from "../ControlGates.ts"
import { controlsOf } from "../ControlLookups.ts"
import * as Currency from "../../kernel/Currency.ts"
import { dayPriceOf } from "../DayPriceLookups.ts"
import * as OrderClaim from "../OrderClaim.ts"
import { isSized } from "../OrderSize.ts"
import { againstSigned, signedOrder } from "../SignedOrderLookups.ts"
import { dealingDays, idOf as dayOf } from "../dealing-cycle/DealingDay.ts"
import { joining } from "../dealing-cycle/OpenCycleLookups.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import { standing as standingMarket } from "../primary-market/PrimaryMarketOperations.ts"
import { lastPriceOf } from "../redemption/RedemptionLookups.ts"
import type { HolderOrder } from "./HolderOrder.ts"
import { SubscriptionId, subscriptions } from "./Subscription.ts"
import * as Gates from "./SubscriptionGates.ts"
import * as Rules from "./SubscriptionRules.ts"
import * as SubscriptionView from "./SubscriptionView.ts"

const Claim = Schema.Struct({
  /** Made by the engine when the caller names none. */
  subscriptionId: Field.optional(SubscriptionId),
  ...OrderClaim.fields
}).check(OrderClaim.isWhole)
type Claim = typeof Claim.Type

export const claim = Operation.defineOnLedger("subscription.claim", {
  doc: "Places a holder's order for units, by the cash it spends or by the units it buys.",
  route: "POST /v1/subscriptions",
  makers: ["operator", "app"],
  approvers: 0,
  resource: {
    kind: "subscription",
    id: (input) => idOf(input),
    href: (input) => `/v1/subscriptions/${idOf(input)}`,
    instrumentId: ({ instrumentId }) => instrumentId,
    holderId: ({ holderId }) => holderId
  },
  input: Claim,
  complete: (input, makeId) =>
    input.subscriptionId === null
      ? { ...input, subscriptionId: Schema.decodeSync(SubscriptionId)(makeId()) }
      : input,
  result: SubscriptionView.SubscriptionView,
  refuses: ["already-exists", "not-found", "rule-refused"],
  gates: Effect.fn("subscription.claim.gates")(function* (input, act) {
    const named = yield* namedBy(input)
    if (!isRecorded(named.found)) return [...named.before, notRecorded]
    return (yield* gathered(input, named, act)).rows
  }),
  plan: Effect.fn("subscription.claim.plan")(function* (input, act) {
    const judged = yield* gathered(input, yield* namedBy(input), act)
    yield* Effect.fromResult(judge(judged.rows))
    const { order, market, cutOffAt, cycle } = judged
    if (order === null || market === null) {
      return { commands: [byWire(input, judged, act)], last: true }
    }
    const cycleCid = cycle?.cycleCid ?? null
    const onMarket = { ...judged, market, cycleCid, settleBy: Rules.settleBy(cutOffAt) }
    return { commands: onLedger(input, order, onMarket, act), last: true }
  }),
  finish: (input, act) =>
    Effect.flatMap(Records, (records) => records.get(subscriptions, idOf(input))).pipe(
      Effect.catchTag("Refused", () =>
        Effect.die(new Error("a claim was not read off the ledger"))
      ),
      Effect.map((record) => SubscriptionView.of(record, act.now))
    )
})

const idOf = ({ subscriptionId }: Pick<Claim, "subscriptionId">): SubscriptionId => {
  if (subscriptionId === null) throw new Error("a subscription is claimed under an id")
  return subscriptionId
}

/** Whose claim it is, of what, and what is asked of it before any terms; its id is taken by nobody. */
const namedBy = Effect.fnUntraced(function* ({ holderId, instrumentId, subscriptionId }: Claim) {
  const records = yield* Records
  if (
    subscriptionId !== null &&
    Option.isSome(yield* records.find(subscriptions, subscriptionId))
  ) {
    return yield* Effect.fail(
      refused("already-exists", { detail: "A subscription of this id exists." })
    )
  }
  const holder = yield* records.get(holders, holderId)
  const found = yield* records.get(instruments, instrumentId)
  const controls = yield* controlsOf({ instrumentId, holderIds: [holderId] })
  const controlled = { holder, instrumentId, passing: "order-in" } as const
  return { holder, found, controls, before: ControlGates.against(controls, controlled) }
})

/** Everything a claim is judged by, as the records say it now, and one row a check. */
const gathered = Effect.fnUntraced(function* (
  input: Claim,
  { before, controls, found, holder }: Effect.Success<ReturnType<typeof namedBy>>,
  act: OperationAct
) {
  const { instrumentId, payment } = input
  const instrument = yield* Effect.fromResult(recorded(found, before))
  const terms = yield* inForce(instrument, act.now)
  const market = yield* agreedMarket(instrumentId)
  const order = yield* signedOrder("subscription", input, holder.party)
  const attesting = attestingOf(instrument, market)
  const ordered = order !== null && isSized(order) ? order : input
  const cutOffAt = Rules.nextCutOff(terms.cutOff, act.now).at
  const claiming: Gates.Claiming = {
    ...controls,
    instrument,
    holder,
    market,
    admission: yield* latest(input),
    payment,
    amount: ordered.amount,
    units: ordered.units,
    terms,
    ...(yield* comingOf(ordered, terms, { ...attesting, instrument, cutOffAt, now: act.now })),
    attestors: attesting.parties,
    cashDecimals: Currency.decimals(terms.manifest.currency),
    now: act.now
  }
  const joins =
    payment === "ledger" ? yield* joining({ instrumentId, cutOffAt }, "subscriptions") : null
  const judged = { instrument, terms, holder, market, order, cutOffAt, cycle: joins?.cycle ?? null }
  const own = [
    ...againstSigned(input, { ...judged, now: act.now }),
    ...(joins === null ? [] : [joins.against])
  ]
  return { ...judged, rows: Gates.againstClaim(claiming, own) }
})

const agreedMarket = (instrumentId: string) =>
  Effect.map(standingMarket(instrumentId), (market) => (market?.state === "agreed" ? market : null))

/**
 * Who attests the price: the market's attestors where one is agreed. Without a market nobody else
 * is named, so the instrument's oracle attests its own point, and the registrar mints on request.
 */
export const attestingOf = (
  { manifest }: Recorded,
  market: Pick<PrimaryMarket, "terms"> | null
): {
  readonly parties: ReadonlyArray<Party.Party>
  readonly required: number
  readonly oracle: Party.Party | null
} => {
  if (market !== null) {
    const { attestors: parties, required, oracle } = market.terms
    return { parties, required, oracle }
  }
  const { oracle } = manifest
  return { parties: oracle === null ? [] : [oracle], required: 1, oracle }
}

/** The cash that an order costs and the units that it buys; null where no price tells them yet. */
interface Coming {
  readonly worth: Decimal.Decimal | null
  readonly buys: Decimal.Decimal | null
}

/**
 * Computes cash and units of an order at the price it will get, or at its oracle's last price while its
 * own is to come. A day that has dealt swings its orders' price for all of them alike. An amount that its fee
 * takes whole buys nothing at any price.
 */
const comingOf = Effect.fnUntraced(function* (
  {
    amount,
    units
  }: { readonly amount: Decimal.Decimal | null; readonly units: Decimal.Decimal | null },
  { fees, manifest }: Terms,
  of: {
    readonly instrument: Recorded
    readonly oracle: Party.Party | null
    readonly cutOffAt: Instant.Instant
    readonly now: Instant.Instant
  }
) {
  const { cutOffAt, instrument, now, oracle } = of
  const feeRate = fees.subscription
  const { residual, unitDecimals } = manifest
  const cashDecimals = Currency.decimals(manifest.currency)
  const isEaten =
    amount !== null && Decimal.atLeast(Rules.feeOf(amount, { feeRate, cashDecimals }), amount)
  const last = isEaten ? null : yield* lastPriceOf(instrument, oracle)
  if (last === null || manifest.valuation === "rebasing") {
    return { worth: amount, buys: isEaten ? Decimal.zero : units } satisfies Coming
  }
  const day = { ...instrument, cutOffAt }
  const price = (yield* hasDealt(day)) ? yield* dayPriceOf(day, last, { instrument, now }) : last
  const dealing = { price, feeRate, unitDecimals, cashDecimals, residual }
  if (amount !== null) {
    return { worth: amount, buys: Rules.byAmount(amount, dealing).units } satisfies Coming
  }
  return {
    worth: units === null ? null : Rules.byUnits(units, dealing).due,
    buys: units
  } satisfies Coming
})

const hasDealt = Effect.fnUntraced(function* (of: Parameters<typeof dayOf>[0]) {
  const records = yield* Records
  const day = Option.getOrNull(yield* records.find(dealingDays, dayOf(of)))
  return day !== null && day.dealt !== null
})

interface Judged {
  readonly instrument: Recorded
  readonly terms: Terms
  readonly holder: Holder
  readonly market: PrimaryMarket | null
}

const byWire = (input: Claim, { instrument, terms, holder, market }: Judged, act: OperationAct) => {
  const { parties, required, oracle } = attestingOf(instrument, market)
  return create(SubscriptionClaim, {
    venue: act.venue,
    subscriptionId: idOf(input),
    orderId: null,
    instrument: assetOf(instrument),
    holder: holder.party,
    custodian: holder.custodian,
    fund: null,
    mode: "wire",
    currency: terms.manifest.currency,
    paymentAsset: null,
    cash: input.amount,
    feeRate: null,
    cashDecimals: null,
    oracle,
    cycleId: null,
    orderedUnits: input.units,
    attestors: parties,
    required,
    attested: [],
    pointCid: null,
    price: null,
    units: null
  })
}

/** What an order in units will cost beside its units' price; cash that is known needs no word of it. */
const duesOf = ({ units }: HolderOrder, { fees, manifest }: Terms) =>
  units === null
    ? { feeRate: null, cashDecimals: null }
    : { feeRate: fees.subscription, cashDecimals: Currency.decimals(manifest.currency) }

/**
 * The market takes the holder's order, and the venue asks the holder to allocate its cash. What units
 * cost nobody knows before they are priced: the holder allocates that cash once it sees the lot.
 */
const onLedger = (
  input: Claim,
  order: HolderOrder,
  {
    terms,
    holder,
    market,
    cycleCid,
    settleBy
  }: Judged & {
    readonly market: PrimaryMarket
    readonly cycleCid: string | null
    readonly settleBy: Instant.Instant
  },
  act: OperationAct
) => {
  if (market.marketCid === null) throw new Error("an agreed market has a contract")
  const subscriptionId = idOf(input)
  const claimed = exercise(PrimaryMarketTemplate, market.marketCid, "ClaimSubscription", {
    orderCid: order.cid,
    subscriptionId,
    custodian: holder.custodian,
    currency: terms.manifest.currency,
    cycleCid,
    ...duesOf(order, terms)
  })
  if (order.amount === null) return [claimed] as const
  const asked = create(SettlementIntent, {
    venue: act.venue,
    settlementId: subscriptionId,
    reference: { kind: "subscription", id: subscriptionId },
    legs: [
      {
        legId: "cash",
        sender: holder.party,
        receiver: market.fund,
        instrument: market.paymentAsset,
        amount: order.amount
      }
    ],
    requestedAt: act.now,
    allocateBefore: settleBy,
    settleBefore: settleBy
  })
  return [claimed, asked] as const
}
