/** Look-ups of the records that settling a cycle is checked against; their number does not grow with the orders. */
import { Effect, Option, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { type Holder, holders } from "../../holders/holder/Holder.ts"
import { type Admission, admissions, pairOf } from "../../admissions/Admission.ts"
import { instruments, type RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import type { VersionTerms } from "../../instruments/policy/Policy.ts"
import { type PricePoint, pricePoints } from "../../instruments/price/PricePoint.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Refused, Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import type { FeedVerdict } from "../../statements/nav-feed/PointVerdict.ts"
import type { Controls } from "../order/ControlGates.ts"
import { controlsOf } from "../order/ControlLookups.ts"
import * as AllocationRules from "../order/AllocationRules.ts"
import { liveMarket } from "../primary-market/PrimaryMarketLookups.ts"
import { nextCutOff } from "../order/CutOffRules.ts"
import { type DealingCycle, dealingCycles } from "./DealingCycle.ts"
import { openCycleOf } from "./OpenCycleLookups.ts"
import { dealingDays, idOf as dayOf } from "./DealingDay.ts"
import * as Rules from "./DealingCycleRules.ts"
import { isOfMarket } from "./JoiningRules.ts"
import { dealtOf, none, type Orders, settlementOf } from "./DealingCycleOrders.ts"
import { ordersOf } from "./CycleOrderLookups.ts"
import type { Provision } from "./HoldingSelectionRules.ts"
import { provisionOf } from "./ProvisionLookups.ts"
import { unpaidIn } from "./PurseLookups.ts"
import type { PursePayment } from "./PurseRules.ts"

/** A cycle with the records and figures that its settlement is checked against. */
export interface CycleSettlementContext extends Controls, NeighbouringCycles {
  readonly cycle: DealingCycle
  readonly instrument: RecordedInstrument
  readonly terms: VersionTerms
  readonly orders: Orders
  /** Orders that come to nothing at the cycle's price: they end unsettled as it settles. */
  readonly tooSmall: Orders
  /** Holders of the orders, by id. */
  readonly holders: ReadonlyMap<string, Pick<Holder, "state" | "screening" | "party">>
  /** Admission in force of each holder, by id; the latest if there are several. */
  readonly admissions: ReadonlyMap<string, Pick<Admission, "validFrom" | "credentialCid">>
  readonly market: { readonly marketCid: string } | null
  /** The point that priced the cycle's first priced order; null: none is priced. */
  readonly point: PricePoint | null
  /** Verdict on the point: of its oracle, which may have taken it back, and of the administrator's feed. */
  readonly feed: FeedVerdict
  /** Price of the day's orders by the rules, swung or not; null: none is priced. */
  readonly dealingPrice: Decimal.Decimal | null
  readonly settlement: Rules.Settlement
  /** Cash that the fund owes beyond its allocations; never below 0. */
  readonly shortfall: Decimal.Decimal
  /** Draw on the fund's provision that covers the shortfall; null: none is needed, or none covers it. */
  readonly provision: Provision | null
  /** Redemption that no cash of one provider pays, although all cash together does; null: there is none. */
  readonly unpaid: PursePayment | null
  /** Largest number of contracts that one ledger transaction uses. */
  readonly inputsMax: number
  readonly now: Instant.Instant
}

/** Loads the context of a cycle's settlement at an instant; refuses an instrument that is not recorded. */
export const contextOf = (
  self: Stored<DealingCycle>,
  now: Instant.Instant
): Effect.Effect<
  CycleSettlementContext,
  Refused<"not-found" | "rule-refused"> | Unavailable,
  Records
> =>
  Effect.gen(function* () {
    const records = yield* Records
    const cycle = asServed(self, now)
    const found = yield* records.get(instruments, cycle.instrumentId)
    const instrument = yield* Effect.fromResult(recorded(found))
    const terms = yield* inForce(instrument, now)
    const members =
      (yield* ordersOf([cycle], { pin: null, holderId: null })).get(cycle.cycleId) ?? none
    const { orders, tooSmall } = dealtOf({
      subscriptions: members.subscriptions.map((order) => AllocationRules.asServed(order, now)),
      redemptions: members.redemptions.map((order) => AllocationRules.asServed(order, now))
    })
    const { point, dealingPrice } = yield* priceOf(cycle, instrument, orders)
    const settlement = settlementOf(cycle, orders, terms.limits.cycleCapacity)
    const shortfall = shortfallOf(cycle, orders, settlement)
    const { inputsMax } = yield* Settings
    const provision = yield* provisionOf(cycle, { amount: shortfall, most: inputsMax })
    const { instrumentId } = cycle
    const holderIds = holderIdsOf(orders)
    return {
      ...(yield* controlsOf({ instrumentId, holderIds })),
      cycle,
      instrument,
      terms,
      orders,
      tooSmall,
      holders: yield* holdersOf(orders),
      admissions: yield* admissionsOf(cycle, orders),
      market: yield* marketOf(cycle, orders),
      point,
      feed: yield* feedOf({ instrumentId, terms }, point, now),
      dealingPrice,
      settlement,
      shortfall,
      provision,
      unpaid: yield* unpaidIn(cycle, { orders, provision, settlement }),
      ...(yield* aroundOf(cycle, nextCutOff(terms.cutOff, Instant.max(now, cycle.cutOffAt)).at)),
      inputsMax,
      now
    }
  })

const feedOf = (
  fed: NavFeedLookups.InstrumentTerms,
  point: PricePoint | null,
  now: Instant.Instant
) =>
  point === null
    ? Effect.succeed("none" as const)
    : NavFeedLookups.verdictOnOrders(fed, [{ pointCid: point.contractId }], now)

/** Returns the cycle with the allocations of its fund that are before their deadline. */
const asServed = <C extends Pick<DealingCycle, "allocations">>(
  cycle: C,
  now: Instant.Instant
): C => ({
  ...cycle,
  allocations: cycle.allocations.filter(
    ({ settleBefore }) => settleBefore === null || Instant.isBefore(now, settleBefore)
  )
})

/** Open cycles of an instrument before and after one of its cycles, by cut-off. */
interface NeighbouringCycles {
  /** The earliest open cycle of an earlier cut-off; null: this cycle is the next to settle. */
  readonly earlier: Stored<DealingCycle> | null
  /** Cut-off of the next dealing day, at which the remainders of partial fills deal. */
  readonly nextCutOffAt: Instant.Instant
  /** Open cycle of that cut-off, if it accepts orders of this cycle's fund and payment asset. */
  readonly next: Stored<DealingCycle> | null
}

/** Loads the open cycles before and after a cycle; the later one only of the same fund and payment asset. */
export const aroundOf = Effect.fnUntraced(function* (
  cycle: Pick<DealingCycle, "instrumentId" | "cutOffAt" | "fund" | "paymentAsset">,
  nextCutOffAt: Instant.Instant
) {
  const { cutOffAt, instrumentId } = cycle
  const records = yield* Records
  const open = { instrumentId: [instrumentId], state: ["open"] }
  const earlier = yield* records.stream(dealingCycles, { where: open }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter((record) => Instant.isBefore(record.cutOffAt, cutOffAt)),
    Stream.runFold((): Stored<DealingCycle> | null => null, earlierOf)
  )
  const found = yield* openCycleOf({ instrumentId, cutOffAt: nextCutOffAt })
  const next = found?.acceptsOrders === true && isOfMarket(found, cycle) ? found : null
  return { earlier, nextCutOffAt, next } satisfies NeighbouringCycles
})

const earlierOf = (earliest: Stored<DealingCycle> | null, cycle: Stored<DealingCycle>) =>
  earliest !== null && Instant.atOrBefore(earliest.cutOffAt, cycle.cutOffAt) ? earliest : cycle

const holderIdsOf = ({ subscriptions, redemptions }: Orders): ReadonlyArray<string> => [
  ...new Set([...subscriptions, ...redemptions].map(({ holderId }) => holderId))
]

const holdersOf = Effect.fnUntraced(function* (orders: Orders) {
  const records = yield* Records
  const found = yield* records.many(holders, holderIdsOf(orders))
  return new Map<string, Stored<Holder>>(found.map((holder) => [holder.holderId, holder]))
})

const admissionsOf = Effect.fnUntraced(function* ({ instrumentId }: DealingCycle, orders: Orders) {
  const records = yield* Records
  const pairs = new Set(
    orders.subscriptions.map(({ holderId }) => pairOf({ holderId, instrumentId }))
  )
  if (pairs.size === 0) return new Map<string, Stored<Admission>>()
  const found = yield* Stream.runCollect(
    records.stream(admissions, { where: { pair: [...pairs], state: ["admitted"] } })
  )
  return new Map(found.map(({ record }) => [record.holderId, record]))
})

/** Loads the point of the cycle's orders and computes its price, swung by the day's net flow. */
const priceOf = Effect.fnUntraced(function* (
  cycle: DealingCycle,
  instrument: RecordedInstrument,
  orders: Orders
) {
  const records = yield* Records
  const day = Option.getOrNull(yield* records.find(dealingDays, dayOf(cycle)))
  const pointCid = [...orders.subscriptions, ...orders.redemptions].find(
    (order) => order.pointCid !== null
  )?.pointCid
  const point =
    pointCid === undefined || pointCid === null
      ? null
      : Option.getOrNull(yield* records.find(pricePoints, pointCid))
  if (point === null || day === null || day.dealt === null) return { point, dealingPrice: null }
  const { swing } = yield* inForce(instrument, day.dealt.at)
  const swung = Rules.swungOf({ price: point.price, ...day.dealt, swing })
  return { point, dealingPrice: swung ?? point.price }
})

/**
 * Finds the live market that mints and burns the cycle's orders: of the cycle's fund and payment asset,
 * with every attestor that priced an order; also past its date, since orders claimed while it was agreed
 * settle under it.
 */
const marketOf = (cycle: DealingCycle, orders: Orders) => {
  const priced = orders.subscriptions.filter(({ lot }) => lot !== null)
  const attestors = new Set(priced.flatMap((order) => order.attestors.map(({ party }) => party)))
  const least = Math.min(...priced.map((order) => order.attestors.length))
  return liveMarket(
    cycle.instrumentId,
    ({ fund, paymentAsset, terms }) =>
      fund === cycle.fund &&
      paymentAsset.admin === cycle.paymentAsset.admin &&
      paymentAsset.id === cycle.paymentAsset.id &&
      terms.required <= least &&
      [...attestors].every((party) => terms.attestors.includes(party))
  )
}

/** Computes the cash that the fund owes beyond what the subscriptions and its allocations bring in. */
const shortfallOf = (
  cycle: DealingCycle,
  orders: Orders,
  { gross, fills }: Rules.Settlement
): Decimal.Decimal => {
  const paidApart = Decimal.sum(
    orders.redemptions.flatMap((order) =>
      order.allocation === null || fills.has(order.redemptionId) ? [] : [order.allocation.amount]
    )
  )
  const owed = Decimal.subtract(gross.redeemed, paidApart)
  const netSubscribed = Decimal.subtract(gross.subscribed, gross.refunded)
  const brought = Decimal.sum([netSubscribed, ...cycle.allocations.map(({ amount }) => amount)])
  return Decimal.max(Decimal.zero, Decimal.subtract(owed, brought))
}
