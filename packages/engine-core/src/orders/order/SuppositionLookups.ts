/** Suppositions of what-if reads: records as they would be at another price or under another policy version. */
import { Effect, Option } from "effect"
import {
  type InstrumentId,
  instruments,
  isRecorded
} from "../../instruments/instrument/Instrument.ts"
import { type Supposition, isAsked } from "../../instruments/policy/Counterfactual.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import { type VersionTerms, termsOf } from "../../instruments/policy/Policy.ts"
import { idOf as versionOf, policyVersions } from "../../instruments/policy/PolicyVersion.ts"
import {
  type PricePoint,
  pricePoints,
  type Quote,
  quotes
} from "../../instruments/price/PricePoint.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { refused } from "../../kernel/Refusal.ts"
import { latestAt } from "../../instruments/price/QuoteOrder.ts"
import * as PinnedRecords from "../../records/PinnedRecords.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { swungOf } from "../dealing-cycle/DealingCycleRules.ts"
import { dealingDays, idOf as dayOf } from "../dealing-cycle/DealingDay.ts"
import { isRebasing } from "./RebasingRules.ts"
import { type Redemption, redemptions } from "../redemption/Redemption.ts"
import * as RedemptionPricing from "../redemption/RedemptionPricing.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import * as SubscriptionPricing from "../subscription/SubscriptionPricing.ts"

/** Input of a supposition: price or policy version, instrument, cut-off. */
interface SuppositionInput {
  readonly instrumentId: InstrumentId
  readonly supposition: Supposition
  /** Cut-off of the orders that the act settles; null: it settles none. */
  readonly cutOffAt: Instant.Instant | null
  readonly pin: Pin.ResolvedPin
}

/**
 * Loads the suppositions of a what-if read (docs/domain/figures.md#what-if-reads). A supposed policy
 * version is in force throughout. A supposed price is the latest published one, and the one at which the
 * orders of the act's cut-off dealt, swung by the flow of their day. Either re-prices those orders by
 * their formulas. Their amounts, instants and cut-offs stay as they are: another cut-off or pricing rule
 * would have made other orders.
 */
export const suppositionsOf = Effect.fnUntraced(function* (input: SuppositionInput) {
  const { supposition, instrumentId, pin } = input
  if (!isAsked(supposition)) return []
  const { policyVersion, price } = supposition
  const terms =
    policyVersion === undefined ? null : yield* versionAsked(instrumentId, policyVersion)
  return [
    ...(terms === null ? [] : [underTerms(instrumentId, terms)]),
    ...(price === undefined ? [] : atPrice(instrumentId, price, pin.judgedAt)),
    ...(yield* dealtOtherwise(input, terms))
  ]
})

/** Loads the terms of a policy version from the current records: it may be later than the pin of the read. */
export const versionAsked = Effect.fnUntraced(function* (
  instrumentId: InstrumentId,
  policyVersion: number
) {
  const records = yield* Records
  const found = yield* records.find(policyVersions, versionOf({ instrumentId, policyVersion }))
  if (Option.isSome(found)) return termsOf(found.value)
  return yield* Effect.fail(
    refused("not-found", { detail: `The instrument has no policy version ${policyVersion}.` })
  )
})

const underTerms = (instrumentId: string, { manifest, policyVersion }: VersionTerms) =>
  PinnedRecords.suppose(instruments, {
    become: (self) =>
      self.instrumentId === instrumentId && isRecorded(self)
        ? { ...self, manifest, policyVersion, termsSince: null, next: null }
        : self
  })

/** Supposes the price for every oracle, also for one that has published none. */
const atPrice = (instrumentId: string, price: Decimal.Decimal, at: Instant.Instant) => {
  const isOf = (quoteId: string) => quoteId.endsWith(`/${instrumentId}`)
  return [
    PinnedRecords.suppose(quotes, {
      become: (self) => (isOf(self.quoteId) ? supposed(self, { price, at }) : self),
      absent: (quoteId) => (isOf(quoteId) ? unpublished({ quoteId, price, at }) : undefined)
    }),
    PinnedRecords.suppose(pricePoints, {
      become: (self): Stored<PricePoint> =>
        self.instrumentId === instrumentId ? { ...self, price } : self
    })
  ]
}

