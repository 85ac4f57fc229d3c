/** Exact decimals, the only numbers money, units, prices and rates are ever held in. */
import { type Brand, Order, Result, Schema, SchemaGetter } from "effect"
import { ArithmeticError } from "./ArithmeticError.ts"
import * as Codec from "./Codec.ts"
import * as PlainNumber from "./PlainNumber.ts"
import { placesMax, product, quotient, type RoundTo, tenTo, unitAt } from "./Rounding.ts"

export type { Rounding, RoundTo } from "./Rounding.ts"

/** A count of 10^-10 units: at most 28 digits before the point and exactly 10 after it. */
export type Decimal = bigint & Brand.Brand<"Decimal">

/** Fault of a text or number that is no decimal. */
export type DecimalFault = Codec.Fault

/** Number of decimal places of every decimal. */
export { placesMax as places } from "./Rounding.ts"

const ATOMS_PER_ONE = 10n ** 10n
const LIMIT = 10n ** 38n
const LOWEST = -LIMIT

const overflow = (): never => {
  throw new ArithmeticError("Decimal: more than 28 digits before the point")
}

const bounded = (count: bigint): Decimal =>
  count < LIMIT && count > LOWEST ? (count as Decimal) : overflow()

// Construction

/** Decimal 0. */
export const zero = 0n as Decimal

/** Decimal 1. */
export const one = ATOMS_PER_ONE as Decimal

/**
 * The decimal that counts this many 10^-10.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * Decimal.formatPlain(Decimal.fromAtoms(15_000_000_000n)) // => "1.5"
 * ```
 */
export const fromAtoms = (count: bigint): Decimal => bounded(count)
/**
 * The decimal as a count of 10^-10.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * Decimal.atoms(Decimal.of("1.5")) // => 15_000_000_000n
 * ```
 */
export const atoms = (self: Decimal): bigint => self

/**
 * Decimal of an integer. Throws beyond the largest decimal.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * Decimal.formatPlain(Decimal.fromInteger(12)) // => "12"
 * ```
 */
export const fromInteger = (integer: bigint | number): Decimal => {
  if (typeof integer === "number" && !Number.isSafeInteger(integer)) {
    throw new RangeError(`Decimal: ${integer} is no exact integer`)
  }
  return bounded(BigInt(integer) * ATOMS_PER_ONE)
}

/** The digits of every decimal, in words: what the document says of one, and a refusal of one. */
export const digits = "at most 28 digits before the point and 10 after it"

const grammar = /^-?(?:0|[1-9][0-9]{0,27})(?:\.[0-9]{1,10})?$/

const read = (text: string): Decimal => {
  const point = text.indexOf(".")
  if (point < 0) return (BigInt(text) * ATOMS_PER_ONE) as Decimal
  const fraction = text.length - point - 1
  const digits = BigInt(text.slice(0, point) + text.slice(point + 1))
  return (digits * tenTo(placesMax - fraction)) as Decimal
}

/** Reads plain notation: no exponent, no plus, no negative zero, at most 28 and 10 digits. */
export const parse = (text: string): Result.Result<Decimal, DecimalFault> => {
  if (!grammar.test(text)) return Codec.fault(whyNot(text))
  const value = read(text)
  return value === 0n && text.charCodeAt(0) === 0x2d
    ? Codec.fault("a decimal has no negative zero")
    : Result.succeed(value)
}

/** Checks for a number whose only fault is too many digits before the point. */
const isTooLong = (text: string): boolean => /^-?[1-9][0-9]{28,40}(?:\.[0-9]{1,10})?$/.test(text)

const whyNot = (text: string): string => {
  if (/^-?[0-9.]{1,40}[eE]/.test(text)) return "a decimal is written without an exponent"
  if (/^-?(?:0|[1-9][0-9]{0,39})\.[0-9]{11,40}$/.test(text)) {
    return "a decimal has at most 10 digits after the point"
  }
  if (isTooLong(text)) return "a decimal has at most 28 digits before the point"
  return `a decimal is written in plain notation, such as 12.5, with ${digits}`
}

/**
 * Parses a decimal literal of the source code; throws on a malformed one.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * Decimal.format(Decimal.of("1.5")) // => "1.5000000000"
 * ```
 */
export const of = (text: string): Decimal => Codec.orThrow("Decimal", parse(text))

// Printing

/**
 * With all 10 places, as ledger figures are shown: `1.0000000000`.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * Decimal.format(Decimal.of("1")) // => "1.0000000000"
 * ```
 */
export const format = (self: Decimal): string => print(self, placesMax)

/**
 * In least plain form: `1`, `1.5`, `-0.25`.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * Decimal.formatPlain(Decimal.of("1.50")) // => "1.5"
 * ```
 */
