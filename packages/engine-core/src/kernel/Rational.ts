/** Exact fractions for the intermediate terms of a computation, before its one rounding. */
import { Order } from "effect"
import { ArithmeticError } from "./ArithmeticError.ts"
import * as Decimal from "./Decimal.ts"
import { quotient, type RoundTo, tenTo, unitAt } from "./Rounding.ts"

/** A fraction; the denominator is above zero, and the two may share factors. */
export interface Rational {
  readonly numerator: bigint
  readonly denominator: bigint
}

const UNIT = Decimal.atoms(Decimal.one)
/** A fraction above this size is reduced, so that its integers stay small in long computations. */
const REDUCE_ABOVE = 2n ** 512n

const fraction = (numerator: bigint, denominator: bigint): Rational => {
  if (denominator <= REDUCE_ABOVE) return { numerator, denominator }
  let a = numerator < 0n ? -numerator : numerator
  let b = denominator
  while (b !== 0n) [a, b] = [b, a % b]
  return { numerator: numerator / a, denominator: denominator / a }
}

/** Fraction 0. */
export const zero: Rational = { numerator: 0n, denominator: 1n }

/** Fraction 1. */
export const one: Rational = { numerator: 1n, denominator: 1n }

/**
 * Fraction that is a decimal exactly.
 *
 * @example
 * ```ts
 * import { Decimal, Rational } from "@bursar/engine-core/kernel"
 *
 * const third = Rational.divide(Rational.of(Decimal.one), Rational.of(Decimal.of("3")))
 * Rational.equals(Rational.multiply(third, Rational.fromInteger(3)), Rational.one) // => true
 * ```
 */
export const of = (decimal: Decimal.Decimal): Rational => ({
  numerator: Decimal.atoms(decimal),
  denominator: UNIT
})

/** Fraction that is an integer. */
export const fromInteger = (integer: bigint | number): Rational => ({
  numerator: BigInt(integer),
  denominator: 1n
})

/** Sums of figures share a denominator, so the common case multiplies nothing. */
export const add = (self: Rational, that: Rational): Rational =>
  self.denominator === that.denominator
    ? { numerator: self.numerator + that.numerator, denominator: self.denominator }
    : fraction(
        self.numerator * that.denominator + that.numerator * self.denominator,
        self.denominator * that.denominator
      )

/** Fraction of the opposite sign. */
export const negate = (self: Rational): Rational => ({
  numerator: -self.numerator,
  denominator: self.denominator
})

/** Exact difference of two fractions. */
export const subtract = (self: Rational, that: Rational): Rational => add(self, negate(that))

/** Exact product of two fractions. */
export const multiply = (self: Rational, that: Rational): Rational =>
  fraction(self.numerator * that.numerator, self.denominator * that.denominator)

/** Exact quotient of two fractions. Throws where the divisor is 0. */
export const divide = (self: Rational, that: Rational): Rational => {
  if (that.numerator === 0n) throw new ArithmeticError("Rational: division by zero")
  const sign = that.numerator < 0n ? -1n : 1n
  return fraction(
    sign * self.numerator * that.denominator,
    sign * self.denominator * that.numerator
  )
}

/** Exact sum of all fractions; 0 of none. */
export const sum = (rationals: Iterable<Rational>): Rational => {
  let total = zero
  for (const rational of rationals) total = total === zero ? rational : add(total, rational)
  return total
}

/** Sum of the products of decimals at equal places of lists of one length: one fraction in the end. */
export const sumOfProducts = ([first = [], ...others]: ReadonlyArray<
  ReadonlyArray<Decimal.Decimal>
>): Rational => {
  let numerator = 0n
  for (const [index, decimal] of first.entries()) {
    let product = Decimal.atoms(decimal)
    for (const list of others) product *= list[index] ?? 0n
    numerator += product
  }
  return { numerator, denominator: UNIT ** BigInt(others.length + 1) }
}

/** Order of two fractions: -1, 0 or 1. */
export const compare = (self: Rational, that: Rational): -1 | 0 | 1 => {
  const left = self.numerator * that.denominator
  const right = that.numerator * self.denominator
  return left < right ? -1 : left > right ? 1 : 0
}

/** Whether two fractions are one number. */
export const equals = (self: Rational, that: Rational): boolean => compare(self, that) === 0

/** Whether a fraction is less than another. */
export const lessThan = (self: Rational, that: Rational): boolean => compare(self, that) < 0

/** Whether a fraction is another or less. */
export const atMost = (self: Rational, that: Rational): boolean => compare(self, that) <= 0

/** Whether a fraction is greater than another. */
export const greaterThan = (self: Rational, that: Rational): boolean => compare(self, that) > 0

/** Whether a fraction is another or greater. */
export const atLeast = (self: Rational, that: Rational): boolean => compare(self, that) >= 0

/** Smaller of two fractions. */
export const min = (self: Rational, that: Rational): Rational =>
  lessThan(that, self) ? that : self

/** Greater of two fractions. */
export const max = (self: Rational, that: Rational): Rational =>
  greaterThan(that, self) ? that : self

/** Whether a fraction is 0. */
export const isZero = (self: Rational): boolean => self.numerator === 0n

/** Whether a fraction is greater than 0. */
export const isPositive = (self: Rational): boolean => self.numerator > 0n

/** Whether a fraction is less than 0. */
export const isNegative = (self: Rational): boolean => self.numerator < 0n

/** Order of fractions, smallest first. */
export const order: Order.Order<Rational> = Order.make(compare)

/** Most digits of a decimal before its point, as the largest whole number of them. */
const LARGEST = 10n ** 28n - 1n

/** Checks that the fraction still has the digits of a decimal once it is rounded, to any places. */
export const fits = ({ numerator, denominator }: Rational): boolean =>
  (numerator < 0n ? -numerator : numerator) <= denominator * LARGEST

/**
 * Rounds a fraction of at least zero as `round` does, and to the largest whole decimal where no decimal
 * holds it.
 */
export const roundAtMost = (self: Rational, to: RoundTo): Decimal.Decimal =>
  fits(self) ? round(self, to) : Decimal.fromInteger(LARGEST)

/** Rounds the fraction to a decimal: the only rounding of a computation. */
export const round = (self: Rational, to: RoundTo): Decimal.Decimal =>
  Decimal.fromAtoms(
    quotient(self.numerator * tenTo(to.places), self.denominator, to.rounding) * unitAt(to.places)
  )
