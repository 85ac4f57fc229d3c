/** Detailed view of a dealing cycle: gross legs, fills, and the basis of each figure. */
import { Schema } from "effect"
import * as Basis from "../../kernel/Basis.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Offset } from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import type { Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import * as DealingCycleBasis from "./DealingCycleBasis.ts"
import * as Cycle from "./DealingCycle.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import {
  dealtOf,
  boughtOf,
  grossOfRedemption,
  grossOfSubscription,
  none,
  type Orders,
  partsOf,
  soldOf
} from "./DealingCycleOrders.ts"
import type {
  SubscriptionFigures,
  Settlement,
  RedemptionFigures,
  SwingInput
} from "./DealingCycleRules.ts"
import * as DealingCycleView from "./DealingCycleView.ts"
import type { WhatIf } from "./WhatIfLookups.ts"

/** Leg of an order: an amount of one asset from one party to another. */
export const Leg = Schema.Struct({
  from: Party.schema,
  to: Party.schema,
  asset: Field.asset,
  amount: Decimal.schema
}).annotate({
  identifier: "CycleLeg",
  description: "One leg of an order: an asset from one party to another."
})
export type Leg = typeof Leg.Type

/** The legs are gross, for statements and tax; on the ledger each account moves only its net. */
export const DealingCycleDetail = Schema.Struct({
  ...DealingCycleView.DealingCycleView.fields,
  fills: Schema.Array(Cycle.OrderFill),
  legs: Schema.Array(Leg),
  basis: Schema.Array(Basis.Basis)
}).annotate({
  identifier: "DealingCycleDetail",
  description: "A dealing cycle with its orders' gross legs, and where its figures come from."
})
export type DealingCycleDetail = typeof DealingCycleDetail.Type

/** Inputs of the detailed view. */
export interface Sources {
  readonly view: DealingCycleView.DealingCycleView
  readonly orders: Orders
  /** Inputs of the swing; null if the price is not swung, or if the caller sees only its own orders. */
  readonly swinging: SwingInput | null
  readonly offset: Offset
}

/** Makes the view of an open or settled cycle; a released cycle has no legs, fills or basis. */
export const of = (
  cycle: Stored<DealingCycle>,
  { view, orders, swinging, offset }: Sources
): DealingCycleDetail => {
  if (cycle.endedAs === "released") return { ...view, fills: [], legs: [], basis: [] }
  const visible = new Set(view.orders.redemptions)
  const fills = cycle.fills.filter(({ redemptionId }) => visible.has(redemptionId))
  const parts = partsAsTheyStand(orders)
  // The gate is left out for a reader who sees only some of the fills and cannot recompute it.
  const gate = fills.length === cycle.fills.length ? cycle.gate : null
  return {
    ...view,
    fills,
    legs: legsOf(cycle, orders, {
      subscriptions: orders.subscriptions.flatMap(boughtOf),
      redemptions: orders.redemptions.flatMap(soldOf)
    }),
    basis: DealingCycleBasis.of({ cycle: { ...cycle, gate }, parts, fills, swinging, offset })
  }
}

/** Makes the view with what-if figures; `updatedAt` and `version` stay those of the stored record. */
export const ifDealt = (
  cycle: Stored<DealingCycle>,
  sources: Omit<Sources, "swinging">,
  { policyVersion, price, swungPrice, settlement, swinging, ...dealt }: WhatIf
): DealingCycleDetail => ({
  ...dealtBy(cycle, sources, {
    ...dealt,
    settlement,
    unpriced: none,
    swinging: swungPrice === null ? null : swinging
  }),
  policyVersion,
  price,
  swungPrice
})

/** Makes the view of an open cycle past its cut-off, with the figures that settling it now would give. */
export const settling = (
  cycle: Stored<DealingCycle>,
  sources: Omit<Sources, "swinging">,
  settlement: Settlement
): DealingCycleDetail =>
  dealtBy(cycle, sources, {
    ...partsOf(dealtOf(sources.orders).orders),
    settlement,
    swinging: null
  })

