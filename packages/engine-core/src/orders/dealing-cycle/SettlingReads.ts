/** Everything that settling a cycle is judged by, gathered with few look-ups however many orders it has. */
import { Effect, Option, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { type Holder, holders } from "../../holders/holder/Holder.ts"
import { type Admission, admissions, pairOf } from "../../instruments/admission/Admission.ts"
import { instruments, type Recorded } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { inForce } from "../../instruments/policy/InForceReads.ts"
import type { Terms } from "../../instruments/policy/Policy.ts"
import { type PricePoint, pricePoints } from "../../instruments/price/PricePoint.ts"
import { assetKeyOf, holdings } from "../../instruments/register/Holding.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { Refused, Unavailable } from "../../kernel/Refusal.ts"
import { contracts } from "../../projection/Contract.ts"
import { Records, type Stored } from "../../records/Records.ts"
import type { Controls } from "../ControlGates.ts"
import { controlsOf } from "../ControlReads.ts"
import { provisionSettlements } from "../../distributions/provision-settlement/ProvisionSettlement.ts"
import { primaryMarkets } from "../primary-market/PrimaryMarket.ts"
import { type DealingCycle, dealingCycles, dealtAt } from "./DealingCycle.ts"
import { dealingDays, idOf as dayOf } from "./DealingDay.ts"
import * as Rules from "./DealingCycleRules.ts"
import { boughtOf, none, type Orders, soldOf } from "./DealingCycleOrders.ts"
import { ordersOf } from "./MemberReads.ts"

/** What the fund lets itself be drawn on for: from whom to whom is the same, from locked to free is not. */
export interface Provision {
  readonly provisionCid: string
  readonly holdingCids: ReadonlyArray<string>
  readonly amount: Decimal.Decimal
}

/** A cycle with all that its settlement asks. */
export interface Standing extends Controls {
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
  /** What the fund is short of, once what it has set aside is used up; and how it is drawn. */
  readonly shortfall: Decimal.Decimal
  readonly provision: Provision | null
  /** Open cycles of the instrument, in the order in which they settle. */
  readonly open: ReadonlyArray<Stored<DealingCycle>>
  readonly inputsMax: number
  readonly now: Instant.Instant
}

export const standingOf = (
  cycle: Stored<DealingCycle>,
  now: Instant.Instant
): Effect.Effect<Standing, Refused<"not-found" | "rule-refused"> | Unavailable, Records> =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.get(instruments, cycle.instrumentId)
    const instrument = yield* Effect.fromResult(recorded(found))
    const terms = yield* inForce(instrument, now)
    const orders =
      (yield* ordersOf([cycle], { pin: null, holderId: null })).get(cycle.cycleId) ?? none
    const { point, dealingPrice } = yield* priceOf(cycle, instrument, orders)
    const settlement = Rules.settlementOf({
      bought: orders.subscriptions.flatMap(boughtOf),
      sold: orders.redemptions.flatMap(soldOf),
      capacity: terms.limits.cycleCapacity,
      unitDecimals: cycle.unitDecimals,
      cashDecimals: cycle.cashDecimals
    })
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
      provision: yield* provisionOf(cycle, shortfall),
      open: yield* openCyclesOf(cycle.instrumentId),
      inputsMax,
      now
    }
  })

/** More cycles than this of one instrument are not open at a time: cut-offs of a year and some days. */
const openMax = 512

/** The open cycles of an instrument, by their cut-offs. */
export const openCyclesOf = Effect.fnUntraced(function* (instrumentId: string) {
  const records = yield* Records
  const listed = yield* records.list(dealingCycles, {
    where: { instrumentId: [instrumentId], state: ["open"] },
    limit: openMax
  })
  return listed.map(({ record }) => record).toSorted((a, b) => (dealtAt(a) < dealtAt(b) ? -1 : 1))
})

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

/** What the day's orders deal at: the price of their point, swung by what was ordered of it. */
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

/** More markets than this an instrument has not had while a cycle waited. */
const marketsMax = 16

/**
 * The market that the cycle mints and burns under: its fund's, with every attestor that priced an
 * order; what opened while it was agreed settles under it though it is past its date by now.
 */
const marketOf = Effect.fnUntraced(function* (cycle: DealingCycle, orders: Orders) {
  const records = yield* Records
  const listed = yield* records.list(primaryMarkets, {
    where: { instrumentId: [cycle.instrumentId], state: ["agreed", "ended"] },
    direction: "desc",
    limit: marketsMax
  })
  const priced = orders.subscriptions.filter(({ lot }) => lot !== null)
  const attestors = new Set(priced.flatMap((order) => order.attestors.map(({ party }) => party)))
  const least = Math.min(...priced.map((order) => order.attestors.length))
  const fitting = listed
    .map(({ record }) => record)
    .filter(
      ({ fund, paymentAsset, terms }) =>
        fund === cycle.fund &&
        paymentAsset.admin === cycle.paymentAsset.admin &&
        paymentAsset.id === cycle.paymentAsset.id &&
        terms.required <= least &&
        [...attestors].every((party) => terms.attestors.includes(party))
    )
  const cids = fitting.flatMap(({ marketCid }) => marketCid ?? [])
  const standing = new Set(
    (yield* records.many(contracts, cids))
      .filter(({ archivedOffset }) => archivedOffset === null)
      .map(({ contractId }) => contractId)
  )
  const marketCid = cids.find((cid) => standing.has(cid))
  return marketCid === undefined ? null : { marketCid }
})

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
  const brought = Decimal.sum([gross.subscribed, ...cycle.allocations.map(({ amount }) => amount)])
  return Decimal.max(Decimal.zero, Decimal.subtract(owed, brought))
}

/** The fund's holdings that are looked at to draw on, and that one draw takes. */
const holdingsMax = 200
const drawnMax = 16

/** How the fund lets itself be drawn on for what it is short of; null where it does not. */
const provisionOf = Effect.fnUntraced(function* (cycle: DealingCycle, amount: Decimal.Decimal) {
  if (Decimal.isZero(amount)) return null
  const records = yield* Records
  const consents = yield* records.list(provisionSettlements, {
    where: { instrumentId: [cycle.instrumentId], state: ["agreed"] },
    direction: "desc",
    limit: marketsMax
  })
  const consent = consents
    .map(({ record }) => record)
    .find(
      ({ fund, paymentAsset, limit }) =>
        fund === cycle.fund &&
        paymentAsset.admin === cycle.paymentAsset.admin &&
        paymentAsset.id === cycle.paymentAsset.id &&
        (limit === null || Decimal.atMost(amount, limit))
    )
  if (consent === undefined || consent.provisionCid === null) return null
  const { admin, id } = cycle.paymentAsset
  const owned = yield* records.list(holdings, {
    where: { owner: [cycle.fund], asset: [assetKeyOf({ registrar: admin, instrumentId: id })] },
    limit: holdingsMax
  })
  const free = owned
    .map(({ record }) => record)
    .filter(({ lock }) => lock === null)
    .toSorted((a, b) => Decimal.compare(b.amount, a.amount))
    .slice(0, drawnMax)
  const drawn: Array<string> = []
  let sum = Decimal.zero
  for (const holding of free) {
    if (Decimal.atLeast(sum, amount)) break
    drawn.push(holding.contractId)
    sum = Decimal.add(sum, holding.amount)
  }
  return Decimal.atLeast(sum, amount)
    ? { provisionCid: consent.provisionCid, holdingCids: drawn, amount }
    : null
})
