/** Pure figures of a cycle: price, partial fills, sums of both sides, the fund's net. */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Formula from "../../kernel/Formula.ts"
import type { ResidualRule } from "../../vocabulary/sets.ts"
import * as Formulas from "../order/OrderFormulas.ts"
import { type FundNet, type Gating, gatingOf, type Gross } from "./DealingCycle.ts"
import type { OrderedSums } from "./DealingDay.ts"

/** Figures of a priced subscription: its cash, its refund, its units. */
export interface SubscriptionFigures {
  readonly id: string
  readonly cash: Decimal.Decimal
  readonly refund: Decimal.Decimal
  readonly units: Decimal.Decimal
}

/** Figures of a priced redemption: its units, its proceeds, its price and its own fee rate. */
export interface RedemptionFigures {
  readonly id: string
  readonly units: Decimal.Decimal
  readonly proceeds: Decimal.Decimal
  readonly price: Decimal.Decimal
  readonly feeRate: Decimal.Decimal
}

export interface DealingInput {
  readonly subscriptions: ReadonlyArray<SubscriptionFigures>
  readonly redemptions: ReadonlyArray<RedemptionFigures>
  /** Largest number of units redeemed in one cycle; null: no limit. */
  readonly capacity: Decimal.Decimal | null
  readonly unitDecimals: number
  readonly cashDecimals: number
}

/**
 * Partial fill of a redemption; `rest` becomes an order of its own, claimed and unpriced. Units and
 * proceeds are above zero together: a part that would be paid nothing is none.
 */
export interface Fill {
  readonly units: Decimal.Decimal
  readonly proceeds: Decimal.Decimal
  readonly rest: Decimal.Decimal
}

export interface Settlement {
  /** Partial fills by redemption id; the other redemptions are filled in whole. */
  readonly fills: ReadonlyMap<string, Fill>
  readonly gross: Gross
  readonly fundNet: FundNet
  readonly gate: Gating | null
}

/**
 * Computes a cycle's figures by the formulas gate-fill, redeem-units and fund-net
 * (docs/domain/figures.md#cycle-figures). A partial fill is paid for its units, rounded down, and burns
 * none where that comes to nothing (docs/domain/dealing-cycles.md#partial-fills); a redemption filled in
 * whole is paid its proceeds.
 */
export const settlementOf = (dealing: DealingInput): Settlement => {
  const fills = fillsOf(dealing)
  const dealt = dealing.redemptions.map((order) => ({
    id: order.id,
    ...(fills.get(order.id) ?? order)
  }))
  const bought = (amount: (order: SubscriptionFigures) => Decimal.Decimal) =>
    dealing.subscriptions.map((order) => ({ id: order.id, amount: amount(order) }))
  const sides = {
    subscribed: bought(({ cash }) => cash),
    refunded: bought(({ refund }) => refund),
    redeemed: dealt.map(({ id, proceeds }) => ({ id, amount: proceeds })),
    minted: bought(({ units }) => units),
    burned: dealt.map(({ id, units }) => ({ id, amount: units }))
  }
  const gross = {
    subscribed: totalOf(sides.subscribed),
    refunded: totalOf(sides.refunded),
    redeemed: totalOf(sides.redeemed),
    minted: totalOf(sides.minted),
    burned: totalOf(sides.burned)
  }
  const { unitDecimals, cashDecimals } = dealing
  return {
    fills,
    gross,
    fundNet: Formula.compute(Formulas.fundNet, { ...sides, unitDecimals, cashDecimals }),
    gate: gatingOf({
      ordered: Decimal.sum(dealing.redemptions.map(({ units }) => units)),
      filled: gross.burned
    })
  }
}

const totalOf = (items: ReadonlyArray<Formula.Item>): Decimal.Decimal =>
  Decimal.sum(items.map(({ amount }) => amount))