export const formatPlain = (self: Decimal): string => {
  const text = print(self, placesMax)
  let end = text.length
  while (text.charCodeAt(end - 1) === 0x30) end--
  return text.slice(0, text.charCodeAt(end - 1) === 0x2e ? end - 1 : end)
}

/**
 * With exactly `n` places; a decimal that does not fit them is a bug, for printing rounds nothing.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * Decimal.formatPlaces(Decimal.of("46.1"), 2) // => "46.10"
 * ```
 */
export const formatPlaces = (self: Decimal, n: number): string => {
  const unit = unitAt(n)
  if (self % unit !== 0n) {
    throw new RangeError(`Decimal: ${format(self)} does not fit ${n} places`)
  }
  return print(self / unit, n)
}

const print = (count: bigint, n: number): string => {
  const negative = count < 0n
  const digits = (negative ? -count : count).toString().padStart(n + 1, "0")
  const sign = negative ? "-" : ""
  if (n === 0) return sign + digits
  const point = digits.length - n
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

// Arithmetic

/**
 * Exact sum of two decimals. Throws beyond the largest decimal.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * const sum = Decimal.add(Decimal.of("0.1"), Decimal.of("0.2"))
 * Decimal.formatPlain(sum) // => "0.3"
 * ```
 */
export const add = (self: Decimal, that: Decimal): Decimal => bounded(self + that)

/**
 * Exact difference of two decimals. Throws beyond the largest decimal.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * Decimal.formatPlain(Decimal.subtract(Decimal.of("1"), Decimal.of("0.9"))) // => "0.1"
 * ```
 */
export const subtract = (self: Decimal, that: Decimal): Decimal => bounded(self - that)

/** Decimal of the opposite sign. */
export const negate = (self: Decimal): Decimal => -self as Decimal

/** Decimal without its sign. */
export const abs = (self: Decimal): Decimal => (self < 0n ? negate(self) : self)

/** The product, rounded once. */
export const multiplyRounded = (self: Decimal, that: Decimal, to: RoundTo): Decimal =>
  bounded(product(self, that, to))

/** The quotient, rounded once. Division by zero is a bug of the caller. */
export const divideRounded = (self: Decimal, that: Decimal, to: RoundTo): Decimal => {
  if (that === 0n) throw new ArithmeticError("Decimal: division by zero")
  const unit = unitAt(to.places)
  const numerator = self * tenTo(to.places)
  return bounded(
    (that > 0n
      ? quotient(numerator, that, to.rounding)
      : quotient(-numerator, -that, to.rounding)) * unit
  )
}

/** Rounds the decimal to fewer places. */
export const round = (self: Decimal, to: RoundTo): Decimal => {
  const unit = unitAt(to.places)
  return bounded(quotient(self, unit, to.rounding) * unit)
}

/** Checks that rounding to `n` places would not change the decimal. */
export const fits = (self: Decimal, places: number): boolean => self % unitAt(places) === 0n

/**
 * Exact sum of all decimals; 0 of none. Throws beyond the largest decimal.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * const fees = ["0.10", "0.20", "0.05"].map(Decimal.of)
 * Decimal.formatPlain(Decimal.sum(fees)) // => "0.35"
 * ```
 */
export const sum = (decimals: Iterable<Decimal>): Decimal => {
  let total = 0n
  for (const decimal of decimals) total += decimal
  return bounded(total)
}

// Comparison

/** Order of two decimals: -1, 0 or 1. */
export const compare = (self: Decimal, that: Decimal): -1 | 0 | 1 =>
  self < that ? -1 : self > that ? 1 : 0

/** Whether a decimal is less than another. */
export const lessThan = (self: Decimal, that: Decimal): boolean => self < that

/**
 * Whether a decimal is another or less.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * Decimal.atMost(Decimal.of("0.5"), Decimal.one) // => true
 * ```
 */
export const atMost = (self: Decimal, that: Decimal): boolean => self <= that

/** Whether a decimal is greater than another. */
export const greaterThan = (self: Decimal, that: Decimal): boolean => self > that

/** Whether a decimal is another or greater. */
export const atLeast = (self: Decimal, that: Decimal): boolean => self >= that

/** Whether two decimals are one number. */
export const equals = (self: Decimal, that: Decimal): boolean => self === that

/** Smaller of two decimals. */
export const min = (self: Decimal, that: Decimal): Decimal => (self < that ? self : that)

/** Greater of two decimals. */
export const max = (self: Decimal, that: Decimal): Decimal => (self > that ? self : that)

/**
 * Whether a decimal is 0.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * Decimal.isZero(Decimal.subtract(Decimal.of("1"), Decimal.one)) // => true
 * ```
 */
export const isZero = (self: Decimal): boolean => self === 0n

/**
 * Whether a decimal is greater than 0.
 *
 * @example
 * ```ts
 * import { Decimal } from "@bursar/engine-core/kernel"
 *
 * [Decimal.of("0.01"), Decimal.zero].map(Decimal.isPositive) // => [true, false]
 * ```
 */
export const isPositive = (self: Decimal): boolean => self > 0n

/** Whether a decimal is less than 0. */
export const isNegative = (self: Decimal): boolean => self < 0n

/** Order of decimals, smallest first. */
export const order: Order.Order<Decimal> = Order.make(compare)

// Schemas

/** Whether a value is a decimal. */
export const isDecimal = (value: unknown): value is Decimal =>
  typeof value === "bigint" && value < LIMIT && value > LOWEST

/** The decimal itself, as held in memory. */
export const self: Schema.Codec<Decimal> = Schema.declare(isDecimal, {
  title: "Decimal",
  expected: "a decimal",
  toFormatter: () => format,
  toCodecArbitrary: () =>
    Schema.link<Decimal>()(
      Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: LOWEST + 1n, maximum: LIMIT - 1n })),
      { decode: SchemaGetter.transform(bounded), encode: SchemaGetter.transform(atoms) }
    ),
  toCodecJson: () =>
    Schema.link<Decimal>()(PlainNumber.decimalAs(`A decimal, with ${digits}.`), {
      decode: SchemaGetter.transform((n: PlainNumber.PlainNumber) => of(n.text)),
      encode: SchemaGetter.transform((d: Decimal) => new PlainNumber.PlainNumber(format(d)))
    })
})

