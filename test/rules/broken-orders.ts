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
const unstated = <S extends Feeding>(of: S): S => ({ ...of, feed: "missing" })

const asking: Pick<ClaimFacts, "fullCycleId" | "feed"> = { fullCycleId: null, ...feeding }
const claimInput = { payment: "ledger", amount: null, units: null, orderId: "mine-1" } as const

const ownOf = (
  { signed, fullCycleId, feed }: ClaimFacts,
  standing: Pick<SignedOrder, "instrument" | "holder" | "now">
) => [
  ...againstSigned(claimInput, { ...standing, ...signed, market: Broken.market }),
  Joining.againstJoining(fullCycleId, 2_000),
  feedUsable(feed)
]

/** The consent's faults: nothing is signed, or what is signed has run out. */
const unsigned = <S extends ClaimFacts>(standing: S): S => ({
  ...standing,
  signed: { order: null }
})
const runOut = <S extends ClaimFacts>({ signed, ...standing }: S) => ({
  ...standing,
  signed: { order: signed.order === null ? null : { ...signed.order, expiresAt: past } }
})
const full = <S extends ClaimFacts>(standing: S): S => ({ ...standing, fullCycleId: "c1" })

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
const lapsed = <S extends SubscriptionGates.Context>(of: S): S => ({
  ...of,
  holder: { ...of.holder, state: "lapsed" }
})
const unadmitted = <S extends SubscriptionGates.Context>(of: S): S => ({
  ...of,
  admission: of.admission === null ? null : { ...of.admission, state: "expired" }
})
const ahead = <S extends SubscriptionGates.Context>(of: S): S => ({
  ...of,
  admission: of.admission === null ? null : { ...of.admission, validFrom: later }
})
const reviewed = <S extends Pick<SubscriptionGates.Context, "holder">>(of: S): S => ({
  ...of,
  holder: { ...of.holder, screening: Broken.review }
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
  rows: (of) => SubscriptionGates.againstClaim(of, ownOf(of, of)),
  faults: {
    "hold not-held": held,
    "restriction may-subscribe": frozen(h1),
    "admission holder-active": lapsed,
    "admission admitted": unadmitted,
    "admission credential-in-force": ahead,
    "screening screening-clear": reviewed,
    "consent order-signed": unsigned,
    "consent order-fits": (of) => runOut(of),
    "policy payment": (of) => ({
      ...of,
      terms: { ...of.terms, manifest: { ...of.terms.manifest, valuation: "rebasing" } }
    }),
    "policy backed": Broken.backed,
    "policy primary-market": (of) => ({ ...of, market: { state: "ended" } }),
    "policy attestor-named": (of) => ({ ...of, attestors: [] }),
    "policy minimum-subscription": (of) => ({
      ...of,
      terms: { ...of.terms, manifest: { ...of.terms.manifest, minimumSubscription: d("1000") } }
    }),
    "policy maximum-subscription": (of) => ({
      ...of,
      terms: { ...of.terms, limits: { ...of.terms.limits, maxSubscription: d("1") } }
    }),
    "window window-open": (of) => ({
      ...of,
      terms: { ...of.terms, window: { opensAt: later, closesAt: null } }
    }),
    "units unit-decimals": (of) => ({ ...of, amount: null, units: d("1.0000001") }),
    "units too-small": (of) => ({
      ...of,
      units: null,
      amount: of.amount ?? d("0.01"),
      buys: Decimal.zero
    }),
    "units base-units": (of) => ({ ...of, moves: Decimal.zero }),
    "cash currency-decimals": (of) => ({ ...of, units: null, amount: d("1.001") }),
    "nav-feed feed-usable": unstated,
    "ledger on-registry": offRegistry,
    "ledger transaction-size": full
  },
  never: [
    ["consent order-signed", "consent order-fits"],
    ["units unit-decimals", "units too-small"],
    ["units too-small", "units base-units"],
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
  repeated: <S extends Paying>(of: S): S => ({ ...of, cash: Broken.twice(of.cash) }),
  over: <S extends Paying>(of: S): S => ({ ...of, cash: Broken.more(of.cash) }),
  short: <S extends Paying>(of: S): S => ({ ...of, cash: Broken.less(of.cash) }),
  missing: <S extends Paying>(of: S): S => ({ ...of, found: { ...of.found, entry: null } }),
  side: <S extends Paying>(of: S): S => ({
    ...of,
    found: { ...of.found, entry: { direction: "credit", currency: "EUR" } }
  }),
  left: <S extends Paying>(of: S): S => ({
    ...of,
    found: { ...of.found, amountLeft: d("99999.99") }
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
  rows: (of) =>
    SubscriptionGates.againstUnits(of, [
      ...Subscription.objections(of.self, {
        on: "deliver",
        cash: of.cash,
        deliverBeforeCash: "never"
      }),
      feedUsable(of.feed),
      ...Cash.againstBank([of.found], { currency: "USD" })
    ]),
  faults: {
    "hold not-held": held,
    "restriction may-receive": frozen(h1),
    "admission holder-active": lapsed,
    "admission admitted": unadmitted,
    "admission credential-in-force": ahead,
    "screening screening-clear": reviewed,
    "policy paid-by-wire": (of) => ({ ...of, self: { ...of.self, payment: "ledger" } }),
    "units mint-requested": (of) => ({ ...of, self: { ...of.self, mintRequestCid: "0004" } }),
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
  rows: (of) =>
    SubscriptionGates.againstClosing(of, [
      ...Subscription.objections(of.self, { on: "settle", ...of }),
      ...Cash.againstBank([of.found], { currency: "USD" })
    ]),
  faults: {
    "hold not-held": held,
    "cash cash-line-repeated": lineFaults.repeated,
    "cash cash-over": lineFaults.over,
    "cash cash-matched": lineFaults.short,
    "cash refund-over": <S extends Closing>(of: S): S => ({
      ...of,
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
  inCycle: <S extends Exchanging>(of: S): S => ({ ...of, openCycleId: "c1" }),
  ended: <S extends Exchanging>(of: S): S => ({ ...of, live: null }),
  late: <S extends { readonly self: { readonly settleBy: Instant.Instant | null } }>(of: S): S => ({
    ...of,
    self: { ...of.self, settleBy: now }
  }),
  byBank: <S extends Exchanging>(of: S): S => ({ ...of, lines: [line("1")] })
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
  rows: (of) =>
    SubscriptionGates.againstUnits(of, [
      ...Subscription.objections(asServed(of.self, now), {
        on: "exchange",
        cash: of.lines,
        refunds: []
      }),
      againstSettleBy(of.self, now),
      Joining.againstLeaving(of.openCycleId),
      feedUsable(of.feed),
      SubscriptionGates.againstMarketEnd(of.live)
    ]),
  faults: {
    "hold not-held": held,
    "restriction may-receive": frozen(h1),
    "admission holder-active": lapsed,
    "admission admitted": unadmitted,
    "admission credential-in-force": ahead,
    "screening screening-clear": reviewed,
    "policy paid-on-ledger": (of) => ({ ...of, self: { ...of.self, payment: "wire" } }),
    "policy in-cycle": exchangeFaults.inCycle,
    "policy primary-market": exchangeFaults.ended,
    "window settle-by": exchangeFaults.late,
    "cash cash-on-ledger": exchangeFaults.byBank,
    "cash cash-allocated": (of) => ({ ...of, self: { ...of.self, allocation: null } }),
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
const closed = <S extends RedemptionGates.Context>(of: S): S => ({
  ...of,
  holder: { ...of.holder, state: "closed" }
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
  rows: (of) => RedemptionGates.againstClaim(of, ownOf(of, of)),
  faults: {
    "hold not-held": held,
    "restriction may-redeem": frozen(h1),
    "admission holder-active": closed,
    "screening screening-clear": reviewed,
    "consent order-signed": unsigned,
    "consent order-fits": (of) => runOut(of),
    "policy payment": (of) => ({
      ...of,
      instrument: {
        ...of.instrument,
        manifest: { ...of.instrument.manifest, valuation: "rebasing" }
      }
    }),
    "policy backed": Broken.backed,
    "policy primary-market": (of) => ({ ...of, market: { state: "ended" } }),
    "policy oracle-named": (of) => ({ ...of, oracle: null }),
    "policy maximum-redemption": (of) => ({
      ...of,
      terms: { ...of.terms, limits: { ...of.terms.limits, maxRedemption: d("0.0001") } }
    }),
    "policy minimum-holding": (of) => ({
      ...of,
      terms: { ...of.terms, manifest: { ...of.terms.manifest, minimumHolding: d("999.9999999") } }
    }),
    "window window-open": (of) => ({
      ...of,
      terms: { ...of.terms, window: { opensAt: null, closesAt: now } }
    }),
    "units unit-decimals": (of) => ({ ...of, amount: null, units: d("1.0000001") }),
    "units units-free": (of) => ({ ...of, free: d("0.0001") }),
    "units base-units": (of) => ({
      ...of,
      terms: { ...of.terms, manifest: { ...of.terms.manifest, valuation: "rebasing" } },
      lastPrice: d("100000000000000")
    }),
    "units too-small": (of) => ({ ...of, amount: null, units: d("0.001") }),
    "cash currency-decimals": (of) => ({ ...of, units: null, amount: d("1.001") }),
    "nav-feed feed-usable": unstated,
    "ledger on-registry": offRegistry,
    "ledger transaction-size": full
  },
  never: [
    ["consent order-signed", "consent order-fits"],
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
  rows: (of) =>
    RedemptionGates.againstExchange(of, [
      ...Redemption.objections(asServed(of.self, now), {
        on: "exchange",
        cash: of.lines
      }),
      againstSettleBy(of.self, now),
      Joining.againstLeaving(of.openCycleId),
      feedUsable(of.feed),
      RedemptionGates.againstMarketEnd(of.live)
    ]),
  faults: {
    "hold not-held": held,
    "restriction may-redeem": frozen(h1),
    "admission holder-active": closed,
    "screening screening-clear": reviewed,
    "policy paid-on-ledger": (of) => ({ ...of, self: { ...of.self, payment: "wire" } }),
    "policy in-cycle": exchangeFaults.inCycle,
    "policy primary-market": exchangeFaults.ended,
    "window settle-by": exchangeFaults.late,
    "units units-allocated": (of) => ({ ...of, self: { ...of.self, unitsAllocation: null } }),
    "units burn-requested": (of) => ({ ...of, self: { ...of.self, burnRequestCid: "0006" } }),
    "cash cash-on-ledger": exchangeFaults.byBank,
    "cash cash-allocated": (of) => ({ ...of, self: { ...of.self, allocation: null } }),
    "nav-feed feed-usable": unstated,
    "ledger on-registry": offRegistry
  }
})

export const redemptionPaid = act<typeof free & Redeemed & Pick<Exchanging, "lines">>({
  name: "redemption.settle of a burned ledger-paid order",
  sound: { ...free, lines: [], self: { ...sold, state: "burned" } },
  rows: (of) =>
    RedemptionGates.againstPayment(
      of.self,
      of,
      Redemption.objections(of.self, { on: "settle", cash: of.lines })
    ),
  faults: {
    "hold not-held": held,
    "restriction may-be-paid": frozen(h1),
    "cash cash-on-ledger": (of) => ({ ...of, lines: [line("1")] }),
    "cash cash-allocated": (of) => ({ ...of, self: { ...of.self, allocation: null } })
  }
})

export const redemptionPaidByWire = act<typeof free & Redeemed & Paying>({
  name: "redemption.settle of a burned wire-paid order",
  sound: { ...free, ...paying, self: { ...sold, state: "burned", payment: "wire" } },
  rows: (of) =>
    RedemptionGates.againstPayment(of.self, of, [
      ...Redemption.objections(of.self, { on: "settle", cash: of.cash }),
      ...Cash.againstBank([of.found], { currency: "USD" })
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
