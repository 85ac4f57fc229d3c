/** What an order's acts are judged by, as the records say it now. */
import { Effect, Option } from "effect"
import { holders } from "../../holders/holder/Holder.ts"
import { latest } from "../../instruments/admission/AdmissionOperations.ts"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { inForce } from "../../instruments/policy/InForceReads.ts"
import { pricePoints } from "../../instruments/price/PricePoint.ts"
import type * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import { controlsOf } from "../ControlReads.ts"
import { dayPriceOf } from "../DayPriceReads.ts"
import { liveMarket } from "../primary-market/LiveMarketReads.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import type { Subscription } from "./Subscription.ts"

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

/** An order is priced soon after its point is published: older ones are not looked at. */
const pointsMax = 100

/**
 * The points that may price an order. Those of the very batch that prices it are not listed yet; the
 * one the lot names is found all the same.
 */
export const pointsFor = Effect.fnUntraced(function* (
  of: { readonly instrumentId: string; readonly oracle: string | null },
  pointCid: string
) {
  const records = yield* Records
  const listed = yield* records.list(pricePoints, {
    where: {
      instrumentId: [of.instrumentId],
      ...(of.oracle === null ? {} : { source: [of.oracle] })
    },
    direction: "desc",
    limit: pointsMax
  })
  const known = new Map(listed.map(({ record }) => [record.contractId, record]))
  const named = yield* records.find(pricePoints, pointCid)
  if (Option.isSome(named)) known.set(pointCid, named.value)
  return [...known.values()]
})

/** What an order's price is expected to be, as the terms of its claim and the sums of its day say. */
export const knownFor = Effect.fnUntraced(function* (
  self: Subscription,
  pointCid: string,
  now: Instant.Instant
) {
  const records = yield* Records
  const { instrumentId, attesting, claimedAt } = self
  const points = yield* pointsFor({ instrumentId, oracle: attesting.oracle }, pointCid)
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
