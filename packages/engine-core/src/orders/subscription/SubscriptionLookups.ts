/** Look-ups of the records that a subscription's acts are judged by. */
import { Effect, Option, Stream } from "effect"
import { holders } from "../../holders/holder/Holder.ts"
import { latest } from "../../admissions/admission/AdmissionOperations.ts"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import { pricePoints } from "../../instruments/price/PricePoint.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import { controlsOf } from "../ControlLookups.ts"
import { dayPriceOf } from "../DayPriceLookups.ts"
import { liveMarket } from "../primary-market/PrimaryMarketLookups.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import type { Subscription } from "./Subscription.ts"
import { isEligible, type Ordered } from "./SubscriptionRules.ts"

export const standingOf = Effect.fnUntraced(function* (self: Subscription, now: Instant.Instant) {
  const records = yield* Records
  const found = yield* records.get(instruments, self.instrumentId)
  const instrument = yield* Effect.fromResult(recorded(found))
  const holder = yield* records.get(holders, self.holderId)
  const admission = yield* latest(self)
  const { instrumentId, holderId } = self
  const controls = yield* controlsOf({ instrumentId, holderIds: [holderId] })
  return { ...controls, instrument, holder, admission, now }
})

/**
 * The market an order mints under: one whose attestors priced it, agreed or past its date, for what
 * opened while it was agreed settles under it. Null: the registrar is asked to mint.
 */
export const marketOf = (self: Subscription) =>
  liveMarket(self.instrumentId, (market) => fits(self, market))

const fits = (
  { attestors, payment, fund, paymentAsset }: Subscription,
  market: PrimaryMarket
): boolean =>
  attestors.length >= market.terms.required &&
  attestors.every(({ party }) => market.terms.attestors.includes(party)) &&
  (payment === "wire" ||
    (market.fund === fund &&
      market.paymentAsset.admin === paymentAsset?.admin &&
      market.paymentAsset.id === paymentAsset.id))

/** So many are looked at in one go. */
const pointsMax = 100

/**
 * The points among which the one that prices an order is chosen, and the one it was priced at. Where
 * that could be right, these are all that could be chosen before it: valued from the cut-off up to it,
 * or from it up to the claim. Where it could not, the latest ones show which would have been. Those of
 * the very batch that prices it are not listed yet; the named one is found all the same, and those
 * that are listed are read as this transaction leaves them: one may have been corrected in it.
 */
export const pointsFor = Effect.fnUntraced(function* (
  of: Ordered & { readonly instrumentId: string; readonly oracle: string | null },
  pointCid: string
) {
  const records = yield* Records
  const named = Option.getOrNull(yield* records.find(pricePoints, pointCid))
  const where = {
    instrumentId: [of.instrumentId],
    ...(of.oracle === null ? {} : { source: [of.oracle] })
  }
  const mayPrice =
    named !== null && named.correctedBy === null && named.isLive && isEligible(named, of)
  const query = {
    where,
    direction: "desc" as const,
    ...(mayPrice ? { ranges: { valuationTime: rivalsOf(named, of) } } : {})
  }
  const listed = yield* records.list(pricePoints, { ...query, limit: pointsMax })
  const rows =
    mayPrice && listed.length === pointsMax
      ? yield* Stream.runCollect(records.stream(pricePoints, query))
      : listed
  const now = yield* records.many(
    pricePoints,
    rows.map(({ record }) => record.contractId)
  )
  const known = new Map(now.map((point) => [point.contractId, point]))
  if (named !== null) known.set(pointCid, named)
  return [...known.values()]
})

/** When a point is valued that would be chosen before this one, or is valued when it is. */
const rivalsOf = (
  { valuationTime }: { readonly valuationTime: Instant.Instant },
  { claimedAt, cutOffAt, pricing }: Ordered
) => {
  const justAfter = Instant.sortable(Instant.fromNanos(valuationTime + 1n))
  return pricing === "forward"
    ? { from: Instant.sortable(cutOffAt), to: justAfter }
    : { from: Instant.sortable(valuationTime), to: Instant.sortable(claimedAt) }
}

/** What an order's price is expected to be, as the terms of its claim and the sums of its day say. */
export const knownFor = Effect.fnUntraced(function* (
  self: Subscription,
  pointCid: string,
  now: Instant.Instant
) {
  const records = yield* Records
  const { instrumentId, attesting, claimedAt } = self
  const points = yield* pointsFor({ ...self, oracle: attesting.oracle }, pointCid)
  const named = points.find(({ contractId }) => contractId === pointCid)
  const found = yield* records.find(instruments, instrumentId)
  if (Option.isNone(found) || !isRecorded(found.value)) {
    return yield* Effect.die(new Error("an order is claimed for a recorded instrument"))
  }
  const { grace } = yield* inForce(found.value, claimedAt)
  const pricing = { instrument: found.value, now }
  const dayPrice = named === undefined ? null : yield* dayPriceOf(self, named.price, pricing)
  return { points, dayPrice, staleAfter: grace["nav-usable"] ?? null }
})
