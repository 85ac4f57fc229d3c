/**
 * A formula written once, from which both the figure and its basis (the steps an outsider can
 * check) are computed.
 */
import * as Apportion from "./Apportion.ts"
import * as Decimal from "./Decimal.ts"
import * as Rational from "./Rational.ts"
import { type Rounding, tenTo, unitAt } from "./Rounding.ts"

/** Kind of an input: an amount, a number of places, the name of a rounding, or many amounts. */
export type Kind = "amount" | "places" | "word" | "amounts"

/** One of many amounts, with the id of its item. */
export interface Item {
  readonly id: string
  readonly amount: Decimal.Decimal
}

interface ValueOf {
  readonly amount: Decimal.Decimal
  readonly places: number
  readonly word: string
  readonly amounts: ReadonlyArray<Item>
}

/** A figure is one decimal, or shares: one decimal for each of many items. */
export type Shape = "figure" | "shares"

interface FigureOf {
  readonly figure: Decimal.Decimal
  readonly shares: ReadonlyMap<string, Decimal.Decimal>
}

/** Inputs of a formula, each with its kind. */
export type Inputs = Readonly<Record<string, Kind>>

/** Figures of a formula, each with its shape. */
export type Shapes = Readonly<Record<string, Shape>>

/** The values of a formula's inputs, by name. */
export type GivenValues<I extends Inputs> = { readonly [N in keyof I]: ValueOf[I[N]] }
/** The figures that it gives, by name. */
export type Figures<F extends Shapes> = { readonly [N in keyof F]: FigureOf[F[N]] }

type NamesOfKind<I extends Inputs, K extends Kind> = {
  [N in keyof I & string]: I[N] extends K ? N : never
}[keyof I & string]

/** Names that a sheet accepts: of inputs, by kind, and of figures. */
export type Names = Readonly<Record<Kind | "figure", string>>

/** The names of one formula. */
export interface NamesOf<I extends Inputs, F extends Shapes> extends Names {
  readonly amount: NamesOfKind<I, "amount">
  readonly amounts: NamesOfKind<I, "amounts">
  readonly word: NamesOfKind<I, "word">
  readonly places: NamesOfKind<I, "places">
  readonly figure: keyof F & string
}

/** Branch of a formula: one term where the left is above the right, another where it is not. */
export interface Comparison<T> {
  readonly left: T
  readonly right: T
  /** Taken where left > right. */
  readonly above: () => T
  readonly otherwise: () => T
}

/**
 * Interpreter interface that formulas are written against: exact terms, and steps that round one
 * term once. One interpreter computes the figures and another writes their basis, so that the two
 * cannot differ.
 */
export interface Sheet<T, N extends Names = Names> {
  readonly amount: (name: N["amount"]) => T
  readonly total: (name: N["amounts"]) => T
  /**
   * Sum of products: the lists' amounts are multiplied id by id and the products added, without a
   * rounding. All lists have the same ids in the same order; an id that one of them lacks is a fault.
   */
  readonly dot: (...lists: ReadonlyArray<N["amounts"]>) => T
  /** Sum, without a rounding, of one term for each id of the lists, which are as those of `dot`. */
  readonly each: (sum: {
    readonly lists: ReadonlyArray<N["amounts"]>
    /** The term of one id, made of the amounts that the lists have for the id. */
    readonly term: (amountOf: (list: N["amounts"]) => T) => T
  }) => T
  /** A number of the formula itself. */
  readonly number: (value: number) => T
  readonly add: (left: T, right: T) => T
  readonly subtract: (left: T, right: T) => T
  readonly multiply: (left: T, right: T) => T
  readonly divide: (left: T, right: T) => T
  readonly negate: (term: T) => T
  readonly min: (left: T, right: T) => T
  readonly max: (left: T, right: T) => T
  readonly abs: (term: T) => T
  readonly whenAbove: (comparison: Comparison<T>) => T
  readonly whenWord: (choice: {
    readonly name: N["word"]
    readonly is: string
    readonly then: () => T
    readonly otherwise: () => T
  }) => T
  /** A figure: the term rounded once, to places that are fixed or that an input says. */
  readonly round: (figure: {
    readonly figure: N["figure"]
    readonly term: T
    readonly places: N["places"] | number
    readonly rounding: Rounding
  }) => T
  /** A figure for each item: its share of `total`, rounded to these places by largest remainder. */
  readonly share: (figures: {
    readonly figure: N["figure"]
    readonly total: T
    readonly by: N["amounts"]
    readonly places: N["places"] | number
  }) => void
}

/** Formula as data: its inputs, its figures, and the text that documents it. */
export interface Formula<I extends Inputs, F extends Shapes> {
  /** The formula's id, which a basis names (docs/domain/figures.md#basis). */
  readonly name: string
  readonly doc: string
  readonly inputs: I
  readonly figures: F
  readonly work: <T>(sheet: Sheet<T, NamesOf<I, F>>) => void
}

/** A formula of any inputs and figures. */
export interface AnyFormula
  extends Pick<Formula<Inputs, Shapes>, "name" | "doc" | "inputs" | "figures"> {
  readonly work: <T>(sheet: Sheet<T>) => void
}

