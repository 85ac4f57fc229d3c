/** Schemas of callers' decimals: units, cash, prices and rates, each with its range and digits. */
import * as Decimal from "./Decimal.ts"

const aboveZero = {
  expected: "a decimal above zero, of at most 28 digits before the point",
  is: Decimal.isPositive
}
const atLeastZero = {
  expected: "a decimal of at least zero, of at most 28 digits before the point",
  is: (decimal: Decimal.Decimal) => decimal >= Decimal.zero
}

const ofUnits = "no more after it than the instrument's unitDecimals"
const ofCash = "no more after it than the currency's minor unit has (ISO 4217)"

/**
 * Units that a forced transfer moves, as the register counts them, above 0: base units of a rebasing
 * instrument; the act's gates judge their places.
 */
export const units = Decimal.plainOf({
  ...aboveZero,
  description: `Units of the instrument, above 0, with ${Decimal.digits}; ${ofUnits}, unless it is rebasing: then these are base units.`
})

/** Cash or units that fund a settlement, above 0; the act's gates judge their places. */
export const funding = Decimal.plainOf({
  ...aboveZero,
  description: `Cash or units, above 0, with ${Decimal.digits}; of units ${ofUnits}, of cash ${ofCash}.`
})

/** A limit of units, above 0, with any number of places: it bounds figures and is none itself. */
export const unitsLimit = Decimal.plainOf({
  ...aboveZero,
  description: `A limit of units of the instrument, above 0, with ${Decimal.digits}.`
})

/** A limit of cash, above 0, with any number of places: it bounds figures and is none itself. */
export const cashLimit = Decimal.plainOf({
  ...aboveZero,
  description: `A limit of cash, above 0, with ${Decimal.digits}.`
})

/** A minimum of units, 0 or more. */
export const unitsLeast = Decimal.plainOf({
  ...atLeastZero,
  description: `The least units of the instrument, at least 0, with ${Decimal.digits}.`
})

/** A minimum of cash, 0 or more. */
export const cashLeast = Decimal.plainOf({
  ...atLeastZero,
  description: `The least cash, at least 0, with ${Decimal.digits}.`
})

/** Largest absolute difference between two figures, in their unit; 0 or more. */
export const tolerance = Decimal.plainOf({
  ...atLeastZero,
  description: `A difference that is tolerated, at least 0, with ${Decimal.digits}.`
})

/** A price of one unit, above 0. */
export const price = Decimal.plainOf({
  ...aboveZero,
  description: `A price of one unit, above 0, with ${Decimal.digits}.`
})

/** A part of another figure that may be more than the whole of it; 0 or more. */
export const share = Decimal.plainOf({
  ...atLeastZero,
  description: `A part of another figure, 1 being all of it: at least 0, with ${Decimal.digits}.`
})

/** Checks that a figure is a rate from 0 to 1, both included. */
export const isRate = (decimal: Decimal.Decimal): boolean =>
  decimal >= Decimal.zero && decimal <= Decimal.one

const rateDigits = "at most 1 digit before the point and 10 after it"

const rateKind = {
  expected: "a rate from 0 to 1, of at most 1 digit before the point",
  is: isRate,
  title: "Rate",
  description: `A rate from 0 to 1, with ${rateDigits}.`
} as const

/** A rate from 0 to 1, both included. */
export const rate = Decimal.plainOf(rateKind)
/** The same in a query. */
export const rateText = Decimal.textOf(rateKind)

/** A rate from 0 that takes less than all. */
export const part = Decimal.plainOf({
  expected: "a rate from 0, below 1, of at most 1 digit before the point",
  title: "RateBelowOne",
  is: (decimal) => decimal >= Decimal.zero && decimal < Decimal.one,
  description: `A rate from 0, below 1, with ${rateDigits}.`
})

/**
 * Upper bound of one order, in cash and in units: its product with a price and a fee, summed over a
 * day's orders, still has at most the 28 digits of a decimal.
 */
export const orderBelow = Decimal.of("1000000000000000")

/**
 * Checks that a figure is within the bound of one order; a wallet can sign any figure on the
 * ledger.
 */
export const isBelowOrderLimit = (size: Decimal.Decimal): boolean =>
  Decimal.lessThan(size, orderBelow)

const orderDigits = "at most 15 digits before the point and 10 after it"
const ofOrder = {
  expected: "a decimal above zero, of at most 15 digits before the point",
  is: (size: Decimal.Decimal) => Decimal.isPositive(size) && isBelowOrderLimit(size)
}

const orderUnitsKind = {
  ...ofOrder,
  description: `Units of the instrument, above 0, with ${orderDigits}; ${ofUnits}.`
}
const orderCashKind = {
  ...ofOrder,
  description: `Cash of an order, above 0, with ${orderDigits}; ${ofCash}.`
}

const depositKind = {
  ...ofOrder,
  description: `Amount of an asset that is put in, above 0, with ${orderDigits}.`
}

/** Amount of an asset that is put into a reserve. */
export const deposit = Decimal.plainOf(depositKind)
/** The same in a query. */
export const depositText = Decimal.textOf(depositKind)

/** Units that an order is for; the order's gates judge their places. */
export const orderUnits = Decimal.plainOf(orderUnitsKind)
/** Cash that an order is for; the order's gates judge its places. */
export const orderCash = Decimal.plainOf(orderCashKind)
/** The same in a query. */
export const orderUnitsText = Decimal.textOf(orderUnitsKind)
/** The same in a query. */
export const orderCashText = Decimal.textOf(orderCashKind)

/** Cash of a bank line, kept as a figure. */
export const bankCash = Decimal.plainOf(
  { ...ofOrder, description: `Cash of a bank line, above 0, with ${orderDigits}.` },
  "in-full"
)

/**
 * Upper bound of a price, an index or an income of one unit: a day's orders at a lower one still sum to
 * a decimal, and so do the units of a holding times it.
 */
export const priceLimit = Decimal.of("10000000000")

/**
 * Upper bound of the worth of one order: units at their limit, at a price at its own. The worths of a day's
 * orders still sum to a decimal.
 */
const worthBelow = Decimal.of("10000000000000000000000000")

/** Checks that a price, an index or an income is above 0 and within its bound. */
export const isPriceWithinLimit = (price: Decimal.Decimal): boolean =>
  Decimal.isPositive(price) && Decimal.lessThan(price, priceLimit)

/** Checks that units are above 0 and within the bound of one order. */
export const isOrderWithinLimit = (size: Decimal.Decimal): boolean =>
  Decimal.isPositive(size) && isBelowOrderLimit(size)

/** Checks that cash is above 0 and within the bound of what one order is worth. */
export const isWorthWithinLimit = (cash: Decimal.Decimal): boolean =>
  Decimal.isPositive(cash) && Decimal.lessThan(cash, worthBelow)

/** A supposed price in the query of a what-if read. */
export const supposedPriceText = Decimal.textOf({
  expected: "a decimal above zero, of at most 10 digits before the point",
  is: (price) => Decimal.isPositive(price) && Decimal.lessThan(price, priceLimit),
  description:
    "A price of one unit, above 0, with at most 10 digits before the point and 10 after it."
})
