/**
 * Provenance of a computed figure: its formula, its inputs, and each rounding step, recomputable
 * offline.
 */
import { Result, Schema } from "effect"
import type { AnyFormula, Formula, GivenValues, Inputs, Item, Shapes } from "./Formula.ts"
import * as Decimal from "./Decimal.ts"
import * as Integer from "./Integer.ts"
import * as Offset from "./Offset.ts"
import * as Derivation from "./Derivation.ts"

/** An input as text, and the record it was read from at which offset of the ledger. */
export const Input = Schema.Struct({
  name: Schema.String,
  value: Schema.String,
  resourceKind: Schema.String,
  id: Schema.String,
  offset: Schema.NullOr(Offset.schema)
}).annotate({
  identifier: "BasisInput",
  description: "An input of a figure, and the record it was read from."
})
export type Input = typeof Input.Type

/**
 * One rounding step: the term in names and in numbers, the places, the rounding, and the result.
 */
export const Step = Schema.Struct({
  op: Schema.String,
  places: Integer.schema,
  rounding: Schema.Literals([
    "floor",
    "ceiling",
    "half-up",
    "half-even",
    "nearest",
    "largest-remainder"
  ]),
  value: Schema.String
}).annotate({ identifier: "BasisStep", description: "One rounding on the way to a figure." })
export type Step = typeof Step.Type

/**
 * Provenance of one figure, by which it can be recomputed offline; the last step gives the figure
 * (docs/domain/figures.md#basis).
 */
export const Basis = Schema.Struct({
  /** The figure's place in the record, such as `fundNet.cash`; its last word is the formula's own. */
  field: Schema.String,
  formula: Schema.String,
  inputs: Schema.Array(Input),
  steps: Schema.Array(Step)
}).annotate({
  identifier: "Basis",
  description: "How a figure was computed, so that anybody can recompute it."
})
export type Basis = typeof Basis.Type

/** Source of an input: the record it was read from. */
export type Source = Pick<Input, "resourceKind" | "id" | "offset">

/** Fields of a record that hold the figures of a formula, and the sources of its inputs. */
export interface BasisSources<I extends Inputs, F extends Shapes> {
  readonly values: GivenValues<I>
  /** Figure of the formula, by the field of the record that holds it. */
  readonly fields: Readonly<Record<string, keyof F & string>>
  /** The record and offset an input was read from; of an input of many amounts, for each id. */
  readonly source: (name: keyof I & string, id: string | null) => Source
}

/** Returns one basis for each field, interpreted from the formula that `Formula.compute` computes. */
export const of = <I extends Inputs, F extends Shapes>(
  formula: Formula<I, F>,
  { values, fields, source }: BasisSources<I, F>
): ReadonlyArray<Basis> => {
  const inputs: Array<Input> = []
  for (const name in formula.inputs) {
    for (const { id, value } of texts(values[name])) {
      inputs.push({ name, value, ...source(name, id) })
    }
  }
  const derivationOf = orThrow(formula, Derivation.evaluate(formula, inputs))
  return Object.entries(fields).map(([field, figure]) => {
    const { used, steps } = orThrow(formula, derivationOf(figure))
    return {
      field,
      formula: formula.name,
      inputs: inputs.filter((_, index) => used.has(index)),
      steps
    }
  })
}

/**
 * Unwraps a result that cannot fail for figures that the engine computed itself; a failure is a
 * bug.
 */
const orThrow = <A>(formula: AnyFormula, result: Result.Result<A, string>): A =>
  Result.getOrThrowWith(result, (fault) => new Error(`${formula.name}: ${fault}`))

const texts = (
  value: Decimal.Decimal | number | string | ReadonlyArray<Item>
): ReadonlyArray<{ readonly id: string | null; readonly value: string }> => {
  if (typeof value === "object") {
    return value.map(({ id, amount }) => ({ id, value: Decimal.formatPlain(amount) }))
  }
  return [
    { id: null, value: typeof value === "bigint" ? Decimal.formatPlain(value) : String(value) }
  ]
}

/**
 * Recomputes a figure from its basis and the formulas alone: returns the text of the figure, or
 * fails with the part of the basis that the formula does not give. A changed input, place, rounding or value fails.
 */
export const verify = (
  basis: Basis,
  formulas: ReadonlyArray<AnyFormula>
): Result.Result<string, string> => {
  const formula = formulas.find(({ name }) => name === basis.formula)
  if (formula === undefined) return Result.fail(`There is no formula ${basis.formula}.`)
  const figure = basis.field.slice(basis.field.lastIndexOf(".") + 1)
  if (!Object.hasOwn(formula.figures, figure)) {
    return Result.fail(`${formula.name} does not come to ${figure}.`)
  }
  const derivation = Result.flatMap(Derivation.evaluate(formula, basis.inputs), (derivationOf) =>
    derivationOf(figure)
  )
  return Result.flatMap(derivation, ({ used, steps }) => {
    const idle = basis.inputs.find((_, index) => !used.has(index))
    if (idle !== undefined) return Result.fail(`The input ${idle.name} is not used.`)
    const wrong = steps.findIndex((step, index) => !same(step, basis.steps[index]))
    if (wrong >= 0) return Result.fail(`Step ${wrong + 1} is not ${steps[wrong]?.op ?? ""}.`)
    const final = steps.at(-1)
    if (final === undefined || steps.length !== basis.steps.length) {
      return Result.fail(`${figure} takes ${steps.length} steps.`)
    }
    return Result.succeed(final.value)
  })
}

const same = (step: Step, storedStep: Step | undefined): boolean =>
  storedStep !== undefined &&
  step.op === storedStep.op &&
  step.places === storedStep.places &&
  step.rounding === storedStep.rounding &&
  step.value === storedStep.value
