/**
 * Interpreter of formulas that writes the basis: each step in names and in numbers, and the inputs
 * it uses.
 */
import { Result } from "effect"
import * as Decimal from "./Decimal.ts"
import {
  type AnyFormula,
  type Comparison,
  haveSameIds,
  type Item,
  type Kind,
  shareOut,
  type Sheet
} from "./Formula.ts"
import * as Rational from "./Rational.ts"
import type { Rounding } from "./Rounding.ts"

interface Input {
  readonly name: string
  readonly value: string
  readonly id: string
}

interface Step {
  readonly op: string
  readonly places: number
  readonly rounding: Rounding | "largest-remainder"
  readonly value: string
}

/** Precedence of a term's last operation, from which the brackets follow. */
type Binding = "sum" | "product" | "atom"

interface Term {
  /** Undefined where an input is missing, or where there is no such number. */
  readonly value: Rational.Rational | undefined
  readonly names: string
  readonly shown: string
  readonly binding: Binding
  readonly stands: Stands
}

/** Dependencies of a term: inputs and earlier steps, each by its index. */
interface Stands {
  readonly inputs: ReadonlySet<number>
  readonly steps: ReadonlySet<number>
}

interface FigureStep {
  readonly figure: string
  readonly step: Step | undefined
  readonly stands: Stands
}

interface Derivation {
  /** The inputs a figure uses, by index. */
  readonly used: ReadonlySet<number>
  /** The steps it takes, in order. */
  readonly steps: ReadonlyArray<Step>
}

/**
 * Evaluates the formula on these inputs, at least those that the requested figures need; fails on
 * an input that is not the formula's own, and on a figure that cannot be computed.
 */
export const evaluate = (
  formula: AnyFormula,
  inputs: ReadonlyArray<Input>
): Result.Result<(figure: string) => Result.Result<Derivation, string>, string> => {
  const fault = unfit(formula, inputs)
  if (fault !== undefined) return Result.fail(fault)
  const taken: Array<FigureStep> = []
  formula.work(sheetOf(inputs, taken))
  return Result.succeed((figure) => closure(taken, figure))
}

const closure = (
  figureSteps: ReadonlyArray<FigureStep>,
  figure: string
): Result.Result<Derivation, string> => {
  const needed = new Set<number>()
  const used = new Set<number>()
  for (let index = figureSteps.length - 1; index >= 0; index--) {
    const step = figureSteps[index]
    if (step === undefined || (step.figure !== figure && !needed.has(index))) continue
    needed.add(index)
    for (const earlier of step.stands.steps) needed.add(earlier)
    for (const input of step.stands.inputs) used.add(input)
  }
  const steps: Array<Step> = []
  for (const index of [...needed].toSorted((a, b) => a - b)) {
    const step = figureSteps[index]?.step
    if (step === undefined) return Result.fail(`${figure} cannot be computed from these inputs.`)
    steps.push(step)
  }
  return Result.succeed({ used, steps })
}

const readable: Readonly<Record<Kind, (text: string) => boolean>> = {
  amount: (text) => {
    const parsed = Decimal.parse(text)
    return Result.isSuccess(parsed) && Decimal.formatPlain(parsed.success) === text
  },
  amounts: (text) => readable.amount(text),
  places: (text) => /^(?:[0-9]|10)$/u.test(text),
  word: (text) => /^[a-z-]{1,32}$/u.test(text)
}

const unfit = (formula: AnyFormula, inputs: ReadonlyArray<Input>): string | undefined => {
  const counts = new Map<string, number>()
  for (const { name, value } of inputs) {
    const kind = Object.hasOwn(formula.inputs, name) ? formula.inputs[name] : undefined
    if (kind === undefined) return `${formula.name} has no input ${name}.`
    if (!readable[kind](value)) return `The input ${name} is not readable.`
    const count = (counts.get(name) ?? 0) + 1
    if (count > 1 && kind !== "amounts") return `The input ${name} is given twice.`
    counts.set(name, count)
  }
  return undefined
}

const nothing: Stands = { inputs: new Set(), steps: new Set() }

const onBoth = (left: Stands, right: Stands): Stands => ({
  inputs: either(left.inputs, right.inputs),
  steps: either(left.steps, right.steps)
})

/** Union of two sets of dependencies; most terms have one or none, and those are not copied. */
const either = (left: ReadonlySet<number>, right: ReadonlySet<number>): ReadonlySet<number> => {
  if (left.size === 0) return right
  return right.size === 0 ? left : left.union(right)
}

type Operator = "+" | "-" | "*" | "/"

const bindings: Readonly<Record<Operator, Binding>> = {
  "+": "sum",
  "-": "sum",
  "*": "product",
  "/": "product"
}

