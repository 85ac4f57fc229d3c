/** The acts of one order, each with a way to make every check of it refuse. */
import { Decimal, type Instant } from "@bursar/engine-core/kernel"
import { termsOf } from "#core/instruments/policy/Policy.ts"
import * as Joining from "#core/orders/dealing-cycle/JoiningRules.ts"
import * as RedemptionGates from "#core/orders/redemption/RedemptionGates.ts"
import * as Redemption from "#core/orders/redemption/Redemption.ts"
import { againstSigned, type SignedOrder } from "#core/orders/order/SignedOrderLookups.ts"
import { againstSettleBy, asServed } from "#core/orders/order/AllocationRules.ts"
import * as Cash from "#core/orders/order/CashLine.ts"
import { feedUsable, type FeedVerdict } from "#core/statements/nav-feed/PointVerdict.ts"
import * as SubscriptionGates from "#core/orders/subscription/SubscriptionGates.ts"
import * as Subscription from "#core/orders/subscription/Subscription.ts"
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
  nextMonth: later,
  line,
  now,
  offRegistry,
  past
} = Broken
const h1 = Broken.holder.holderId
/** Units that no order is for. */
const limit = d("1000000000000000")

/** Members of a claim that its gates do not read from records. */
interface ClaimFacts extends Feeding {
  readonly signed: Pick<SignedOrder, "order">
  readonly fullCycleId: string | null
}
/** Verdict of the administrator's feed on the price that the act needs. */
interface Feeding {
  readonly feed: FeedVerdict
}
const feeding: Feeding = { feed: "usable" }
const unstated = <S extends Feeding>(context: S): S => ({ ...context, feed: "missing" })

const asking: Pick<ClaimFacts, "fullCycleId" | "feed"> = { fullCycleId: null, ...feeding }
const claimInput = { payment: "ledger", amount: null, units: null, orderId: "mine-1" } as const

const ownOf = (
  { signed, fullCycleId, feed }: ClaimFacts,
  facts: Pick<SignedOrder, "instrument" | "holder" | "now">
) => [
  ...againstSigned(claimInput, { ...facts, ...signed, market: Broken.market }),
  Joining.againstJoining(fullCycleId, 2_000),
  feedUsable(feed)
]

/** The consent's faults: nothing is signed, or what is signed has run out. */
const unsigned = <S extends ClaimFacts>(facts: S): S => ({
  ...facts,
  signed: { order: null }
})
const runOut = <S extends ClaimFacts>({ signed, ...facts }: S) => ({
  ...facts,
  signed: { order: signed.order === null ? null : { ...signed.order, expiresAt: past } }
})
const full = <S extends ClaimFacts>(facts: S): S => ({ ...facts, fullCycleId: "c1" })

type Subscribing = SubscriptionGates.ClaimContext & ClaimFacts

const terms = termsOf(instrument())
const admission = { state: "admitted", validFrom: null, credentialCid: "00bb" } as const
const gateContext: SubscriptionGates.Context = {
  ...free,
  instrument: instrument(),
  holder: Broken.holder,
  admission,
  now
}

/** The gates before the policy's, and the ledger's, which every act that brings units asks. */
const lapsed = <S extends SubscriptionGates.Context>(context: S): S => ({
  ...context,
  holder: { ...context.holder, state: "lapsed" }
})
const unadmitted = <S extends SubscriptionGates.Context>(context: S): S => ({
  ...context,
  admission: context.admission === null ? null : { ...context.admission, state: "expired" }
})
const ahead = <S extends SubscriptionGates.Context>(context: S): S => ({
  ...context,
  admission: context.admission === null ? null : { ...context.admission, validFrom: later }
})
const reviewed = <S extends Pick<SubscriptionGates.Context, "holder">>(context: S): S => ({
  ...context,
  holder: { ...context.holder, screening: Broken.review }
})

