/** Look-ups of what-if figures: a cycle at another price or under another policy version. */
import { Effect, Option } from "effect"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import type { Supposition } from "../../instruments/policy/Counterfactual.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import type { VersionTerms } from "../../instruments/policy/Policy.ts"
import { pricePoints } from "../../instruments/price/PricePoint.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import { versionAsked } from "../order/SuppositionLookups.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import { dealtOf, type Orders, settlementOf } from "./DealingCycleOrders.ts"
import * as Rules from "./DealingCycleRules.ts"
import { dealingDays, idOf as dayOf } from "./DealingDay.ts"
import * as Day from "./DealingDay.ts"

/** Figures of a cycle at the supposed price or terms. */
export interface WhatIf {
  readonly policyVersion: number
  readonly price: Decimal.Decimal
  readonly swungPrice: Decimal.Decimal | null
  readonly settlement: Rules.Settlement
  readonly subscriptions: ReadonlyArray<Rules.SubscriptionFigures>
  readonly redemptions: ReadonlyArray<Rules.RedemptionFigures>
  readonly swinging: Rules.SwingInput
}

/**
 * Computes the cycle's figures at the pin of the read with the formulas of its settlement and the same
 * orders. Supposed terms apply to swing, capacity and the fees of the orders. Null if there is no price
 * and none is supposed (docs/domain/figures.md#what-if-reads).
 */
export const whatIf = Effect.fnUntraced(function* (
  cycle: DealingCycle,
  orders: Orders,
  { supposition, pin }: { readonly supposition: Supposition; readonly pin: Pin.ResolvedPin }
) {
  const instrument = yield* recordedAt(cycle, pin)
  const terms =
    supposition.policyVersion === undefined
      ? yield* inForce(instrument, pin.judgedAt)
      : yield* versionAsked(cycle.instrumentId, supposition.policyVersion)
  const price = supposition.price ?? cycle.price ?? (yield* priceOf(orders, pin))
  if (price === null) return null
  const swinging = { price, swing: terms.swing, ...(yield* flowOf(cycle, pin)) }
  const swungPrice = Rules.swungOf(swinging)
  const { bought: subscriptions, sold: redemptions } = dealtAt(swungPrice ?? price, {
    cycle,
    orders,
    under: supposition.policyVersion === undefined ? null : terms
  })
  return {
    policyVersion: terms.policyVersion,
    price,
    swungPrice,
    subscriptions,
    redemptions,
    swinging,
    settlement: Rules.settlementOf({
      subscriptions,
      redemptions,
      capacity: terms.limits.cycleCapacity,
      unitDecimals: cycle.unitDecimals,
      cashDecimals: cycle.cashDecimals
    })
  } satisfies WhatIf
})

/** Finds the price of the point that priced the first priced order. */
const priceOf = Effect.fnUntraced(function* (orders: Orders, pin: Pin.ResolvedPin) {
  const records = yield* Records
  const cid = [...orders.subscriptions, ...orders.redemptions].find(
    ({ pointCid }) => pointCid !== null
  )?.pointCid
  if (cid === undefined || cid === null) return null
  return Option.match(yield* records.find(pricePoints, cid, pin), {
    onNone: () => null,
    onSome: ({ price }) => price
  })
})

/**
 * Computes the settlement of an open cycle past its cut-off, as if it settled at the pin of the read; null
 * for any other cycle. Before the cut-off the gate is unknown, since more orders may join.
 */
export const settlementNow = Effect.fnUntraced(function* (
  cycle: DealingCycle,
  orders: Orders,
  pin: Pin.ResolvedPin
) {
  if (cycle.state !== "open" || cycle.acceptsOrders) return null
  const { limits } = yield* inForce(yield* recordedAt(cycle, pin), pin.judgedAt)
  return settlementOf(cycle, dealtOf(orders).orders, limits.cycleCapacity)
})

/** Loads the inputs of a settled cycle's swing; null: its price was not swung. */
export const swungBy = Effect.fnUntraced(function* (cycle: DealingCycle, pin: Pin.ResolvedPin) {
  if (cycle.price === null || cycle.swungPrice === null) return null
  const records = yield* Records
  const instrument = yield* recordedAt(cycle, pin)
  const day = Option.getOrNull(yield* records.find(dealingDays, dayOf(cycle), pin))
  if (day === null || day.dealt === null) return null
  const { ordered, outstanding, at } = day.dealt
  const { swing } = yield* inForce(instrument, at)
  return { price: cycle.price, ordered, outstanding, swing } satisfies Rules.SwingInput
})

const recordedAt = Effect.fnUntraced(function* (
  { instrumentId }: DealingCycle,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const instrument = Option.getOrNull(yield* records.find(instruments, instrumentId, pin))
  return instrument !== null && isRecorded(instrument)
    ? instrument
    : yield* Effect.die(new Error(`${instrumentId} is not recorded, and has a cycle`))
})

/** Loads the inputs of the swing: those fixed at the first price of the day, else the current sums. */
const flowOf = Effect.fnUntraced(function* (cycle: DealingCycle, pin: Pin.ResolvedPin) {
  const records = yield* Records
  const day = Option.getOrNull(yield* records.find(dealingDays, dayOf(cycle), pin))
  if (day !== null && day.dealt !== null) return day.dealt
  const supply = yield* records.find(supplies, assetKeyOf(cycle), pin)
  return {
    ordered: day?.ordered ?? Day.nothing,
    outstanding: Option.isSome(supply) ? supply.value.units : Decimal.zero
  }
})

/** Computes the figures of every order at a price; a partially filled order counts in whole. */
const dealtAt = (
  price: Decimal.Decimal,
  {
    cycle,
    orders,
    under
  }: {
    readonly cycle: DealingCycle
    readonly orders: Orders
    readonly under: VersionTerms | null
  }
) => {
  const ordered = new Map(cycle.fills.map((fill) => [fill.redemptionId, fill.ordered]))
  return {
    bought: orders.subscriptions.map((order) =>
      Rules.boughtAt(
        {
          ...order,
          id: order.subscriptionId,
          feeRate: under?.fees.subscription ?? order.feeRate,
          residualRule: under?.manifest.residual ?? order.residualRule
        },
        price
      )
    ),
    sold: orders.redemptions.map((order) =>
      Rules.soldAt(
        {
          ...order,
          id: order.redemptionId,
          units: ordered.get(order.redemptionId) ?? order.units,
          feeRate: under?.fees.redemption ?? order.feeRate
        },
        price
      )
    )
  }
}