const strength: Readonly<Record<Binding, number>> = { sum: 1, product: 2, atom: 3 }

const operations: Readonly<
  Record<Operator, (a: Rational.Rational, b: Rational.Rational) => Rational.Rational | undefined>
> = {
  "+": Rational.add,
  "-": Rational.subtract,
  "*": Rational.multiply,
  "/": (a, b) => (Rational.isZero(b) ? undefined : Rational.divide(a, b))
}

const operate = (operator: Operator, left: Term, right: Term): Term => {
  const binding = bindings[operator]
  const above = strength[binding]
  /** The right side of a difference or quotient is bracketed even where it binds as tightly. */
  const tight = operator === "-" || operator === "/" ? above + 1 : above
  const write = (form: "names" | "shown") =>
    `${bracket(left, form, above)} ${operator} ${bracket(right, form, tight)}`
  return {
    value:
      left.value === undefined || right.value === undefined
        ? undefined
        : operations[operator](left.value, right.value),
    names: write("names"),
    shown: write("shown"),
    binding,
    stands: onBoth(left.stands, right.stands)
  }
}

const bracket = (term: Term, form: "names" | "shown", least: number): string =>
  strength[term.binding] < least ? `(${term[form]})` : term[form]

/** A function of terms, such as the lesser of two, as it is written. */
const apply = (
  name: string,
  terms: readonly [Term, ...ReadonlyArray<Term>],
  value: (values: ReadonlyArray<Rational.Rational>) => Rational.Rational | undefined
): Term => {
  const values = terms.flatMap((term) => (term.value === undefined ? [] : [term.value]))
  const write = (form: "names" | "shown") =>
    `${name}(${terms.map((term) => term[form]).join(", ")})`
  return {
    value: values.length === terms.length ? value(values) : undefined,
    names: write("names"),
    shown: write("shown"),
    binding: "atom",
    stands: terms.map(({ stands }) => stands).reduce(onBoth)
  }
}

/** A term chosen by a condition, with the dependencies of the condition. */
const since = (
  chosen: Term,
  why: Pick<Term, "names" | "shown" | "stands"> & { readonly isKnown: boolean }
): Term => ({
  value: why.isKnown ? chosen.value : undefined,
  names: `(${chosen.names} since ${why.names})`,
  shown: `(${chosen.shown} since ${why.shown})`,
  binding: "atom",
  stands: onBoth(chosen.stands, why.stands)
})

const chooseAbove = ({ left, right, above, otherwise }: Comparison<Term>): Term => {
  const isKnown = left.value !== undefined && right.value !== undefined
  const isAbove =
    left.value !== undefined &&
    right.value !== undefined &&
    Rational.greaterThan(left.value, right.value)
  const write = (form: "names" | "shown") => `${left[form]} ${isAbove ? ">" : "<="} ${right[form]}`
  return since(isAbove ? above() : otherwise(), {
    isKnown,
    names: write("names"),
    shown: write("shown"),
    stands: onBoth(left.stands, right.stands)
  })
}

/** A figure has at most 28 digits before the point. */
const tooLarge = 10n ** 28n

const isFigure = ({ numerator, denominator }: Rational.Rational): boolean => {
  const magnitude = numerator < 0n ? -numerator : numerator
  return magnitude < (tooLarge - 1n) * denominator
}

const canBeShared = (total: Rational.Rational, items: ReadonlyArray<Item>): boolean =>
  !Rational.isNegative(total) &&
  items.every(({ amount }) => !Decimal.isNegative(amount)) &&
  (Rational.isZero(total) || items.some(({ amount }) => Decimal.isPositive(amount)))

/** An amount of a list, or the list's name in place of any of its amounts. */
const leafOf = (name: string, item?: Item): Term => ({
  value: item && Rational.of(item.amount),
  names: name,
  shown: item === undefined ? "?" : Decimal.formatPlain(item.amount),
  binding: "atom",
  stands: nothing
})

interface Places {
  readonly count: number | undefined
  readonly stands: Stands
}

