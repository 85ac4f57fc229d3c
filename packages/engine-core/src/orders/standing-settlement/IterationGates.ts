/** Conditions of one settlement under a standing settlement's terms (an iteration), by gate. */
import { type Holder, isScreened } from "../../holders/holder/Holder.ts"
import type { Admission } from "../../admissions/Admission.ts"
import { assetOf, type RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import { onRegistry } from "../../instruments/instrument/InstrumentGates.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, inOrder, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import type * as Field from "../../templates/Field.ts"
import * as ControlGates from "../order/ControlGates.ts"
import { againstSettleBy } from "../order/AllocationRules.ts"
import { inputsOfIteration } from "../dealing-cycle/TransactionSize.ts"
import { isExchangeable, type Redemption } from "../redemption/Redemption.ts"
import { mayDeal } from "../redemption/RedemptionGates.ts"
import type { Subscription } from "../subscription/Subscription.ts"
import { feedUsable, type FeedVerdict } from "../../statements/nav-feed/PointVerdict.ts"
import { type StandingSettlement, committedBy } from "./StandingSettlement.ts"

/** Orders of an iteration, with the records that they are checked against. */
export interface IterationContext extends ControlGates.Controls {
  readonly self: StandingSettlement
  readonly instrument: RecordedInstrument
  readonly subscriptions: ReadonlyArray<Subscription>
  readonly redemptions: ReadonlyArray<Redemption>
  readonly holders: ReadonlyMap<string, Pick<Holder, "state" | "screening" | "party">>
  /** Admissions in force, by holder. */
  readonly admissions: ReadonlyMap<string, Pick<Admission, "validFrom" | "credentialCid">>
  /** The live market that priced all of the orders; null: none. */
  readonly market: { readonly marketCid: string } | null
  /** Verdict of the administrator's feed on every point that priced an order. */
  readonly feed: FeedVerdict
  /** Largest number of contracts that one ledger transaction uses. */
  readonly inputsMax: number
  readonly now: Instant.Instant
}

/** Leg of an iteration: a party gives an amount of one asset. */
interface Leg {
  readonly party: Party.Party
  readonly asset: Field.Asset
  readonly amount: Decimal.Decimal
}

/** Returns the legs that draw on commitments; units that a holder allocated for its order are not among them. */
const legsOf = (iteration: IterationContext): ReadonlyArray<Leg> => {
  const { self, instrument, subscriptions, redemptions } = iteration
  const cash = self.paymentAsset
  return [
    ...subscriptions.map(({ party, cash: { expected } }) => ({
      party,
      asset: cash,
      amount: expected ?? Decimal.zero
    })),
    ...redemptions.flatMap(({ party, units, unitsAllocation }) =>
      unitsAllocation === null
        ? [{ party, asset: assetOf(instrument), amount: units ?? Decimal.zero }]
        : []
    ),
    ...redemptions.map(({ proceeds }) => ({
      party: self.fund,
      asset: cash,
      amount: proceeds ?? Decimal.zero
    }))
  ]
}

const keyOf = ({ party, asset }: Pick<Leg, "party" | "asset">): string =>
  `${party}/${asset.admin}/${asset.id}`

/** Sums the legs by party and asset. */
const takenOf = (iteration: IterationContext): ReadonlyArray<Leg> => {
  const sums = new Map<string, Leg>()
  for (const leg of legsOf(iteration)) {
    const sum = sums.get(keyOf(leg))
    sums.set(
      keyOf(leg),
      sum === undefined ? leg : { ...leg, amount: Decimal.add(sum.amount, leg.amount) }
    )
  }
  return [...sums.values()]
}

/** Returns the commitments that the orders draw on. */
export const drawnOn = (iteration: IterationContext): ReadonlyArray<string> =>
  takenOf(iteration).flatMap((leg) => committedBy(iteration.self, leg)?.commitmentCid ?? [])

/** All conditions of an iteration, in the order of the gates. */
export const againstIteration = (iteration: IterationContext): ReadonlyArray<Judgement> => {
  const { self } = iteration
  const orders = [...iteration.subscriptions, ...iteration.redemptions]
  return inOrder([
    ...ofControls(iteration),
    ...ofHolders(iteration),
    condition(
      "instrument",
      orders.every(({ instrumentId }) => instrumentId === self.instrumentId)
    ),
    condition(
      "paid-on-ledger",
      orders.every(({ fund, payment }) => payment === "ledger" && fund === self.fund)
    ),
    condition(
      "in-cycle",
      orders.every(({ cycleId }) => cycleId === null),
      {
        recovery: "Settle these orders with their cycle."
      }
    ),
    condition(
      "priced",
      iteration.subscriptions.every(({ state }) => state === "priced") &&
        iteration.redemptions.every(isExchangeable)
    ),
    firstPast(orders, iteration.now),
    condition(
      "cash-allocated",
      orders.every(({ allocation }) => allocation === null),
      { recovery: "Settle orders whose own cash is allocated by themselves." }
    ),
    ...ofCommitments(iteration),
    feedUsable(iteration.feed),
    condition("primary-market", iteration.market !== null, {
      recovery: "Settle or release these orders by themselves: no live market priced all of them."
    }),
    condition(
      "transaction-size",
      inputsOfIteration({ orders: orders.length, commitments: drawnOn(iteration).length }) <=
        iteration.inputsMax,
      {
        detail: `One transaction of ${iteration.inputsMax} contracts settles fewer orders.`,
        recovery: "Name fewer orders: the rest settles in another iteration."
      }
    )
  ])
}

/** Row of the first order past its time to settle; if there is none, the row that passes. */
const firstPast = (
  orders: ReadonlyArray<Subscription | Redemption>,
  now: Instant.Instant
): Judgement =>
  orders.map((order) => againstSettleBy(order, now)).find(({ refuses }) => refuses) ??
  againstSettleBy({ settleBy: null }, now)

/** Checks that no party gives more cash or units than it committed. */
const ofCommitments = (iteration: IterationContext): ReadonlyArray<Judgement> => {
  const { self, instrument } = iteration
  const short = takenOf(iteration).filter((leg) => {
    const committed = committedBy(self, leg)
    return committed === undefined || Decimal.greaterThan(leg.amount, committed.amount)
  })
  const isUnits = ({ party, asset }: Leg) =>
    keyOf({ party, asset }) === keyOf({ party, asset: assetOf(instrument) })
  const row = (gate: "units" | "cash", first: Leg | undefined): Judgement =>
    condition("committed", first === undefined, { gate, party: first?.party })
  return [
    row("units", short.find(isUnits)),
    row(
      "cash",
      short.find((leg) => !isUnits(leg))
    )
  ]
}

/** Checks holds and restrictions. One hold or restriction stops the whole iteration. */
const ofControls = (iteration: IterationContext): ReadonlyArray<Judgement> => {
  const { self, subscriptions, redemptions } = iteration
  const { instrumentId } = self
  const bought = subscriptions.map((order) => ({ ...order, orderId: order.subscriptionId }))
  const sold = redemptions.map((order) => ({ ...order, orderId: order.redemptionId }))
  return [
    ControlGates.held(iteration),
    ...ControlGates.againstEach(iteration, bought, { instrumentId, passing: "units-in" }),
    ...ControlGates.againstEach(iteration, sold, { instrumentId, passing: "units-back" })
  ]
}

/**
 * Checks the holders, as for the same orders by themselves: subscribers are active and admitted, redeemers
 * may have lapsed and need no admission, all are screened.
 */
const ofHolders = (iteration: IterationContext): ReadonlyArray<Judgement> => {
  const { admissions, instrument, now, subscriptions, redemptions } = iteration
  const holders = [...subscriptions, ...redemptions].map(({ holderId }) =>
    iteration.holders.get(holderId)
  )
  const unadmitted = subscriptions.find(({ holderId }) => {
    const admission = admissions.get(holderId)
    return (
      admission === undefined ||
      (admission.validFrom !== null && Instant.isAfter(admission.validFrom, now))
    )
  })
  return [
    condition(
      "holder-active",
      subscriptions.every(({ holderId }) => iteration.holders.get(holderId)?.state === "active") &&
        holders.every((holder) => holder !== undefined && mayDeal(holder)),
      { recovery: "Have the holders' registrations and terms accepted." }
    ),
    condition("admitted", unadmitted === undefined, { party: unadmitted?.party }),
    condition(
      "screening-clear",
      holders.every((holder) => holder === undefined || isScreened(holder))
    ),
    onRegistry(instrument)
  ]
}
