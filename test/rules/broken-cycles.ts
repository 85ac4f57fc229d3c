/** The acts of many orders and the offer of an admission, each with a way to make every check refuse. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Offers from "#core/admissions/AdmissionRules.ts"
import { termsOf } from "#core/instruments/policy/Policy.ts"
import { openingOf } from "#core/orders/dealing-cycle/OpeningRules.ts"
import * as Cycles from "#core/orders/dealing-cycle/DealingCycleGates.ts"
import { nothing } from "#core/orders/dealing-cycle/DealingCycle.ts"
import * as Iterations from "#core/orders/standing-settlement/IterationGates.ts"
import * as Standing from "#core/orders/standing-settlement/StandingSettlementGates.ts"
import type { Subscription } from "#core/orders/subscription/Subscription.ts"
import { opened } from "../machines/dealing-cycles.ts"
import * as redeemed from "../machines/redemptions.ts"
import { claimed, id, party } from "../machines/subscriptions.ts"
import * as Broken from "./broken.ts"

const d = Decimal.of
const {
  act,
  free,
  frozen,
  held,
  instrument,
  kept,
  nextMonth: later,
  now,
  offRegistry,
  past,
  settleBy
} = Broken

type Opening = Cycles.OpeningContext & {
  readonly cut: Parameters<typeof openingOf>[0]
}

export const cycleOpen = act<Opening>({
  name: "dealing-cycle.open",
  sound: {
    ...free,
    instrument: instrument(),
    market: Broken.market,
    inputsMax: 2_000,
    cut: {
      cutOff: instrument().manifest.cutOff,
      cutOffAt: Instant.of("2026-08-03T20:00:00Z"),
      settleBy: null,
      now
    }
  },
  rows: (opening) => Cycles.againstOpening(opening, openingOf(opening.cut).rows),
  faults: {
    "hold not-held": (opening) => ({ ...opening, holds: [Broken.onAll] }),
    "policy payment": (opening) => ({
      ...opening,
      instrument: {
        ...opening.instrument,
        manifest: { ...opening.instrument.manifest, valuation: "rebasing" }
      }
    }),
    "policy backed": Broken.backed,
    "policy primary-market": (opening) => ({ ...opening, market: null }),
    "window cut-off-to-come": (opening) => ({
      ...opening,
      cut: { ...opening.cut, cutOffAt: past }
    }),
    "window cut-off-in-reach": (opening) => ({
      ...opening,
      cut: { ...opening.cut, cutOffAt: Instant.of("2030-08-03T20:00:00Z") }
    }),
    "window cut-off-of-instrument": (opening) => ({
      ...opening,
      cut: { ...opening.cut, cutOffAt: Instant.of("2026-08-03T19:00:00Z") }
    }),
    "window settle-by-after-cut-off": (opening) => ({
      ...opening,
      cut: { ...opening.cut, settleBy: past }
    }),
    "ledger on-registry": offRegistry,
    "ledger transaction-size": (opening) => ({ ...opening, inputsMax: 1 })
  },
  never: [
    ["window cut-off-to-come", "window cut-off-in-reach"],
    ["window cut-off-to-come", "window cut-off-of-instrument"],
    ["window cut-off-to-come", "window settle-by-after-cut-off"],
    ["window cut-off-in-reach", "window cut-off-of-instrument"],
    ["window cut-off-in-reach", "window settle-by-after-cut-off"]
  ]
})

type Settling = Parameters<typeof Cycles.againstSettling>[0]

const cycle: Settling["cycle"] = {
  ...opened,
  instrumentId: Broken.instrumentId,
  acceptsOrders: false,
  settleBy,
  members: { subscriptions: 1, redemptions: 1 },
  openedAt: now,
  paymentAsset: Broken.cash
}

/** One buys, another gives back: each can be restricted by itself. */
const buyer = Broken.holder
const seller = { ...Broken.holder, holderId: id<"HolderId">("holder-2"), party: party("seller") }

const allocation = (amount: string) => ({ cid: "0003", amount: d(amount), settleBefore: settleBy })
const bought = {
  ...claimed({
    state: "priced",
    payment: "ledger",
    cycleId: "c1",
    fund: party("fund"),
    price: d("1"),
    pointCid: "0009",
    units: d("100"),
    cash: { expected: d("100"), matched: Decimal.zero, lines: [] },
    lot: { lotId: "sub-1", cid: "0002", basePrice: d("1"), units: d("100"), remaining: d("100") },
    allocation: allocation("100")
  }),
  ...kept
}
const sold = {
  ...redeemed.claimedOnLedger({
    state: "priced",
    holderId: seller.holderId,
    party: seller.party,
    cycleId: "c1",
    price: d("1"),
    pointCid: "0009",
    units: d("50"),
    proceeds: d("50"),
    pricedCid: "0004",
    unitsAllocation: allocation("50")
  }),
  ...kept
}

