/** Checks of opening and settling a dealing cycle on records outside it, by gate. */
import type { RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import { notBacked, onRegistry } from "../../instruments/instrument/InstrumentGates.ts"
import { isScreened } from "../../holders/holder/Holder.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, inOrder, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as ControlGates from "../order/ControlGates.ts"
import { paidByWire } from "../order/OrderGates.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import type { Redemption } from "../redemption/Redemption.ts"
import { mayDeal } from "../redemption/RedemptionGates.ts"
import type { Subscription } from "../subscription/Subscription.ts"
import { feedUsable } from "../../statements/nav-feed/PointVerdict.ts"
import * as DealingCycle from "./DealingCycle.ts"
import type { CycleSettlementContext } from "./CycleSettlementLookups.ts"
import { beyondRoom, inputsOf } from "./TransactionSize.ts"

/** Records that gate the opening of a cycle. */
export interface OpeningContext extends Pick<ControlGates.Controls, "holds"> {
  readonly instrument: RecordedInstrument
  readonly market: Pick<PrimaryMarket, "state"> | null
  readonly inputsMax: number
}

/**
 * All conditions of opening a cycle, in the order of the gates: an agreed market
 * (docs/domain/dealing-cycles.md#opening), an instrument configured on the ledger, and a ledger whose
 * transactions can settle two orders at once. `ofCutOff` are the rows of its cut-off.
 */
export const againstOpening = (
  { holds, instrument, market, inputsMax }: OpeningContext,
  ofCutOff: ReadonlyArray<Judgement>
): ReadonlyArray<Judgement> =>
  inOrder([
    ControlGates.held({ holds }),
    paidByWire({
      payment: "ledger",
      valuation: instrument.manifest.valuation,
      policyVersion: instrument.policyVersion
    }),
    notBacked(instrument),
    condition("primary-market", market?.state === "agreed", {
      policyVersion: instrument.policyVersion
    }),
    ...ofCutOff,
    onRegistry(instrument),
    condition("transaction-size", inputsOf({ subscriptions: 1, redemptions: 1 }) <= inputsMax, {
      detail: `One transaction of ${inputsMax} contracts settles no two orders.`
    })
  ])

/**
 * All conditions of settling, in the order of the gates: of the cycle's own record, of its orders, and of
 * the fund's cash (docs/domain/dealing-cycles.md#settling).
 */
export const againstSettling = (context: CycleSettlementContext): ReadonlyArray<Judgement> =>
  inOrder([
    ...DealingCycle.againstSettling(context.cycle, context.now),
    ...ofControls(context),
    ...ofHolders(context),
    ...ofTerms(context),
    ...ofOrders(context),
    ...ofPrice(context),
    ...ofCash(context),
    onRegistry(context.instrument),
    ...ofSize(context)
  ])

/**
 * Checks holds and restrictions. A cycle settles in whole, so that one hold or restriction stops all
 * of it.
 */
const ofControls = ({
  orders,
  instrument,
  ...controls
}: CycleSettlementContext): ReadonlyArray<Judgement> => {
  const { instrumentId } = instrument
  const bought = orders.subscriptions.map((order) => ({ ...order, orderId: order.subscriptionId }))
  const sold = orders.redemptions.map((order) => ({ ...order, orderId: order.redemptionId }))
  return [
    ControlGates.held(controls),
    ...ControlGates.againstEach(controls, bought, { instrumentId, passing: "units-in" }),
    ...ControlGates.againstEach(controls, sold, { instrumentId, passing: "units-back" })
  ]
}

/** Checks the holders: subscribers are active and admitted, redeemers may have lapsed, all are screened. */
const ofHolders = ({
  orders: { subscriptions, redemptions },
  holders,
  admissions,
  now
}: CycleSettlementContext): ReadonlyArray<Judgement> => {
  const inactive =
    subscriptions.find(({ holderId }) => holders.get(holderId)?.state !== "active") ??
    redemptions.find(({ holderId }) => {
      const holder = holders.get(holderId)
      return holder === undefined || !mayDeal(holder)
    })
  const unadmitted = subscriptions.find(({ holderId }) => {
    const admission = admissions.get(holderId)
    const from = admission?.validFrom ?? null
    return admission === undefined || (from !== null && Instant.isAfter(from, now))
  })
  const unscreened = [...subscriptions, ...redemptions].find(({ holderId }) => {
    const holder = holders.get(holderId)
    return holder !== undefined && !isScreened(holder)
  })
  return [
    condition("holder-active", inactive === undefined, {
      ...detailOf(idOf(inactive)),
      recovery: "Have the holder's registration accepted, or release its order."
    }),
    condition("admitted", unadmitted === undefined, {
      ...detailOf(unadmitted?.subscriptionId),
      party: unadmitted?.party,
      recovery: "Have the holder admitted, or release its order."
    }),
    condition("screening-clear", unscreened === undefined, {
      ...detailOf(idOf(unscreened)),
      recovery: "Wait for a clear screening, or release the order."
    })
  ]
}

const ofTerms = ({
  instrument,
  market,
  earlier
}: CycleSettlementContext): ReadonlyArray<Judgement> => {
  return [
    condition("primary-market", market !== null, {
      policyVersion: instrument.policyVersion,
      recovery: "Release the cycle: its market ended."
    }),
    condition("cycle-sequence", earlier === null, {
      detail: `The cycle ${earlier?.cycleId ?? ""} of an earlier cut-off is open.`
    })
  ]
}

/** Checks that every order is priced and allocated; the fund's cash is checked for the cycle as a whole. */
const ofOrders = ({ orders }: CycleSettlementContext): ReadonlyArray<Judgement> => {
  const { subscriptions, redemptions } = orders
  const unlocked = redemptions.find(({ unitsAllocation }) => unitsAllocation === null)
  const burning = redemptions.find(({ burnRequestCid }) => burnRequestCid !== null)
  const unpaid = subscriptions.find(({ allocation }) => allocation === null)
  const unpriced = [
    ...idsWhere(subscriptions, "subscriptionId"),
    ...idsWhere(redemptions, "redemptionId")
  ]
  return [
    condition("units-allocated", unlocked === undefined, {
      ...detailOf(unlocked?.redemptionId),
      party: unlocked?.party,
      recovery: "Have the holder allocate the order's units, or release the order."
    }),
    // Units must not be burned twice: by request, and again with the payment.
    condition("burn-requested", burning === undefined, {
      ...detailOf(burning?.redemptionId),
      party: burning === undefined ? null : (burning.custodian ?? burning.party)
    }),
    condition("cash-allocated", unpaid === undefined, {
      ...detailOf(unpaid?.subscriptionId),
      party: unpaid?.party,
      recovery: "Have the holder allocate the order's cash, or release the order."
    }),
    condition("orders-priced", unpriced.length === 0, detailOf(unpriced[0]))
  ]
}

/** Checks that one point prices all orders, that the feed confirms it, and the price computed from it. */
const ofPrice = ({
  orders,
  point,
  feed,
  dealingPrice
}: CycleSettlementContext): ReadonlyArray<Judgement> => {
  const priced = [...orders.subscriptions, ...orders.redemptions].filter(
    ({ price }) => price !== null
  )
  const [first] = priced
  const isOther = dealingPrice !== null && priced.some(({ price }) => price !== dealingPrice)
  return [
    feedUsable(feed),
    condition(
      "one-point",
      priced.every(({ pointCid }) => pointCid === first?.pointCid)
    ),
    condition("price-of-cycle", priced.length === 0 || (dealingPrice !== null && !isOther), {
      detail:
        point === null || dealingPrice === null
          ? "The point that priced the orders is not recorded."
          : `The orders of this cut-off deal at ${Decimal.formatPlain(dealingPrice)}.`
    })
  ]
}

const ofCash = ({
  cycle,
  shortfall,
  provision,
  unpaid
}: CycleSettlementContext): ReadonlyArray<Judgement> => {
  const isCovered = !Decimal.isPositive(shortfall) || provision !== null
  return [
    condition("fund-cash", isCovered && unpaid === null, {
      party: cycle.fund,
      detail:
        isCovered && unpaid !== null
          ? `The cash lies with several providers, and none keeps the ${Decimal.formatPlain(unpaid.amount)} ${cycle.currency} of the order ${unpaid.redemptionId}.`
          : `The fund is short of ${Decimal.formatPlain(shortfall)} ${cycle.currency}.`
    })
  ]
}

const ofSize = ({
  cycle,
  orders,
  tooSmall,
  provision,
  inputsMax
}: CycleSettlementContext): ReadonlyArray<Judgement> => {
  const inputs =
    inputsOf({
      subscriptions: orders.subscriptions.length + tooSmall.subscriptions.length,
      redemptions: orders.redemptions.length + tooSmall.redemptions.length
    }) + beyondRoom(provision?.holdingCids.length ?? 0)
  return [
    condition("transaction-size", inputs <= inputsMax, {
      detail: `Settling ${cycle.cycleId} takes up to ${inputs} contracts, one transaction ${inputsMax}.`,
      recovery:
        "Release orders of the cycle, to be claimed for the next cut-off, or have the fund merge its cash."
    })
  ]
}

const idOf = (order: Subscription | Redemption | undefined): string | undefined =>
  order === undefined || "subscriptionId" in order ? order?.subscriptionId : order.redemptionId

const detailOf = (orderId: string | undefined) =>
  orderId === undefined ? {} : { detail: `The order ${orderId} is not ready.` }

const idsWhere = <K extends string>(
  orders: ReadonlyArray<{ readonly price: Decimal.Decimal | null } & Readonly<Record<K, string>>>,
  id: K
): ReadonlyArray<string> => orders.filter(({ price }) => price === null).map((order) => order[id])