export const subscriptionClaim = act<Subscribing>({
  name: "subscription.claim",
  sound: {
    ...gateContext,
    ...asking,
    signed: { order: Broken.signed("subscription", { amount: d("100"), units: null }) },
    payment: "ledger",
    amount: d("100"),
    units: null,
    terms,
    worth: d("100"),
    buys: d("100"),
    moves: d("100"),
    cashDecimals: 2,
    market: Broken.market,
    attestors: [party("attestor")]
  },
  rows: (context) => SubscriptionGates.againstClaim(context, ownOf(context, context)),
  faults: {
    "hold not-held": held,
    "restriction may-subscribe": frozen(h1),
    "admission holder-active": lapsed,
    "admission admitted": unadmitted,
    "admission credential-in-force": ahead,
    "screening screening-clear": reviewed,
    "consent order-signed": unsigned,
    "consent order-fits": (context) => runOut(context),
    "policy payment": (context) => ({
      ...context,
      terms: { ...context.terms, manifest: { ...context.terms.manifest, valuation: "rebasing" } }
    }),
    "policy backed": Broken.backed,
    "policy primary-market": (context) => ({ ...context, market: { state: "ended" } }),
    "policy attestor-named": (context) => ({ ...context, attestors: [] }),
    "policy minimum-subscription": (context) => ({
      ...context,
      terms: {
        ...context.terms,
        manifest: { ...context.terms.manifest, minimumSubscription: d("1000") }
      }
    }),
    "policy maximum-subscription": (context) => ({
      ...context,
      terms: { ...context.terms, limits: { ...context.terms.limits, maxSubscription: d("1") } }
    }),
    "window window-open": (context) => ({
      ...context,
      terms: { ...context.terms, window: { opensAt: later, closesAt: null } }
    }),
    "units unit-decimals": (context) => ({ ...context, amount: null, units: d("1.0000001") }),
    "units too-small": (context) => ({
      ...context,
      units: null,
      amount: context.amount ?? d("0.01"),
      buys: Decimal.zero
    }),
    "units base-units": (context) => ({ ...context, moves: Decimal.zero }),
    "units too-large": (context) => ({ ...context, buys: limit }),
    "cash currency-decimals": (context) => ({ ...context, units: null, amount: d("1.001") }),
    "nav-feed feed-usable": unstated,
    "ledger on-registry": offRegistry,
    "ledger transaction-size": full
  },
  never: [
    ["consent order-signed", "consent order-fits"],
    ["units unit-decimals", "units too-small"],
    ["units too-small", "units base-units"],
    ["units too-small", "units too-large"],
    ["units unit-decimals", "cash currency-decimals"]
  ]
})

const priced = claimed({
  state: "priced",
  cash: { expected: d("100000"), matched: Decimal.zero, lines: [] }
})

/** An order with the bank lines that are named for it. */
interface Paying extends Feeding {
  readonly cash: ReadonlyArray<Cash.CashLine>
  readonly found: Cash.FoundLine
}
/** A bank line as it is stored: a credit of the order's currency, with all of its cash left. */
const stored = (direction: Cash.FoundLine["direction"]): Cash.FoundLine => ({
  line: line("100000"),
  direction,
  entry: { direction, currency: "USD" },
  amountLeft: d("100000"),
  spent: null
})
const paying: Paying = { ...feeding, cash: [line("100000")], found: stored("credit") }
const lineFaults = {
  repeated: <S extends Paying>(context: S): S => ({ ...context, cash: Broken.twice(context.cash) }),
  over: <S extends Paying>(context: S): S => ({ ...context, cash: Broken.more(context.cash) }),
  short: <S extends Paying>(context: S): S => ({ ...context, cash: Broken.less(context.cash) }),
  missing: <S extends Paying>(context: S): S => ({
    ...context,
    found: { ...context.found, entry: null }
  }),
  side: <S extends Paying>(context: S): S => ({
    ...context,
    found: { ...context.found, entry: { direction: "credit", currency: "EUR" } }
  }),
  left: <S extends Paying>(context: S): S => ({
    ...context,
    found: { ...context.found, amountLeft: d("99999.99") }
  })
}
const ofLines = [
  ["cash line-known", "cash line-side"],
  ["cash line-known", "cash line-left"]
] as const
const overOrShort = [["cash cash-over", "cash cash-matched"], ...ofLines] as const