/** A JSON number on the wire; `why` says of a number that is no decimal what should be there. */
const numeric = (options: {
  readonly printed: (self: Decimal) => string
  /** Name of the schema in the API document; absent: it is described where it is used. */
  readonly title?: string
  readonly description: string
  readonly why?: (text: string) => string | undefined
}) =>
  Codec.make({
    from: PlainNumber.decimalAs(options.description, options.title),
    to: self,
    parse: ({ text }: PlainNumber.PlainNumber) => {
      const why = options.why?.(text)
      return why === undefined ? parse(text) : Codec.fault(why)
    },
    print: (value: Decimal) => new PlainNumber.PlainNumber(options.printed(value))
  }).annotate({ title: "Decimal", description: options.description })

/** A figure on the wire and in the store: a JSON number, printed with all 10 places. */
export const schema: Schema.Codec<Decimal, PlainNumber.PlainNumber> = numeric({
  printed: format,
  title: "Decimal",
  description:
    "A decimal in plain notation, with at most 28 digits before the point and exactly 10 after it."
})

/** A caller's own decimal: a JSON number, printed in least plain form. */
export const plain: Schema.Codec<Decimal, PlainNumber.PlainNumber> = numeric({
  printed: formatPlain,
  title: "LeastDecimal",
  description: `A decimal in plain notation, with ${digits}, printed in least form.`
})

/** Kind of decimals: a subset of all decimals that a member accepts. */
export interface Kind {
  /** Sentence for a refusal: the digits before the point, or the highest value, that are accepted. */
  readonly expected: string
  readonly is: (self: Decimal) => boolean
  /** Name in the API document, of a kind that many members are of. */
  readonly title?: string
  /** Description for the API document: what the decimal counts, its range, its digits. */
  readonly description: string
}

/**
 * A caller's own decimal of a kind: a JSON number, printed in least plain form, or with all 10 places
 * where it is kept as a figure. A number with too many digits before the point for any decimal is
 * refused with the limit of the kind, which may be narrower.
 */
export const plainOf = (
  { expected, is, description, title }: Kind,
  printed: "least" | "in-full" = "least"
): Schema.Codec<Decimal, PlainNumber.PlainNumber> =>
  numeric({
    printed: printed === "least" ? formatPlain : format,
    ...(title === undefined ? {} : { title }),
    description,
    why: (text) => (isTooLong(text) ? expected : undefined)
  }).check(Schema.makeFilter((decimal) => (is(decimal) ? undefined : expected), { expected }))

const textAs = (options: {
  readonly description: string
  readonly why?: (text: string) => string | undefined
}) =>
  Codec.make({
    from: Schema.String.annotate({ format: "decimal", description: options.description }),
    to: self,
    parse: (text) => {
      const why = options.why?.(text)
      return why === undefined ? parse(text) : Codec.fault(why)
    },
    print: format
  }).annotate({ title: "Decimal", description: options.description })

/** A decimal of ledger JSON or of a statement's own form: a string, printed with all 10 places. */
export const text: Schema.Codec<Decimal, string> = textAs({
  description:
    "A decimal in plain notation, as a string, with at most 28 digits before the point and 10 after it."
})

/** A decimal of a kind as a string, such as a query has it. */
export const textOf = ({ expected, is, description }: Kind): Schema.Codec<Decimal, string> =>
  textAs({ description, why: (text) => (isTooLong(text) ? expected : undefined) }).check(
    Schema.makeFilter((decimal) => (is(decimal) ? undefined : expected), { expected })
  )