/** Declares a formula, which computes, checks and explains its figures. */
export const declare = <const I extends Inputs, const F extends Shapes>(
  formula: Formula<I, F>
): Formula<I, F> => formula

/** The figures of a formula for these inputs. */
export const compute = <I extends Inputs, F extends Shapes>(
  formula: Formula<I, F>,
  inputValues: GivenValues<I>
): Figures<F> => computeExact(formula, inputValues).figures

/** The figures of a formula, and of each figure that is rounded its exact term before the rounding. */
export const computeExact = <const I extends Inputs, const F extends Shapes>(
  formula: Formula<I, F>,
  inputValues: GivenValues<I>
): {
  readonly figures: Figures<F>
  readonly terms: { readonly [N in keyof F]?: Rational.Rational }
} => {
  const figures: Record<string, FigureOf[Shape]> = {}
  const terms: Record<string, Rational.Rational> = {}
  formula.work(numbers(inputValues, { figures, terms }))
  // A formula gives the figures that it declares, which a test checks for each listed formula.
  return { figures: figures as Figures<F>, terms: terms as { [N in keyof F]?: Rational.Rational } }
}

interface ComputedFigures {
  readonly figures: Record<string, FigureOf[Shape]>
  readonly terms: Record<string, Rational.Rational>
}

const numbers = (
  values: Readonly<Record<string, ValueOf[Kind] | undefined>>,
  { figures, terms }: ComputedFigures
): Sheet<Rational.Rational> => {
  const placesOf = (places: string | number): number =>
    typeof places === "number" ? places : asPlaces(values[places], places)
  const listsOf = (names: ReadonlyArray<string>) => {
    const lists = names.map((name) => asItems(values[name], name))
    if (!haveSameIds(lists)) throw new Error("the lists of a sum have other ids")
    return lists
  }
  return {
    amount: (name) => Rational.of(asAmount(values[name], name)),
    total: (name) => Rational.of(Decimal.sum(asItems(values[name], name).map(amountOf))),
    dot: (...names) =>
      Rational.sumOfProducts(listsOf(names).map((list) => list.map(({ amount }) => amount))),
    each: ({ lists: names, term }) => {
      const lists = listsOf(names)
      const terms = (lists[0] ?? []).map((_, index) =>
        term((name) => Rational.of(lists[names.indexOf(name)]?.[index]?.amount ?? unfit(name)))
      )
      return Rational.sum(terms)
    },
    number: (value) => Rational.fromInteger(value),
    add: Rational.add,
    subtract: Rational.subtract,
    multiply: Rational.multiply,
    divide: Rational.divide,
    negate: Rational.negate,
    min: Rational.min,
    max: Rational.max,
    abs: (term) => (Rational.isNegative(term) ? Rational.negate(term) : term),
    whenAbove: ({ left, right, above, otherwise }) =>
      Rational.greaterThan(left, right) ? above() : otherwise(),
    whenWord: ({ name, is, then, otherwise }) => (values[name] === is ? then() : otherwise()),
    round: ({ figure, term, places, rounding }) => {
      const value = Rational.round(term, { places: placesOf(places), rounding })
      figures[figure] = value
      terms[figure] = term
      return Rational.of(value)
    },
    share: ({ figure, total, by, places }) => {
      const items = asItems(values[by], by)
      const shared = shareOut({ total, items, places: placesOf(places) })
      figures[figure] = new Map(items.map(({ id }, index) => [id, shared[index] ?? Decimal.zero]))
    }
  }
}

/** Checks that lists have the same ids in the same order. */
export const haveSameIds = ([first = [], ...others]: ReadonlyArray<
  ReadonlyArray<{ readonly id: string }>
>): boolean =>
  others.every(
    (list) => list.length === first.length && first.every(({ id }, index) => list[index]?.id === id)
  )

const amountOf = ({ amount }: Item): Decimal.Decimal => amount

/** Shares of a total, in the order of the items, at the total's places. */
export const shareOut = ({
  total,
  items,
  places
}: {
  readonly total: Rational.Rational
  readonly items: ReadonlyArray<Item>
  readonly places: number
}): ReadonlyArray<Decimal.Decimal> =>
  Apportion.shares(
    (total.numerator * tenTo(places)) / total.denominator,
    items.map(({ id, amount }) => ({ id, weight: Decimal.atoms(amount) }))
  ).map((share) => Decimal.fromAtoms(share * unitAt(places)))

const unfit = (name: string): never => {
  throw new Error(`the input ${name} of a formula is of another kind`)
}

const asAmount = (value: ValueOf[Kind] | undefined, name: string): Decimal.Decimal =>
  Decimal.isDecimal(value) ? value : unfit(name)

const asPlaces = (value: ValueOf[Kind] | undefined, name: string): number =>
  typeof value === "number" ? value : unfit(name)

const asItems = (value: ValueOf[Kind] | undefined, name: string): ReadonlyArray<Item> =>
  typeof value === "object" ? value : unfit(name)
