/** Faults of a basis: every input, place, rounding, operation and value changed, one at a time. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Basis from "#core/kernel/Basis.ts"

const roundings = Basis.Step.fields.rounding.literals

/** Words of an input, each with the one that replaces it. */
const otherWords: Readonly<Record<string, string>> = {
  refund: "fund",
  fund: "refund",
  paid: "carried",
  carried: "paid",
  fresh: "stale",
  stale: "fresh"
}

/** Every basis that differs from this one in one input, place, rounding, operation or value. */
export function* changed(
  basis: Basis.Basis
): Generator<readonly [what: string, basis: Basis.Basis]> {
  const { inputs, steps } = basis
  for (const [index, input] of inputs.entries()) {
    const value =
      otherWords[input.value] ??
      (input.name.toLowerCase().includes("places") || input.name.endsWith("Decimals")
        ? String((Number(input.value) + 1) % 11)
        : Decimal.formatPlain(Decimal.fromAtoms(Decimal.atoms(Decimal.of(input.value)) + 1n)))
    yield [`input ${input.name}`, { ...basis, inputs: inputs.with(index, { ...input, value }) }]
    yield [`without ${input.name}`, { ...basis, inputs: inputs.toSpliced(index, 1) }]
  }
  for (const [index, step] of steps.entries()) {
    const with_ = (change: Partial<Basis.Step>) => ({
      ...basis,
      steps: steps.with(index, { ...step, ...change })
    })
    yield [`places of step ${index}`, with_({ places: (step.places + 1) % 11 })]
    for (const rounding of roundings) {
      if (rounding !== step.rounding) yield [`${rounding} in step ${index}`, with_({ rounding })]
    }
    yield [`operation of step ${index}`, with_({ op: `${step.op} + 0` })]
    yield [`value of step ${index}`, with_({ value: `${step.value}1` })]
    yield [`without step ${index}`, { ...basis, steps: steps.toSpliced(index, 1) }]
  }
}