/** The latest price with the supposed figure, at its own time where that has come. */
const supposed = (
  self: Stored<Quote>,
  { price, at }: { readonly price: Decimal.Decimal; readonly at: Instant.Instant }
): Stored<Quote> => {
  const { contractId, valuationTime } = latestAt(self, at) ?? { ...self, valuationTime: at }
  return { ...self, contractId, valuationTime, price, isLive: true, ahead: [] }
}

const unpublished = ({
  quoteId,
  price,
  at
}: {
  readonly quoteId: string
  readonly price: Decimal.Decimal
  readonly at: Instant.Instant
}): Stored<Quote> => ({
  quoteId,
  contractId: "00",
  price,
  valuationTime: at,
  isLive: true,
  ahead: [],
  version: 0,
  createdAt: at,
  updatedAt: at
})

/** Supposes the figures of the priced orders of the cut-off; nothing before the first is priced. */
const dealtOtherwise = Effect.fnUntraced(function* (
  input: SuppositionInput,
  terms: VersionTerms | null
) {
  const { cutOffAt, instrumentId, pin } = input
  if (cutOffAt === null) return []
  const records = yield* Records
  const day = Option.getOrNull(
    yield* records.find(dealingDays, dayOf({ instrumentId, cutOffAt }), pin)
  )
  if (day === null || day.dealt === null) return []
  const { at, ordered, outstanding, pointCid } = day.dealt
  const point = Option.getOrNull(yield* records.find(pricePoints, pointCid, pin))
  const unswung = input.supposition.price ?? point?.price
  if (unswung === undefined) return []
  const instrument = yield* records.get(instruments, instrumentId, pin)
  if (!isRecorded(instrument)) return []
  const { swing, manifest } = terms ?? (yield* inForce(instrument, at))
  const price = isRebasing(manifest)
    ? unswung
    : (swungOf({ price: unswung, ordered, outstanding, swing }) ?? unswung)
  const isOf = (self: DealtOrder): boolean =>
    self.pricedAt !== null &&
    self.instrumentId === instrumentId &&
    Instant.compare(self.cutOffAt, cutOffAt) === 0
  return [
    PinnedRecords.suppose(subscriptions, {
      become: (self) => (isOf(self) ? { ...self, ...boughtAt(self, price, terms) } : self)
    }),
    PinnedRecords.suppose(redemptions, {
      become: (self) => (isOf(self) ? { ...self, ...soldAt(self, price, terms) } : self)
    })
  ]
})

type DealtOrder = Pick<Subscription, "pricedAt" | "instrumentId" | "cutOffAt">

/** Computes a priced subscription's figures at this price, and under these terms unless they are null. */
const boughtAt = (before: Subscription, price: Decimal.Decimal, terms: VersionTerms | null) => {
  const self: Subscription =
    terms === null
      ? before
      : {
          ...before,
          policyVersion: terms.policyVersion,
          feeRate: terms.fees.subscription,
          residualRule: terms.manifest.residual
        }
  const { due, ...figures } = SubscriptionPricing.figuresAt(self, price)
  const { policyVersion, feeRate, residualRule } = self
  const units = figures.baseUnits ?? figures.units
  const lot = self.lot === null ? null : { ...self.lot, basePrice: price, units, remaining: units }
  return {
    ...{ policyVersion, feeRate, residualRule },
    ...figures,
    lot,
    cash: { ...self.cash, expected: due }
  }
}

/** Computes a priced redemption's figures at this price, and under these terms unless they are null. */
const soldAt = (before: Redemption, price: Decimal.Decimal, terms: VersionTerms | null) => {
  const self: Redemption =
    terms === null
      ? before
      : { ...before, policyVersion: terms.policyVersion, feeRate: terms.fees.redemption }
  const { isWhole: _, ...figures } = RedemptionPricing.figuresAt(self, price)
  const { policyVersion, feeRate } = self
  const cash = { ...self.cash, expected: figures.proceeds }
  return { policyVersion, feeRate, ...figures, cash }
}