type Subscribed = { readonly self: typeof priced }

export const subscriptionDeliver = act<SubscriptionGates.Context & Paying & Subscribed>({
  name: "subscription.deliver",
  sound: { ...gateContext, ...paying, self: priced },
  rows: (context) =>
    SubscriptionGates.againstUnits(context, [
      ...Subscription.objections(context.self, {
        on: "deliver",
        cash: context.cash,
        deliverBeforeCash: "never"
      }),
      feedUsable(context.feed),
      ...Cash.againstBank([context.found], { currency: "USD" })
    ]),
  faults: {
    "hold not-held": held,
    "restriction may-receive": frozen(h1),
    "admission holder-active": lapsed,
    "admission admitted": unadmitted,
    "admission credential-in-force": ahead,
    "screening screening-clear": reviewed,
    "policy paid-by-wire": (context) => ({
      ...context,
      self: { ...context.self, payment: "ledger" }
    }),
    "units mint-requested": (context) => ({
      ...context,
      self: { ...context.self, mintRequestCid: "0004" }
    }),
    "cash cash-line-repeated": lineFaults.repeated,
    "cash cash-over": lineFaults.over,
    "cash cash-matched": lineFaults.short,
    "cash line-known": lineFaults.missing,
    "cash line-side": lineFaults.side,
    "cash line-left": lineFaults.left,
    "nav-feed feed-usable": unstated,
    "ledger on-registry": offRegistry
  },
  never: overOrShort
})

type Closing = Pick<typeof free, "holds"> & Paying & Subscribed & Pick<Cash.NamedLines, "refunds">

export const subscriptionClose = act<Closing>({
  name: "subscription.settle of a delivered order",
  sound: {
    holds: [],
    ...paying,
    refunds: [],
    self: { ...priced, state: "delivered", refund: d("9.89"), refunded: d("4") }
  },
  rows: (context) =>
    SubscriptionGates.againstClosing(context, [
      ...Subscription.objections(context.self, { on: "settle", ...context }),
      ...Cash.againstBank([context.found], { currency: "USD" })
    ]),
  faults: {
    "hold not-held": held,
    "cash cash-line-repeated": lineFaults.repeated,
    "cash cash-over": lineFaults.over,
    "cash cash-matched": lineFaults.short,
    "cash refund-over": <S extends Closing>(context: S): S => ({
      ...context,
      refunds: [{ ...line("5.90"), line: 7 }]
    }),
    "cash line-known": lineFaults.missing,
    "cash line-side": lineFaults.side,
    "cash line-left": lineFaults.left
  },
  never: overOrShort
})

/** The cycle and the market that an order would settle without. */
interface Exchanging extends Feeding {
  readonly lines: ReadonlyArray<Cash.CashLine>
  readonly openCycleId: string | null
  readonly live: { readonly marketCid: string } | null
}
const exchanging: Exchanging = { ...feeding, lines: [], openCycleId: null, live: Broken.market }
const exchangeFaults = {
  inCycle: <S extends Exchanging>(context: S): S => ({ ...context, openCycleId: "c1" }),
  ended: <S extends Exchanging>(context: S): S => ({ ...context, live: null }),
  late: <S extends { readonly self: { readonly settleBy: Instant.Instant | null } }>(
    context: S
  ): S => ({
    ...context,
    self: { ...context.self, settleBy: now }
  }),
  byBank: <S extends Exchanging>(context: S): S => ({ ...context, lines: [line("1")] })
}