/** Holders and admissions that gates of many orders judge. */
interface Holders {
  readonly holders: Settling["holders"]
  readonly admissions: Settling["admissions"]
}
const holders: Holders = {
  holders: new Map([
    [buyer.holderId, buyer],
    [seller.holderId, seller]
  ]),
  admissions: new Map([[buyer.holderId, { validFrom: null, credentialCid: "00bb" }]])
}
const inactive = <S extends Holders>(context: S): S => ({
  ...context,
  holders: new Map([...context.holders, [buyer.holderId, { ...buyer, state: "closed" as const }]])
})
const unadmitted = <S extends Holders>(context: S): S => ({ ...context, admissions: new Map() })
const reviewed = <S extends Holders>(context: S): S => ({
  ...context,
  holders: new Map([...context.holders, [seller.holderId, { ...seller, screening: Broken.review }]])
})

const buys = (change: Partial<typeof bought>) => (context: Settling) => ({
  ...context,
  orders: {
    ...context.orders,
    subscriptions: context.orders.subscriptions.map((order) => ({ ...order, ...change }))
  }
})
const sells = (change: Partial<typeof sold>) => (context: Settling) => ({
  ...context,
  orders: {
    ...context.orders,
    redemptions: context.orders.redemptions.map((order) => ({ ...order, ...change }))
  }
})

export const cycleSettle = act<Settling>({
  name: "dealing-cycle.settle",
  sound: {
    ...free,
    ...holders,
    cycle,
    instrument: instrument(),
    terms: termsOf(instrument()),
    orders: { subscriptions: [bought], redemptions: [sold] },
    tooSmall: { subscriptions: [], redemptions: [] },
    market: Broken.market,
    point: null,
    feed: "none",
    dealingPrice: d("1"),
    settlement: {
      fills: new Map(),
      gross: nothing,
      fundNet: { cash: Decimal.zero, units: Decimal.zero },
      gate: null
    },
    shortfall: Decimal.zero,
    unpaid: null,
    provision: null,
    earlier: null,
    nextCutOffAt: Broken.nextMonth,
    next: null,
    inputsMax: 2_000,
    now
  },
  rows: Cycles.againstSettling,
  faults: {
    "hold not-held": held,
    "restriction may-receive": frozen(buyer.holderId),
    "restriction may-redeem": frozen(seller.holderId),
    "admission holder-active": inactive,
    "admission admitted": unadmitted,
    "screening screening-clear": reviewed,
    "policy primary-market": (context) => ({ ...context, market: null }),
    "window cut-off-passed": (context) => ({ ...context, now: Instant.of("2026-07-31T19:59:59Z") }),
    "window settle-by": (context) => ({ ...context, cycle: { ...context.cycle, settleBy: past } }),
    "window cycle-sequence": (context) => ({
      ...context,
      earlier: { ...cycle, ...kept, cycleId: id("c0"), cutOffAt: past }
    }),
    "units cycle-has-orders": (context) => ({
      ...context,
      cycle: { ...context.cycle, members: { subscriptions: 0, redemptions: 0 } }
    }),
    "units units-allocated": sells({ unitsAllocation: null }),
    "units burn-requested": sells({ burnRequestCid: "0007" }),
    "cash cash-allocated": buys({ allocation: null }),
    "cash fund-cash": (context) => ({ ...context, shortfall: d("0.01") }),
    "nav-feed orders-priced": (context) => ({
      ...context,
      orders: {
        ...context.orders,
        subscriptions: [
          ...context.orders.subscriptions,
          { ...bought, subscriptionId: id<"SubscriptionId">("sub-2"), price: null }
        ]
      }
    }),
    "nav-feed feed-usable": (context) => ({ ...context, feed: "off-price" }),
    "nav-feed one-point": sells({ pointCid: "0008" }),
    "nav-feed price-of-cycle": (context) => ({ ...context, dealingPrice: d("1.0000000001") }),
    "ledger on-registry": offRegistry,
    "ledger transaction-size": (context) => ({ ...context, inputsMax: 1 })
  }
})

const funded = (funding: {
  readonly by: string
  readonly asset: typeof Broken.cash
  readonly amount: string
}) => ({
  party: party(funding.by),
  asset: funding.asset,
  amount: d(funding.amount),
  commitmentCid: "0010",
  allocationCid: "0011"
})
const committed = [
  funded({ by: "holder", asset: Broken.cash, amount: "100" }),
  funded({ by: "seller", asset: Broken.units, amount: "50" }),
  funded({ by: "fund", asset: Broken.cash, amount: "50" })
]

