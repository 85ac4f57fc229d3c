/** Look-ups of everything that settling a cycle is judged by, few for any number of orders. */
import { Effect, Option, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { type Holder, holders } from "../../holders/holder/Holder.ts"
import { type Admission, admissions, pairOf } from "../../admissions/Admission.ts"
import { instruments, type Recorded } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import type { Terms } from "../../instruments/policy/Policy.ts"
import { type PricePoint, pricePoints } from "../../instruments/price/PricePoint.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Refused, Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import type { Controls } from "../ControlGates.ts"
import { controlsOf } from "../ControlLookups.ts"
import * as AllocationRules from "../AllocationRules.ts"
import { liveMarket } from "../primary-market/PrimaryMarketLookups.ts"
import { nextCutOff } from "../order/CutOffRules.ts"
import { type DealingCycle, dealingCycles } from "./DealingCycle.ts"
import { openCycleOf } from "./OpenCycleLookups.ts"
import { dealingDays, idOf as dayOf } from "./DealingDay.ts"
import * as Rules from "./DealingCycleRules.ts"
import { none, type Orders, settlementOf } from "./DealingCycleOrders.ts"
import { ordersOf } from "./CycleOrderLookups.ts"
import type { Provision } from "./HoldingSelectionRules.ts"
import { provisionOf } from "./ProvisionLookups.ts"

/** A cycle with all that its settlement asks. */
export interface Standing extends Controls, Around {
  readonly cycle: DealingCycle
  readonly instrument: Recorded
  readonly terms: Terms
  readonly orders: Orders
  /** By holder. */
  readonly holders: ReadonlyMap<string, Pick<Holder, "state" | "screening" | "party">>
  /** By holder: the one in force that was offered last. */
  readonly admissions: ReadonlyMap<string, Pick<Admission, "validFrom" | "credentialCid">>
  readonly market: { readonly marketCid: string } | null
  /** The point that priced its first order, and the price that the day's orders deal at by the rules. */
  readonly point: PricePoint | null
  readonly dealingPrice: Decimal.Decimal | null
  readonly settlement: Rules.Settlement
  /** Shortfall of the fund after its allocations are used up, and the draw that covers it. */
  readonly shortfall: Decimal.Decimal
  readonly provision: Provision | null
  readonly inputsMax: number
  readonly now: Instant.Instant
}

export const standingOf = (
  self: Stored<DealingCycle>,
  now: Instant.Instant
): Effect.Effect<Standing, Refused<"not-found" | "rule-refused"> | Unavailable, Records> =>
  Effect.gen(function* () {
    const records = yield* Records
    const cycle = asServed(self, now)
    const found = yield* records.get(instruments, cycle.instrumentId)
    const instrument = yield* Effect.fromResult(recorded(found))
    const terms = yield* inForce(instrument, now)
    const members =
      (yield* ordersOf([cycle], { pin: null, holderId: null })).get(cycle.cycleId) ?? none
    const orders = {
      subscriptions: members.subscriptions.map((order) => AllocationRules.asServed(order, now)),
      redemptions: members.redemptions.map((order) => AllocationRules.asServed(order, now))
    }
    const { point, dealingPrice } = yield* priceOf(cycle, instrument, orders)
    const settlement = settlementOf(cycle, orders, terms.limits.cycleCapacity)
    const shortfall = shortfallOf(cycle, orders, settlement)
    const { inputsMax } = yield* Settings
    const { instrumentId } = cycle
    const holderIds = holderIdsOf(orders)
    return {
      ...(yield* controlsOf({ instrumentId, holderIds })),
      cycle,
      instrument,
      terms,
      orders,
      holders: yield* holdersOf(orders),
      admissions: yield* admissionsOf(cycle, orders),
      market: yield* marketOf(cycle, orders),
      point,
      dealingPrice,
      settlement,
      shortfall,
      provision: yield* provisionOf(cycle, { amount: shortfall, most: inputsMax }),
      ...(yield* aroundOf(cycle, nextCutOff(terms.cutOff, Instant.max(now, cycle.cutOffAt)).at)),
      inputsMax,
      now
    }
  })

/** The cycle with what its fund has set aside and the ledger still lets be moved. */
const asServed = <C extends Pick<DealingCycle, "allocations">>(
  cycle: C,
  now: Instant.Instant
): C => ({
  ...cycle,
  allocations: cycle.allocations.filter(
    ({ settleBefore }) => settleBefore === null || Instant.isBefore(now, settleBefore)
  )
})

/** The open cycles of an instrument next to one of them, by their cut-offs. */
export interface Around {
  /** The first of those that settle before it; null: it is the next to settle. */
  readonly earlier: Stored<DealingCycle> | null
  /** The cut-off of the next dealing day, at which what a gate leaves over deals. */
  readonly nextCutOffAt: Instant.Instant
  /** The cycle of that day, where it takes orders. */
  readonly next: Stored<DealingCycle> | null
}

export const aroundOf = Effect.fnUntraced(function* (
  { cutOffAt, instrumentId }: Pick<DealingCycle, "instrumentId" | "cutOffAt">,
  nextCutOffAt: Instant.Instant
) {
  const records = yield* Records
  const open = { instrumentId: [instrumentId], state: ["open"] }
  const earlier = yield* records.stream(dealingCycles, { where: open }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter((record) => Instant.isBefore(record.cutOffAt, cutOffAt)),
    Stream.runFold((): Stored<DealingCycle> | null => null, sooner)
  )
  const found = yield* openCycleOf({ instrumentId, cutOffAt: nextCutOffAt })
  const next = found?.acceptsOrders === true ? found : null
  return { earlier, nextCutOffAt, next } satisfies Around
})

const sooner = (one: Stored<DealingCycle> | null, other: Stored<DealingCycle>) =>
  one !== null && Instant.atOrBefore(one.cutOffAt, other.cutOffAt) ? one : other

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

/** Price of the day's orders: that of their point, swung by the day's net flow. */
const priceOf = Effect.fnUntraced(function* (
  cycle: DealingCycle,
  instrument: Recorded,
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
 * The market that the cycle mints and burns under: its fund's, with every attestor that priced an
 * order; what opened while it was agreed settles under it though it is past its date by now.
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

/** Cash the fund owes on balance that neither the orders nor what it set aside brings in. */
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
  const kept = Decimal.subtract(gross.subscribed, gross.refunded)
  const brought = Decimal.sum([kept, ...cycle.allocations.map(({ amount }) => amount)])
  return Decimal.max(Decimal.zero, Decimal.subtract(owed, brought))
}