export const subscriptionExchange = act<SubscriptionGates.Context & Exchanging & Subscribed>({
  name: "subscription.settle of a ledger-paid order",
  sound: {
    ...gateContext,
    ...exchanging,
    self: {
      ...priced,
      payment: "ledger",
      allocation: { cid: "0005", amount: d("100000"), settleBefore: later }
    }
  },
  rows: (context) =>
    SubscriptionGates.againstUnits(context, [
      ...Subscription.objections(asServed(context.self, now), {
        on: "exchange",
        cash: context.lines,
        refunds: []
      }),
      againstSettleBy(context.self, now),
      Joining.againstLeaving(context.openCycleId),
      feedUsable(context.feed),
      SubscriptionGates.againstMarketEnd(context.live)
    ]),
  faults: {
    "hold not-held": held,
    "restriction may-receive": frozen(h1),
    "admission holder-active": lapsed,
    "admission admitted": unadmitted,
    "admission credential-in-force": ahead,
    "screening screening-clear": reviewed,
    "policy paid-on-ledger": (context) => ({
      ...context,
      self: { ...context.self, payment: "wire" }
    }),
    "policy in-cycle": exchangeFaults.inCycle,
    "policy primary-market": exchangeFaults.ended,
    "window settle-by": exchangeFaults.late,
    "cash cash-on-ledger": exchangeFaults.byBank,
    "cash cash-allocated": (context) => ({
      ...context,
      self: { ...context.self, allocation: null }
    }),
    "nav-feed feed-usable": unstated,
    "ledger on-registry": offRegistry
  }
})

type Redeeming = RedemptionGates.ClaimContext & ClaimFacts
const giving: RedemptionGates.Context = {
  ...free,
  instrument: instrument(),
  holder: Broken.holder,
  now
}
const closed = <S extends RedemptionGates.Context>(context: S): S => ({
  ...context,
  holder: { ...context.holder, state: "closed" }
})

export const redemptionClaim = act<Redeeming>({
  name: "redemption.claim",
  sound: {
    ...giving,
    ...asking,
    signed: { order: Broken.signed("redemption", { amount: null, units: d("100") }) },
    payment: "ledger",
    amount: null,
    units: d("100"),
    cashDecimals: 2,
    market: Broken.market,
    terms,
    oracle: party("oracle"),
    free: d("1000"),
    heldUnits: d("1000"),
    leaving: Decimal.zero,
    lastPrice: d("2")
  },
  rows: (context) => RedemptionGates.againstClaim(context, ownOf(context, context)),
  faults: {
    "hold not-held": held,
    "restriction may-redeem": frozen(h1),
    "admission holder-active": closed,
    "screening screening-clear": reviewed,
    "consent order-signed": unsigned,
    "consent order-fits": (context) => runOut(context),
    "policy payment": (context) => ({
      ...context,
      instrument: {
        ...context.instrument,
        manifest: { ...context.instrument.manifest, valuation: "rebasing" }
      }
    }),
    "policy backed": Broken.backed,
    "policy primary-market": (context) => ({ ...context, market: { state: "ended" } }),
    "policy oracle-named": (context) => ({ ...context, oracle: null }),
    "policy maximum-redemption": (context) => ({
      ...context,
      terms: { ...context.terms, limits: { ...context.terms.limits, maxRedemption: d("0.0001") } }
    }),
    "policy minimum-holding": (context) => ({
      ...context,
      terms: {
        ...context.terms,
        manifest: { ...context.terms.manifest, minimumHolding: d("999.9999999") }
      }
    }),
    "window window-open": (context) => ({
      ...context,
      terms: { ...context.terms, window: { opensAt: null, closesAt: now } }
    }),
    "units unit-decimals": (context) => ({ ...context, amount: null, units: d("1.0000001") }),
    "units units-free": (context) => ({ ...context, free: d("0.0001") }),
    "units base-units": (context) => ({
      ...context,
      terms: { ...context.terms, manifest: { ...context.terms.manifest, valuation: "rebasing" } },
      lastPrice: d("100000000000000")
    }),
    "units too-large": (context) => ({
      ...context,
      ...{ amount: null, units: limit, heldUnits: Decimal.add(limit, Decimal.one) },
      free: Decimal.lessThan(context.free, Decimal.one) ? context.free : limit
    }),
    "units too-small": (context) => ({ ...context, amount: null, units: d("0.001") }),
    "cash currency-decimals": (context) => ({ ...context, units: null, amount: d("1.001") }),
    "nav-feed feed-usable": unstated,
    "ledger on-registry": offRegistry,
    "ledger transaction-size": full
  },
  never: [
    ["consent order-signed", "consent order-fits"],
    ["units unit-decimals", "units too-large"],
    ["units base-units", "units too-large"],
    ["units too-small", "units too-large"],
    ["units too-large", "cash currency-decimals"],
    ["policy minimum-holding", "units base-units"],
    ["units units-free", "units base-units"],
    ["units unit-decimals", "units too-small"],
    ["units too-small", "cash currency-decimals"],
    ["units unit-decimals", "cash currency-decimals"]
  ]
})