export const standingOpen = act<Standing.OpeningContext>({
  name: "standing-settlement.open",
  sound: {
    ...free,
    instrument: instrument(),
    market: Broken.market,
    funding: committed,
    deadline: later,
    holders: [buyer, seller],
    now
  },
  rows: Standing.againstOpening,
  faults: {
    "hold not-held": (context) => ({ ...context, holds: [Broken.onAll] }),
    "admission holder-active": (context) => ({ ...context, holders: [] }),
    "policy payment": (context) => ({
      ...context,
      instrument: {
        ...context.instrument,
        manifest: { ...context.instrument.manifest, valuation: "rebasing" }
      }
    }),
    "policy backed": Broken.backed,
    "policy primary-market": (context) => ({ ...context, market: null }),
    "window deadline-ahead": (context) => ({ ...context, deadline: past }),
    "units unit-decimals": (context) => ({
      ...context,
      funding: [
        ...context.funding,
        funded({ by: "holder", asset: Broken.units, amount: "0.0000001" })
      ]
    }),
    "cash funding-asset": (context) => ({
      ...context,
      funding: [
        ...context.funding,
        funded({ by: "holder", asset: { ...Broken.cash, id: "EUR" }, amount: "1" })
      ]
    }),
    "cash currency-decimals": (context) => ({
      ...context,
      funding: [...context.funding, funded({ by: "seller", asset: Broken.cash, amount: "0.001" })]
    })
  },
  // Without a market the fund and its cash are unknown.
  never: [
    ["admission holder-active", "policy primary-market"],
    ["policy primary-market", "cash funding-asset"],
    ["policy primary-market", "cash currency-decimals"]
  ]
})

const standingSettlement: Iterations.IterationContext["self"] = {
  standingSettlementId: id("st-1"),
  instrumentId: Broken.instrumentId,
  registrar: party("registrar"),
  fund: party("fund"),
  paymentAsset: Broken.cash,
  state: "open",
  parties: committed.map((one) => one.party),
  funding: committed,
  committed,
  allocations: ["0011"],
  iterations: 0,
  lastSettledAt: null,
  deadline: later,
  expiresAt: later,
  proposedAt: past,
  openedAt: past,
  endedAt: null,
  standingCid: "0012"
}

type Iterating = Iterations.IterationContext
const iterated = { ...bought, cycleId: null, allocation: null }
const givenBack = { ...sold, cycleId: null, unitsAllocation: null }
const each = (change: Partial<Subscription>) => (context: Iterating) => ({
  ...context,
  subscriptions: context.subscriptions.map((order) => ({ ...order, ...change }))
})
const without = (asset: typeof Broken.cash) => (context: Iterating) => ({
  ...context,
  self: { ...context.self, committed: context.self.committed.filter((one) => one.asset !== asset) }
})

export const standingSettle = act<Iterating>({
  name: "standing-settlement.settle",
  sound: {
    ...free,
    ...holders,
    self: standingSettlement,
    instrument: instrument(),
    subscriptions: [iterated],
    redemptions: [givenBack],
    market: Broken.market,
    feed: "usable",
    inputsMax: 2_000,
    now
  },
  rows: Iterations.againstIteration,
  faults: {
    "hold not-held": held,
    "restriction may-receive": frozen(buyer.holderId),
    "restriction may-redeem": frozen(seller.holderId),
    "admission holder-active": inactive,
    "admission admitted": unadmitted,
    "screening screening-clear": reviewed,
    "policy instrument": each({ instrumentId: id("other-1") }),
    "policy paid-on-ledger": each({ payment: "wire" }),
    "policy in-cycle": each({ cycleId: "c1" }),
    "policy priced": each({ state: "delivered" }),
    "policy primary-market": (context) => ({ ...context, market: null }),
    "window settle-by": each({ settleBy: now }),
    "units committed": without(Broken.units),
    "cash cash-allocated": each({ allocation: allocation("100") }),
    "cash committed": without(Broken.cash),
    "nav-feed feed-usable": (context) => ({ ...context, feed: "ripcord" }),
    "ledger on-registry": offRegistry,
    "ledger transaction-size": (context) => ({ ...context, inputsMax: 1 })
  }
})

export const admissionOffer = act<Offers.OfferContext>({
  name: "admission.offer",
  sound: {
    holder: { attributes: [], screening: null },
    instrument: instrument(),
    latest: null,
    consent: { state: "agreed" },
    required: [],
    takenPlaces: 1,
    expiresAt: null,
    validFrom: null,
    validUntil: null,
    now
  },
  rows: Offers.against,
  faults: {
    "admission not-admitted-yet": (context) => ({ ...context, latest: { state: "offered" } }),
    "attribute attributes-valid": (context) => ({
      ...context,
      required: [{ issuer: party("registrar"), property: "kyc", value: "passed" }]
    }),
    "screening screening-clear": (context) => ({
      ...context,
      holder: { ...context.holder, screening: Broken.review }
    }),
    "consent admission-consent": (context) => ({ ...context, consent: { state: "ended" } }),
    "policy holder-cap": (context) => ({ ...context, takenPlaces: 2 }),
    "window offer-in-time": (context) => ({ ...context, expiresAt: past }),
    "window offer-period": (context) => ({ ...context, validFrom: later, validUntil: later })
  }
})
