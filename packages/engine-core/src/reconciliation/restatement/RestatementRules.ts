/**
 * Pure figures of a restatement: the points that a corrected NAV does not confirm, and orders and
 * distribution lines at that NAV (docs/domain/statements.md#restatement).
 */
import type { DistributionLine } from "../../distributions/distribution/DistributionLine.ts"
import * as DistributionBasis from "../../distributions/distribution/DistributionBasis.ts"
import * as Basis from "../../kernel/Basis.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Offset } from "../../kernel/Offset.ts"
import * as Rational from "../../kernel/Rational.ts"
import { unitAt } from "../../kernel/Rounding.ts"
import * as OrderFormulas from "../../orders/order/OrderFormulas.ts"
import { type SwingInput, swungOf } from "../../orders/dealing-cycle/DealingCycleRules.ts"
import { baseOf } from "../../orders/order/RebasingRules.ts"
import type { Redemption } from "../../orders/redemption/Redemption.ts"
import * as RedemptionPricing from "../../orders/redemption/RedemptionPricing.ts"
import type { Subscription } from "../../orders/subscription/Subscription.ts"
import { dealingOf } from "../../orders/subscription/SubscriptionPricing.ts"
import * as SubscriptionRules from "../../orders/subscription/SubscriptionRules.ts"
import { isWithin, type StatedNav } from "../../statements/nav-feed/PointVerdict.ts"
import type { RestatedField } from "../../vocabulary/sets.ts"
import type { RestatedRow, RestatedTotal } from "./Restatement.ts"

// ---- the point

/** Checks whether a NAV may price: its valuation is not suspended, and it is above 0. */
export const isUsable = ({ official, ripcord }: Pick<StatedNav, "official" | "ripcord">): boolean =>
  !ripcord && Decimal.isPositive(official)

/** Corrected NAV, and the NAVs that earlier statements of the same date stated. */
export interface CorrectedNav {
  readonly to: Decimal.Decimal
  readonly before: ReadonlyArray<Decimal.Decimal>
  /** Largest distance of a price from a NAV that confirms it, as a fraction of the NAV. */
  readonly tolerance: Decimal.Decimal
}

/**
 * Checks whether the corrected NAV confirms a price: the price is within the tolerance of it, and nearer to
 * it than to every earlier NAV that differs from it. A price that lies as near to an earlier one was
 * published on the earlier one.
 */
export const isBorneOut = (
  price: Decimal.Decimal,
  { before, to, tolerance }: CorrectedNav
): boolean => {
  const distance = (nav: Decimal.Decimal) => Decimal.abs(Decimal.subtract(price, nav))
  return (
    isWithin({ nav: to, price }, tolerance) &&
    before.every((nav) => nav === to || Decimal.lessThan(distance(to), distance(nav)))
  )
}

/** Move of a NAV above 0, half up at 10 places, and whether, exactly, it is beyond the tolerance. */
export const moveOf = (
  { from, to }: { readonly from: Decimal.Decimal; readonly to: Decimal.Decimal },
  tolerance: Decimal.Decimal
) => ({
  move: Rational.round(
    Rational.divide(Rational.of(Decimal.subtract(to, from)), Rational.of(from)),
    { places: Decimal.places, rounding: "half-up" }
  ),
  over: !isWithin({ nav: from, price: to }, tolerance)
})

// ---- prices

/** Sources of inputs: the correcting statement, the instrument, and the offset of the read. */
export interface Sources {
  readonly statementId: string
  readonly instrumentId: string
  readonly offset: Offset
}

/** The correcting statement as a source. */
export const ofStatement = ({ statementId: id, offset }: Sources): Basis.Source => ({
  resourceKind: "external-statement",
  id,
  offset
})

/** Price of the orders of a dealing day at the corrected NAV. */
export interface DayPrice {
  readonly price: Decimal.Decimal
  /** Inputs of the swing; null: the price is the NAV itself. */
  readonly swinging: SwingInput | null
}

/**
 * Computes the price of a dealing day at the corrected NAV: swung by the sums of the day's dealing,
 * of which those in units count at that NAV (docs/domain/orders.md#day-price).
 */
export const dayPriceOf = (swinging: SwingInput): DayPrice => {
  const swung = swungOf(swinging)
  return swung === null ? { price: swinging.price, swinging: null } : { price: swung, swinging }
}

const swingBasis = ({ swinging }: DayPrice, sources: Sources): ReadonlyArray<Basis.Basis> => {
  if (swinging === null || swinging.swing === null) return []
  const { ordered, outstanding, price, swing } = swinging
  const { instrumentId: id, offset } = sources
  return Basis.of(OrderFormulas.swing, {
    values: { price, ...ordered, outstanding, ...swing },
    fields: { swungPrice: "swungPrice" },
    source: (name) =>
      name === "price" ? ofStatement(sources) : { resourceKind: "instrument", id, offset }
  })
}