const fillsOf = ({
  redemptions,
  capacity,
  unitDecimals,
  cashDecimals
}: DealingInput): ReadonlyMap<string, Fill> => {
  if (capacity === null) return new Map()
  const { filled } = Formula.compute(Formulas.gateFill, {
    capacity,
    order: redemptions.map(({ id, units }) => ({ id, amount: units })),
    unitDecimals
  })
  return new Map(
    redemptions.flatMap(({ id, units: ordered, price, feeRate }): ReadonlyArray<[string, Fill]> => {
      const units = filled.get(id) ?? Decimal.zero
      if (Decimal.atLeast(units, ordered)) return []
      const terms = { price, feeRate, cashDecimals }
      const { proceeds } = Formula.compute(Formulas.redeemUnits, { units, ...terms })
      return Decimal.isPositive(proceeds)
        ? [[id, { units, proceeds, rest: Decimal.subtract(ordered, units) }]]
        : [[id, { units: Decimal.zero, proceeds: Decimal.zero, rest: ordered }]]
    })
  )
}

// ---- the price

export interface SwingInput {
  /** Price of the official point. */
  readonly price: Decimal.Decimal
  /** Sums of all orders of the dealing day, in the cycle or not. */
  readonly ordered: OrderedSums
  /** Units outstanding. */
  readonly outstanding: Decimal.Decimal
  readonly swing: {
    readonly threshold: Decimal.Decimal
    readonly up: Decimal.Decimal
    readonly down: Decimal.Decimal
  } | null
}

/** Computes the price swung by the day's net flow (docs/domain/figures.md#swing); null: it is not swung. */
export const swungOf = ({
  price,
  ordered,
  outstanding,
  swing
}: SwingInput): Decimal.Decimal | null => {
  if (swing === null) return null
  const { swungPrice } = Formula.compute(Formulas.swing, {
    price,
    ...ordered,
    outstanding,
    ...swing
  })
  return swungPrice === price ? null : swungPrice
}

// ---- what if

/** Cash or units of an order as they were ordered, with the terms it deals at. */
interface OrderTerms {
  readonly id: string
  readonly amount: Decimal.Decimal | null
  readonly units: Decimal.Decimal | null
  readonly feeRate: Decimal.Decimal
  readonly unitDecimals: number
  readonly cashDecimals: number
}

/** Computes the figures of a subscription at a price, by its formula. */
export const boughtAt = (
  {
    id,
    amount,
    units,
    feeRate,
    unitDecimals,
    cashDecimals,
    residualRule
  }: OrderTerms & {
    readonly residualRule: ResidualRule
  },
  price: Decimal.Decimal
): SubscriptionFigures => {
  if (amount !== null) {
    const bought = Formula.compute(Formulas.subscribeAmount, {
      amount,
      price,
      feeRate,
      unitDecimals,
      cashDecimals,
      residualRule
    })
    return { id, cash: amount, refund: bought.refund, units: bought.units }
  }
  const orderedUnits = units ?? nothingAsked(id)
  const cost = Formula.compute(Formulas.subscribeUnits, {
    units: orderedUnits,
    price,
    feeRate,
    cashDecimals
  })
  return { id, cash: cost.expected, refund: Decimal.zero, units: orderedUnits }
}

/** Computes the figures of a redemption at a price, by its formula. */
export const soldAt = (
  { id, amount, units, feeRate, unitDecimals, cashDecimals }: OrderTerms,
  price: Decimal.Decimal
): RedemptionFigures => {
  if (amount !== null) {
    const sold = Formula.compute(Formulas.redeemAmount, {
      amount,
      price,
      feeRate,
      unitDecimals,
      cashDecimals
    })
    return { id, units: sold.units, proceeds: amount, price, feeRate }
  }
  const orderedUnits = units ?? nothingAsked(id)
  const paid = Formula.compute(Formulas.redeemUnits, {
    units: orderedUnits,
    price,
    feeRate,
    cashDecimals
  })
  return { id, units: orderedUnits, proceeds: paid.proceeds, price, feeRate }
}

/** Checks whether the proceeds of a redemption's units at a price are above zero. */
export const isPayable = (
  order: Pick<OrderTerms, "units" | "feeRate" | "unitDecimals" | "cashDecimals">,
  price: Decimal.Decimal
): boolean =>
  Decimal.isPositive(
    soldAt({ ...order, id: "order that is checked", amount: null }, price).proceeds
  )

const nothingAsked = (id: string): never => {
  throw new Error(`the order ${id} asks for neither an amount nor units`)
}