const allocated = (amount: string) => ({ cid: "0005", amount: d(amount), settleBefore: later })
const sold = redeemed.claimedOnLedger({
  state: "priced",
  redemptionId: id("red-1"),
  unitsAllocation: allocated("1234.567891"),
  allocation: allocated("1282.07"),
  cash: { expected: d("100000"), matched: Decimal.zero, lines: [] }
})
type Redeemed = { readonly self: typeof sold }

export const redemptionExchange = act<RedemptionGates.Context & Exchanging & Redeemed>({
  name: "redemption.settle of a ledger-paid order",
  sound: { ...giving, ...exchanging, self: sold },
  rows: (context) =>
    RedemptionGates.againstExchange(context, [
      ...Redemption.objections(asServed(context.self, now), {
        on: "exchange",
        cash: context.lines
      }),
      againstSettleBy(context.self, now),
      Joining.againstLeaving(context.openCycleId),
      feedUsable(context.feed),
      RedemptionGates.againstMarketEnd(context.live)
    ]),
  faults: {
    "hold not-held": held,
    "restriction may-redeem": frozen(h1),
    "admission holder-active": closed,
    "screening screening-clear": reviewed,
    "policy paid-on-ledger": (context) => ({
      ...context,
      self: { ...context.self, payment: "wire" }
    }),
    "policy in-cycle": exchangeFaults.inCycle,
    "policy primary-market": exchangeFaults.ended,
    "window settle-by": exchangeFaults.late,
    "units units-allocated": (context) => ({
      ...context,
      self: { ...context.self, unitsAllocation: null }
    }),
    "units burn-requested": (context) => ({
      ...context,
      self: { ...context.self, burnRequestCid: "0006" }
    }),
    "cash cash-on-ledger": exchangeFaults.byBank,
    "cash cash-allocated": (context) => ({
      ...context,
      self: { ...context.self, allocation: null }
    }),
    "nav-feed feed-usable": unstated,
    "ledger on-registry": offRegistry
  }
})

export const redemptionPaid = act<typeof free & Redeemed & Pick<Exchanging, "lines">>({
  name: "redemption.settle of a burned ledger-paid order",
  sound: { ...free, lines: [], self: { ...sold, state: "burned" } },
  rows: (context) =>
    RedemptionGates.againstPayment(
      context.self,
      context,
      Redemption.objections(context.self, { on: "settle", cash: context.lines })
    ),
  faults: {
    "hold not-held": held,
    "restriction may-be-paid": frozen(h1),
    "cash cash-on-ledger": (context) => ({ ...context, lines: [line("1")] }),
    "cash cash-allocated": (context) => ({
      ...context,
      self: { ...context.self, allocation: null }
    })
  }
})

export const redemptionPaidByWire = act<typeof free & Redeemed & Paying>({
  name: "redemption.settle of a burned wire-paid order",
  sound: { ...free, ...paying, self: { ...sold, state: "burned", payment: "wire" } },
  rows: (context) =>
    RedemptionGates.againstPayment(context.self, context, [
      ...Redemption.objections(context.self, { on: "settle", cash: context.cash }),
      ...Cash.againstBank([context.found], { currency: "USD" })
    ]),
  faults: {
    "hold not-held": held,
    "restriction may-be-paid": frozen(h1),
    "cash cash-line-repeated": lineFaults.repeated,
    "cash cash-over": lineFaults.over,
    "cash cash-matched": lineFaults.short,
    "cash line-known": lineFaults.missing,
    "cash line-side": lineFaults.side,
    "cash line-left": lineFaults.left
  },
  never: overOrShort
})