// ---- rows

type Subject = Pick<RestatedRow, "resourceKind" | "id" | "holderId"> & {
  readonly currency: string
}

interface Figure {
  readonly field: RestatedField
  readonly was: Decimal.Decimal
  readonly should: Decimal.Decimal
  readonly basis: () => ReadonlyArray<Basis.Basis>
}

/** Makes rows of the figures that differ. */
const rowsOf = (
  { currency, ...subject }: Subject,
  figures: ReadonlyArray<Figure>
): ReadonlyArray<RestatedRow> =>
  figures
    .filter(({ was, should }) => !Decimal.equals(was, should))
    .map(({ field, was, should, basis }) => ({
      ...subject,
      field,
      unit: field === "units" ? "units" : currency,
      was,
      should,
      owed: Decimal.subtract(should, was),
      basis: basis()
    }))

/** Source of an order's input: an unswung price is the statement's NAV, all else is the order's. */
const sourceOfOrder =
  (
    order: { readonly resourceKind: "subscription" | "redemption"; readonly id: string },
    { swinging }: DayPrice,
    sources: Sources
  ) =>
  (name: string): Basis.Source =>
    (name === "price" || name === "index") && swinging === null
      ? ofStatement(sources)
      : { ...order, offset: sources.offset }

/**
 * Base units that the shown units of an order stand for at the corrected index: a shown unit is worth 1
 * at any index, so that nothing else of a rebasing instrument's order changes.
 */
const baseFigure = (
  {
    index,
    units,
    was
  }: {
    readonly units: Decimal.Decimal
    readonly was: Decimal.Decimal
    readonly index: Decimal.Decimal
  },
  source: (name: string) => Basis.Source
): Figure => ({
  field: "units",
  was,
  should: baseOf(units, index),
  basis: () =>
    Basis.of(OrderFormulas.rebaseTake, {
      values: { units, index },
      fields: { baseUnits: "baseUnits" },
      source
    })
})

/**
 * Rows of a priced subscription at the price of its day: the units that an amount buys, with the refund
 * of what buys none, or the cash that units cost, fee included.
 */
export const ofSubscription = (
  self: Subscription,
  day: DayPrice,
  sources: Sources
): ReadonlyArray<RestatedRow> => {
  const { amount, cash, currency, holderId, refund, subscriptionId: id, units } = self
  if (units === null) throw new Error("a priced subscription has units")
  const order = { resourceKind: "subscription", id } as const
  const source = sourceOfOrder(order, day, sources)
  const swung = () => swingBasis(day, sources)
  const { price } = day
  const { cashDecimals, feeRate, residualRule, unitDecimals } = self
  if (self.isRebasing) {
    const minted = { units, was: self.baseUnits ?? Decimal.zero, index: price }
    return rowsOf({ ...order, holderId, currency }, [baseFigure(minted, source)])
  }
  if (amount === null) {
    const { due } = SubscriptionRules.byUnits(units, dealingOf(self, price))
    const inputs = { units, price, feeRate, cashDecimals }
    const fields = { "cash.expected": "expected" } as const
    return rowsOf({ ...order, holderId, currency }, [
      {
        field: "cash",
        was: Decimal.negate(cash.expected ?? Decimal.zero),
        should: Decimal.negate(due),
        basis: () => [
          ...swung(),
          ...Basis.of(OrderFormulas.subscribeUnits, { values: inputs, fields, source })
        ]
      }
    ])
  }
  const bought = SubscriptionRules.byAmount(amount, dealingOf(self, price))
  const inputs = { amount, price, feeRate, unitDecimals, cashDecimals, residualRule }
  const basis = (figure: "units" | "refund") => () => [
    ...swung(),
    ...Basis.of(OrderFormulas.subscribeAmount, {
      values: inputs,
      fields: { [figure]: figure },
      source
    })
  ]
  return rowsOf({ ...order, holderId, currency }, [
    { field: "units", was: units, should: bought.units, basis: basis("units") },
    {
      field: "refund",
      was: refund ?? Decimal.zero,
      should: bought.refund,
      basis: basis("refund")
    }
  ])
}

/**
 * Row of a priced redemption at the price of its day: the proceeds of its units, or the units that go
 * for its amount. One that was filled in part keeps its fill, and is paid for those units.
 */