const sheetOf = (inputs: ReadonlyArray<Input>, figureSteps: Array<FigureStep>): Sheet<Term> => {
  const byName = Map.groupBy(
    inputs.map((input, index) => ({ ...input, index })),
    ({ name }) => name
  )
  const all = (name: string) => byName.get(name) ?? []
  const standsOn = (name: string): Stands => ({
    inputs: new Set(all(name).map(({ index }) => index)),
    steps: new Set()
  })
  const itemsOf = (name: string): ReadonlyArray<Item> =>
    all(name).map(({ id, value }) => ({ id, amount: Decimal.of(value) }))
  const placesOf = (places: string | number): Places => {
    if (typeof places === "number") return { count: places, stands: nothing }
    const text = all(places)[0]?.value
    return { count: text === undefined ? undefined : Number(text), stands: standsOn(places) }
  }
  const each = (names: ReadonlyArray<string>, term: (amountOf: (name: string) => Term) => Term) => {
    const lists = names.map(itemsOf)
    const terms = (lists[0] ?? []).map((_, index) =>
      term((name) => leafOf(name, lists[names.indexOf(name)]?.[index]))
    )
    const named = term((name) => ({ ...leafOf(name), stands: standsOn(name) }))
    const values = terms.flatMap(({ value }) => value ?? [])
    const isKnown = haveSameIds(lists) && values.length === terms.length
    return {
      value: isKnown ? Rational.sum(values) : undefined,
      names: `sum(${named.names})`,
      shown: `sum(${terms.map(({ shown }) => shown).join(", ")})`,
      binding: "atom",
      // An empty list makes no term, so that a basis does not name what its term would use.
      stands: terms.length === 0 ? nothing : named.stands
    } as const
  }
  return {
    amount: (name) => {
      const text = all(name)[0]?.value
      return {
        value: text === undefined ? undefined : Rational.of(Decimal.of(text)),
        names: name,
        shown: text ?? "?",
        binding: "atom",
        stands: standsOn(name)
      }
    },
    total: (name) => {
      const items = itemsOf(name)
      return {
        value: Rational.sum(items.map(({ amount }) => Rational.of(amount))),
        names: `sum(${name})`,
        shown: `sum(${items.map(({ amount }) => Decimal.formatPlain(amount)).join(", ")})`,
        binding: "atom",
        stands: standsOn(name)
      }
    },
    dot: (...lists) =>
      each(lists, (amountOf) =>
        lists.map(amountOf).reduce((left, right) => operate("*", left, right))
      ),
    each: ({ lists, term }) => each(lists, term),
    number: (value) => ({
      value: Rational.fromInteger(value),
      names: String(value),
      shown: String(value),
      binding: "atom",
      stands: nothing
    }),
    add: (left, right) => operate("+", left, right),
    subtract: (left, right) => operate("-", left, right),
    multiply: (left, right) => operate("*", left, right),
    divide: (left, right) => operate("/", left, right),
    negate: (term) => apply("minus", [term], ([value]) => value && Rational.negate(value)),
    min: (left, right) => apply("min", [left, right], ([a, b]) => a && b && Rational.min(a, b)),
    max: (left, right) => apply("max", [left, right], ([a, b]) => a && b && Rational.max(a, b)),
    abs: (term) =>
      apply("abs", [term], ([a]) => a && (Rational.isNegative(a) ? Rational.negate(a) : a)),
    whenAbove: chooseAbove,
    whenWord: ({ name, is, then, otherwise }) => {
      const word = all(name)[0]?.value
      return since(word === is ? then() : otherwise(), {
        isKnown: word !== undefined,
        names: `${name} is ${word ?? "?"}`,
        shown: word ?? "?",
        stands: standsOn(name)
      })
    },
    round: ({ figure, term, places, rounding }) => {
      const { count, stands } = placesOf(places)
      const isKnown = count !== undefined && term.value !== undefined && isFigure(term.value)
      const value = isKnown ? Rational.round(term.value, { places: count, rounding }) : undefined
      const text =
        value === undefined || count === undefined ? "?" : Decimal.formatPlaces(value, count)
      figureSteps.push({
        figure,
        step:
          value === undefined || count === undefined
            ? undefined
            : {
                op: `${figure} = ${term.names} = ${term.shown}`,
                places: count,
                rounding,
                value: text
              },
        stands: onBoth(term.stands, stands)
      })
      return {
        value: value === undefined ? undefined : Rational.of(value),
        names: figure,
        shown: text,
        binding: "atom",
        stands: { inputs: new Set(), steps: new Set([figureSteps.length - 1]) }
      }
    },
    share: ({ figure, total, by, places }) => {
      const { count, stands } = placesOf(places)
      const items = itemsOf(by)
      const isKnown =
        total.value !== undefined && count !== undefined && canBeShared(total.value, items)
      const shared = isKnown ? shareOut({ total: total.value, items, places: count }) : undefined
      const dependencies = onBoth(onBoth(total.stands, stands), standsOn(by))
      items.forEach(({ id, amount }, index) => {
        const value = shared?.[index]
        figureSteps.push({
          figure,
          step:
            value === undefined || count === undefined
              ? undefined
              : {
                  op: `${figure} of ${id} = ${total.names} by ${by} = ${total.shown} by ${Decimal.formatPlain(amount)}`,
                  places: count,
                  rounding: "largest-remainder",
                  value: Decimal.formatPlaces(value, count)
                },
          stands: dependencies
        })
      })
    }
  }
}
