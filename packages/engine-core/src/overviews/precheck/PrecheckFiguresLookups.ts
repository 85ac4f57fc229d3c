/** Loads the figures of an act whose operation derives none, as far as the records have them. */
import { Effect, Option } from "effect"
import { holders } from "../../holders/holder/Holder.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Currency from "../../kernel/Currency.ts"
import { isSized } from "../../orders/order/OrderSize.ts"
import { signedOrder } from "../../orders/order/SignedOrderLookups.ts"
import { latestMarket } from "../../orders/primary-market/PrimaryMarketLookups.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { unitsOf as unitsFreeOf } from "../../orders/redemption/RedemptionLookups.ts"
import { baseOf, dealtAt, isRebasing } from "../../orders/order/RebasingRules.ts"
import * as RedemptionPricing from "../../orders/redemption/RedemptionPricing.ts"
import { lastPriceOf } from "../../orders/order/LastPriceLookups.ts"
import { attestingOf } from "../../orders/subscription/SubscriptionRules.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import * as SubscriptionRules from "../../orders/subscription/SubscriptionRules.ts"
import { Records } from "../../records/Records.ts"
import { payoutOf, unitsOf } from "../../reserves/reserve-order/ReserveOrderGates.ts"
import * as CoverRules from "../../reserves/reserve/CoverRules.ts"
import { backingOf, booksOf } from "../../reserves/reserve/ReserveLookups.ts"
import { keyOf } from "../../reserves/reserve/ReserveTerms.ts"
import type * as Figures from "../../writes/Figures.ts"
import {
  type InstrumentId,
  instruments,
  isRecorded,
  type RecordedInstrument
} from "../../instruments/instrument/Instrument.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import type { PrecheckedAct, ActParameters } from "./PrecheckRules.ts"

type DerivedFigures = Figures.DerivedFigures["figures"]

/** Loads the figures of an order's act; null for other acts, and before there are any. */
export const figuresOf = (
  act: PrecheckedAct,
  parameters: ActParameters,
  subject: { readonly instrumentId: InstrumentId; readonly now: Instant.Instant }
) => {
  switch (act) {
    case "subscription.claim":
    case "redemption.claim":
      return ofClaim(act, parameters, subject)
    case "subscription.deliver":
    case "subscription.settle":
      return ofSubscription(parameters.subscriptionId ?? "")
    case "redemption.settle":
      return ofRedemption(parameters.redemptionId ?? "")
    case "mint.start":
      return ofMint(parameters, subject)
    case "reserve-redemption.start":
      return ofReserveRedemption(parameters, subject)
    case "admission.offer":
    case "dealing-cycle.settle":
    case "distribution.execute":
    case "instrument.force-transfer":
    case "instrument.recover":
      return Effect.succeed(null)
  }
}

/**
 * Estimated figures of a claim at the latest price under the terms in force, since the order's own
 * price does not exist yet. Null without a price, and of a redemption that is larger than any order. Of a rebasing instrument the price is that of a shown
 * unit, 1, beside the latest index and the base units that would move.
 */