/** Makes the view with the legs, the fills and the basis of a settlement that has not happened. */
const dealtBy = (
  cycle: Stored<DealingCycle>,
  { view, orders, offset }: Omit<Sources, "swinging">,
  {
    settlement,
    swinging,
    unpriced,
    ...orderedParts
  }: Pick<WhatIf, "settlement" | "subscriptions" | "redemptions"> & {
    readonly unpriced: Orders
    readonly swinging: SwingInput | null
  }
): DealingCycleDetail => {
  const { gate } = settlement
  const dealt = orderedParts.redemptions.map((order) => ({
    ...order,
    ...settlement.fills.get(order.id)
  }))
  const fills =
    gate === null
      ? []
      : orderedParts.redemptions.map(({ id, units }, index) => ({
          redemptionId: id,
          ordered: units,
          filled: dealt[index]?.units ?? units,
          remainderId: null
        }))
  const parts = [
    ...orderedParts.subscriptions.map(({ id, cash, refund, units }) =>
      bought(id, { ...Cycle.nothing, subscribed: cash, refunded: refund, minted: units })
    ),
    ...dealt.map(({ id, proceeds, units }) =>
      sold(id, { ...Cycle.nothing, redeemed: proceeds, burned: units })
    ),
    ...partsAsTheyStand(unpriced)
  ]
  return {
    ...DealingCycleView.settling(view, settlement),
    fills,
    legs: legsOf(cycle, orders, { subscriptions: orderedParts.subscriptions, redemptions: dealt }),
    basis: DealingCycleBasis.of({
      cycle: { ...cycle, gate },
      parts,
      fills,
      swinging,
      offset
    })
  }
}

const partsAsTheyStand = (orders: Orders): ReadonlyArray<DealingCycleBasis.Part> => [
  ...orders.subscriptions.map((order) => bought(order.subscriptionId, grossOfSubscription(order))),
  ...orders.redemptions.map((order) => sold(order.redemptionId, grossOfRedemption(order)))
]

const bought = (id: string, gross: Cycle.Gross): DealingCycleBasis.Part => ({
  kind: "subscription",
  id,
  gross
})
const sold = (id: string, gross: Cycle.Gross): DealingCycleBasis.Part => ({
  kind: "redemption",
  id,
  gross
})

/**
 * Returns the legs of the orders. A subscription has cash to the fund, units to the holder and, as a leg
 * of its own, the refund; a redemption has units to the registrar and cash to the holder. An unpriced
 * order has no legs.
 */
const legsOf = (
  cycle: DealingCycle,
  orders: Orders,
  dealt: {
    readonly subscriptions: ReadonlyArray<SubscriptionFigures>
    readonly redemptions: ReadonlyArray<Pick<RedemptionFigures, "id" | "units" | "proceeds">>
  }
): ReadonlyArray<Leg> => {
  const { fund, paymentAsset, registrar } = cycle
  const asset = { admin: registrar, id: cycle.instrumentId }
  const partyOf = new Map<string, Party.Party>([
    ...orders.subscriptions.map((order) => [`s:${order.subscriptionId}`, order.party] as const),
    ...orders.redemptions.map((order) => [`r:${order.redemptionId}`, order.party] as const)
  ])
  return [
    ...dealt.subscriptions.flatMap(({ id, cash, refund, units }) => {
      const holder = partyOf.get(`s:${id}`)
      return holder === undefined
        ? []
        : [
            { from: holder, to: fund, asset: paymentAsset, amount: cash },
            { from: registrar, to: holder, asset, amount: units },
            ...(Decimal.isZero(refund)
              ? []
              : [{ from: fund, to: holder, asset: paymentAsset, amount: refund }])
          ]
    }),
    ...dealt.redemptions.flatMap(({ id, units, proceeds }) => {
      const holder = partyOf.get(`r:${id}`)
      return holder === undefined || Decimal.isZero(units)
        ? []
        : [
            { from: holder, to: registrar, asset, amount: units },
            { from: fund, to: holder, asset: paymentAsset, amount: proceeds }
          ]
    })
  ]
}