export const ofRedemption = (
  self: Redemption,
  day: DayPrice,
  sources: Sources
): ReadonlyArray<RestatedRow> => {
  const { amount, currency, holderId, proceeds, redemptionId: id, units } = self
  if (units === null || proceeds === null) throw new Error("a priced redemption has its figures")
  const order = { resourceKind: "redemption", id } as const
  const source = sourceOfOrder(order, day, sources)
  const swung = () => swingBasis(day, sources)
  const { price } = day
  const { cashDecimals, feeRate, unitDecimals } = self
  if (self.isRebasing) {
    const burned = { units, was: self.baseUnits ?? Decimal.zero, index: price }
    const { basis, should, was } = baseFigure(burned, source)
    return rowsOf({ ...order, holderId, currency }, [
      { field: "units", was: Decimal.negate(was), should: Decimal.negate(should), basis }
    ])
  }
  if (amount !== null && Decimal.equals(proceeds, amount)) {
    const inputs = { amount, price, feeRate, unitDecimals, cashDecimals }
    return rowsOf({ ...order, holderId, currency }, [
      {
        field: "units",
        was: Decimal.negate(units),
        should: Decimal.negate(RedemptionPricing.figuresAt(self, price).units),
        basis: () => [
          ...swung(),
          ...Basis.of(OrderFormulas.redeemAmount, {
            values: inputs,
            fields: { units: "units" },
            source
          })
        ]
      }
    ])
  }
  const inputs = { units, price, feeRate, cashDecimals }
  return rowsOf({ ...order, holderId, currency }, [
    {
      field: "proceeds",
      was: proceeds,
      should: RedemptionPricing.figuresAt({ ...self, amount: null }, price).proceeds,
      basis: () => [
        ...swung(),
        ...Basis.of(OrderFormulas.redeemUnits, {
          values: inputs,
          fields: { proceeds: "proceeds" },
          source
        })
      ]
    }
  ])
}

/** A line at the corrected NAV, with the line that is stored; null: its payee has none. */
export interface RestatedLine {
  readonly stored: DistributionLine | null
  readonly distributionId: string
  readonly currency: string
  readonly holderId: string | null
  readonly inputs: DistributionBasis.Inputs
}

/**
 * Rows of a line: its gross, and what is paid of it, units or the net. A carry has a row where it
 * differs by at least the smallest amount that is paid, for example on a line that was carried
 * whole. A line that an order made void is booked elsewhere and has no rows.
 */
export const ofLine = ({
  stored,
  distributionId,
  currency,
  holderId,
  inputs
}: RestatedLine): ReadonlyArray<RestatedRow> => {
  if (stored?.state === "void") return []
  const { figures, terms } = inputs
  const subject: Subject =
    stored === null
      ? { resourceKind: "distribution", id: distributionId, holderId, currency }
      : {
          resourceKind: "distribution-line",
          id: stored.lineId,
          holderId: stored.holderId,
          currency
        }
  let all: ReadonlyArray<Basis.Basis> | undefined
  const basis = (...fields: ReadonlyArray<string>) => {
    all ??= DistributionBasis.of(inputs)
    return all.filter(({ field }) => ["entitlement", "equalisation", ...fields].includes(field))
  }
  const gross: Figure = {
    field: "gross",
    was: stored?.gross ?? Decimal.zero,
    should: figures.gross,
    basis: () => basis("gross").filter(({ field }) => field !== "equalisation")
  }
  const paid: Figure =
    terms.payout === null
      ? {
          field: "net",
          was: stored?.net ?? Decimal.zero,
          should: figures.net,
          basis: () => basis("net")
        }
      : {
          field: "units",
          was: stored?.payoutUnits ?? Decimal.zero,
          should: figures.payoutUnits ?? Decimal.zero,
          basis: () => basis("net", "payoutUnits")
        }
  const carry: Figure = {
    field: "carry",
    was: stored?.carryOut ?? Decimal.zero,
    should: figures.carryOut,
    basis: () => basis("carryOut").filter(({ field }) => field !== "equalisation")
  }
  const smallest = Decimal.fromAtoms(unitAt(terms.payoutDecimals))
  const isPayable = Decimal.atLeast(
    Decimal.abs(Decimal.subtract(carry.should, carry.was)),
    smallest
  )
  return rowsOf(subject, isPayable ? [gross, paid, carry] : [gross, paid])
}

// ---- totals

/** Sums of what holders are owed, by unit. */
export type Sums = ReadonlyMap<string, Decimal.Decimal>

/**
 * Fields of what holders are owed. A gross contains the net, and a carry is paid by the next line,
 * less the withholding: neither is counted beside the amounts paid.
 */
const counted: ReadonlySet<RestatedField> = new Set(["units", "proceeds", "cash", "refund", "net"])

export const added = (sums: Sums, rows: ReadonlyArray<RestatedRow>): Sums => {
  const next = new Map(sums)
  for (const { field, owed, unit } of rows) {
    if (counted.has(field)) next.set(unit, Decimal.add(next.get(unit) ?? Decimal.zero, owed))
  }
  return next
}

/** Sorts totals by unit. */
export const totalsOf = (sums: Sums): ReadonlyArray<RestatedTotal> =>
  [...sums]
    .map(([unit, owed]) => ({ unit, owed }))
    .toSorted((a, b) => (a.unit < b.unit ? -1 : a.unit > b.unit ? 1 : 0))