const ofClaim = Effect.fnUntraced(function* (
  act: "subscription.claim" | "redemption.claim",
  parameters: ActParameters,
  { instrumentId, now }: { readonly instrumentId: InstrumentId; readonly now: Instant.Instant }
) {
  const ordered = yield* orderedBy(act, parameters)
  const records = yield* Records
  const instrument = Option.getOrNull(yield* records.find(instruments, instrumentId))
  if (ordered === null || instrument === null || !isRecorded(instrument)) return null
  const terms = yield* inForce(instrument, now)
  const market = yield* latestMarket(instrumentId)
  const { oracle } = attestingOf(instrument, market?.state === "agreed" ? market : null)
  const lastPrice = yield* lastPriceOf(instrument, oracle, now)
  if (lastPrice === null) return null
  const rebases = isRebasing(terms.manifest)
  const { residual, unitDecimals, currency } = terms.manifest
  const places = { unitDecimals, cashDecimals: Currency.decimals(currency) }
  const policyVersion = String(terms.policyVersion)
  if (act === "redemption.claim") {
    const orderedAs = ordered.amount === null ? ("units" as const) : ("amount" as const)
    const order = { ...ordered, ...places, feeRate: terms.fees.redemption, orderedAs }
    const freeUnits = rebases ? yield* freeOf(instrument, parameters, lastPrice) : null
    const claimed = { ...order, isRebasing: rebases, freeUnits }
    // The claim is refused by `too-large`, and no decimal may hold its figures.
    if (!RedemptionPricing.isTakenWithinLimit(claimed, lastPrice)) return null
    const figures = RedemptionPricing.figuresAt(claimed, lastPrice)
    const { price, units, proceeds, fee } = figures
    return {
      ...{ price, units, cash: proceeds, fee, policyVersion },
      ...rebasedBy(figures)
    } satisfies DerivedFigures
  }
  const { index, price } = dealtAt(rebases, lastPrice)
  const dealing = { price, ...places, feeRate: terms.fees.subscription, residual }
  const { units, due, fee, refund } =
    ordered.amount === null
      ? SubscriptionRules.byUnits(ordered.units, dealing)
      : SubscriptionRules.byAmount(ordered.amount, dealing)
  const baseUnits = index === null ? null : baseOf(units, index)
  return {
    ...{ price, units, cash: due, fee, refund, policyVersion },
    ...rebasedBy({ index, baseUnits })
  } satisfies DerivedFigures
})

/** Figures of a rebasing instrument's order beside those that every order has. */
const rebasedBy = ({
  baseUnits,
  index
}: {
  readonly baseUnits: Decimal.Decimal | null
  readonly index: Decimal.Decimal | null
}) => (index === null || baseUnits === null ? {} : { index, baseUnits })

/** Base units of a rebasing instrument that the holder has free for a redemption by wire. */
const freeOf = Effect.fnUntraced(function* (
  instrument: RecordedInstrument,
  { holderId }: ActParameters,
  lastPrice: Decimal.Decimal
) {
  const records = yield* Records
  const holder = Option.getOrNull(yield* records.find(holders, holderId ?? ""))
  if (holder === null) return null
  const { free } = yield* unitsFreeOf(
    { ...instrument, ...holder },
    { payment: "wire", lastPrice, operationId: null }
  )
  return free
})

type OrderedQuantity =
  | { readonly amount: Decimal.Decimal; readonly units: null }
  | { readonly amount: null; readonly units: Decimal.Decimal }

/** Amount or units of a claim: of the order that the holder signed, else of the request. */
const orderedBy = Effect.fnUntraced(function* (
  act: "subscription.claim" | "redemption.claim",
  { amount, holderId, orderId, payment = "wire", units }: ActParameters
) {
  const kind = act === "subscription.claim" ? ("subscription" as const) : ("redemption" as const)
  const request = {
    payment,
    orderId: orderId ?? null,
    amount: amount ?? null,
    units: units ?? null
  }
  const records = yield* Records
  const holder = Option.getOrNull(yield* records.find(holders, holderId ?? ""))
  if (holder === null) return null
  const size = (yield* signedOrder(kind, request, holder.party)) ?? request
  if (!isSized(size)) return null
  if (size.amount !== null) return { amount: size.amount, units: null } satisfies OrderedQuantity
  return size.units === null
    ? null
    : ({ amount: null, units: size.units } satisfies OrderedQuantity)
})

/** Loads the figures of a priced subscription; null before it is priced. */
const ofSubscription = Effect.fnUntraced(function* (subscriptionId: string) {
  const records = yield* Records
  const self = Option.getOrNull(yield* records.find(subscriptions, subscriptionId))
  if (self === null || self.price === null || self.fee === null) return null
  const { price, units, fee, refund, policyVersion } = self
  const { expected: cash } = self.cash
  if (units === null || cash === null || refund === null) return null
  const version = String(policyVersion)
  return {
    ...{ price, units, cash, fee, refund, policyVersion: version },
    ...rebasedBy(self)
  } satisfies DerivedFigures
})

