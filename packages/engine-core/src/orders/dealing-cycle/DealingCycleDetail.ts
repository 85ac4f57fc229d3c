/** One dealing cycle with everything behind its figures: gross legs, fills, and the basis of each sum. */
import { Schema } from "effect"
import * as Basis from "../../kernel/Basis.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Offset } from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import type { Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import * as DealingCycleBasis from "./DealingCycleBasis.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import * as Cycle from "./DealingCycleMachine.ts"
import {
  boughtOf,
  grossOfRedemption,
  grossOfSubscription,
  none,
  type Orders,
  partsOf,
  soldOf
} from "./DealingCycleOrders.ts"
import type { Bought, Settlement, Sold, Swinging } from "./DealingCycleRules.ts"
import * as DealingCycleView from "./DealingCycleView.ts"
import type { WhatIf } from "./WhatIfLookups.ts"

/** One side of what an order comes to: an asset from one party to another. */
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

/** The legs are gross: each account moves only its net, statements and tax go by these. */
export const DealingCycleDetail = Schema.Struct({
  ...DealingCycleView.DealingCycleView.fields,
  fills: Schema.Array(Cycle.Filled),
  legs: Schema.Array(Leg),
  basis: Schema.Array(Basis.Basis)
}).annotate({
  identifier: "DealingCycleDetail",
  description: "A dealing cycle with its orders' gross legs, and where its figures come from."
})
export type DealingCycleDetail = typeof DealingCycleDetail.Type

export interface Behind {
  readonly view: DealingCycleView.DealingCycleView
  readonly orders: Orders
  /** Null where the price is not swung, or where the caller sees no more than its own orders. */
  readonly swinging: Swinging | null
  readonly offset: Offset
}

/** The cycle as it stands, or as it was dealt; of one that was released nothing was. */
export const of = (
  cycle: Stored<DealingCycle>,
  { view, orders, swinging, offset }: Behind
): DealingCycleDetail => {
  if (cycle.endedAs === "released") return { ...view, fills: [], legs: [], basis: [] }
  const seen = new Set(view.orders.redemptions)
  const fills = cycle.fills.filter(({ redemptionId }) => seen.has(redemptionId))
  const parts = partsAsTheyStand(orders)
  // The gate is left out for a reader who sees only some of the fills and cannot recompute it.
  const gate = fills.length === cycle.fills.length ? cycle.gate : null
  return {
    ...view,
    fills,
    legs: legsOf(cycle, orders, {
      bought: orders.subscriptions.flatMap(boughtOf),
      sold: orders.redemptions.flatMap(soldOf)
    }),
    basis: DealingCycleBasis.of({ cycle: { ...cycle, gate }, parts, fills, swinging, offset })
  }
}

/** The cycle with what-if figures; time and version stay those of the stored record. */
export const ifDealt = (
  cycle: Stored<DealingCycle>,
  behind: Omit<Behind, "swinging">,
  { policyVersion, price, swungPrice, settlement, swinging, ...asked }: WhatIf
): DealingCycleDetail => ({
  ...dealtBy(cycle, behind, {
    ...asked,
    settlement,
    unpriced: none,
    swinging: swungPrice === null ? null : swinging
  }),
  policyVersion,
  price,
  swungPrice
})

/** The open cycle past its cut-off, with the figures that settling it now would give. */
export const settling = (
  cycle: Stored<DealingCycle>,
  behind: Omit<Behind, "swinging">,
  settlement: Settlement
): DealingCycleDetail =>
  dealtBy(cycle, behind, { ...partsOf(behind.orders), settlement, swinging: null })

/** The cycle with the legs, the fills and the basis of a settlement that has not happened. */
const dealtBy = (
  cycle: Stored<DealingCycle>,
  { view, orders, offset }: Omit<Behind, "swinging">,
  {
    settlement,
    swinging,
    unpriced,
    ...asked
  }: Pick<WhatIf, "settlement" | "bought" | "sold"> & {
    readonly unpriced: Orders
    readonly swinging: Swinging | null
  }
): DealingCycleDetail => {
  const { gate } = settlement
  const dealt = asked.sold.map((order) => ({
    ...order,
    ...settlement.fills.get(order.id)
  }))
  const fills =
    gate === null
      ? []
      : asked.sold.map(({ id, units }, index) => ({
          redemptionId: id,
          ordered: units,
          filled: dealt[index]?.units ?? units,
          remainderId: null
        }))
  const parts = [
    ...asked.bought.map(({ id, cash, refund, units }) =>
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
    legs: legsOf(cycle, orders, { bought: asked.bought, sold: dealt }),
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
 * Cash to the fund and units to the holder for a subscription, with the cash that goes back as a leg of
 * its own; units away and cash to the holder for a redemption. An unpriced order has no legs yet.
 */
const legsOf = (
  cycle: DealingCycle,
  orders: Orders,
  dealt: {
    readonly bought: ReadonlyArray<Bought>
    readonly sold: ReadonlyArray<Pick<Sold, "id" | "units" | "proceeds">>
  }
): ReadonlyArray<Leg> => {
  const { fund, paymentAsset, registrar } = cycle
  const asset = { admin: registrar, id: cycle.instrumentId }
  const partyOf = new Map<string, Party.Party>([
    ...orders.subscriptions.map((order) => [`s:${order.subscriptionId}`, order.party] as const),
    ...orders.redemptions.map((order) => [`r:${order.redemptionId}`, order.party] as const)
  ])
  return [
    ...dealt.bought.flatMap(({ id, cash, refund, units }) => {
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
    ...dealt.sold.flatMap(({ id, units, proceeds }) => {
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