const ofRedemption = Effect.fnUntraced(function* (redemptionId: string) {
  const records = yield* Records
  const self = Option.getOrNull(yield* records.find(redemptions, redemptionId))
  if (self === null || self.price === null || self.fee === null) return null
  if (self.units === null || self.proceeds === null) return null
  const { price, units, fee, proceeds, policyVersion } = self
  const version = String(policyVersion)
  return {
    ...{ price, units, cash: proceeds, fee, policyVersion: version },
    ...rebasedBy(self)
  } satisfies DerivedFigures
})

/** Figures of a move, with the cover before and after it; a ratio of nothing outstanding is left out. */
const coverOf = (before: CoverRules.ReserveBooks, after: CoverRules.ReserveBooks) => {
  const { ratio: coverBefore } = CoverRules.coverOf(before)
  const { counted, ratio: coverAfter, required } = CoverRules.coverOf(after)
  return {
    ...(coverBefore === null ? {} : { coverBefore }),
    ...(coverAfter === null ? {} : { coverAfter }),
    ...{ counted, required }
  }
}

/** Loads the books of the reserve that backs the instrument, and the price of an asset in them. */
const backedBooks = Effect.fnUntraced(function* (
  { asset }: ActParameters,
  { instrumentId, now }: { readonly instrumentId: InstrumentId; readonly now: Instant.Instant }
) {
  const reserve = yield* backingOf(instrumentId)
  if (reserve === null || asset === undefined) return null
  const { books } = yield* booksOf(reserve, { at: now })
  const key = keyOf(asset)
  const price = CoverRules.assetsOf(books).find((one) => one.key === key)?.price ?? null
  const sharePrice = CoverRules.sharePriceOf(books)
  return price === null || sharePrice === null ? null : { asset, books, price, sharePrice }
})

/**
 * Units of a mint and the cover once it has settled, at the prices of now; null without a price, and
 * where no decimal holds what is then locked or outstanding.
 */
const ofMint = Effect.fnUntraced(function* (
  parameters: ActParameters,
  subject: { readonly instrumentId: InstrumentId; readonly now: Instant.Instant }
) {
  const loaded = yield* backedBooks(parameters, subject)
  const { deposit } = parameters
  if (loaded === null || deposit === undefined) return null
  const { asset, books, price, sharePrice } = loaded
  const units = unitsOf({ asset, books, deposit })
  if (units === null) return null
  const after = CoverRules.afterMint(books, { asset, amount: deposit, units })
  if (after === null) return null
  return {
    price,
    sharePrice: sharePrice.up,
    units,
    ...coverOf(books, after)
  } satisfies DerivedFigures
})

/** Payout of a redemption and the cover once it has settled, at the prices of now; null without a price. */
const ofReserveRedemption = Effect.fnUntraced(function* (
  parameters: ActParameters,
  subject: { readonly instrumentId: InstrumentId; readonly now: Instant.Instant }
) {
  const loaded = yield* backedBooks(parameters, subject)
  const { units } = parameters
  if (loaded === null || units === undefined) return null
  const { asset, books, price, sharePrice } = loaded
  const payout = payoutOf({ asset, books, units })
  // A redemption that cannot be paid has no cover figures.
  if (payout === null || Decimal.greaterThan(units, books.outstanding)) return null
  if (Decimal.greaterThan(payout, books.locked.get(keyOf(asset)) ?? Decimal.zero)) return null
  const after = CoverRules.afterRedemption(books, { asset, amount: payout, units })
  return {
    price,
    sharePrice: sharePrice.down,
    payout,
    ...coverOf(books, after)
  } satisfies DerivedFigures
})
