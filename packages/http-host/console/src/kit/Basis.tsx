/** The basis of a figure: its formula, each input with the record that it was read from, each rounding step. */
import { Figure, IdLink } from "./Values.tsx"

export interface BasisRecord {
  readonly field: string
  readonly formula: string
  readonly inputs: ReadonlyArray<{
    readonly name: string
    readonly value: string
    readonly resourceKind: string
    readonly id: string
    readonly offset: number | string | null
  }>
  readonly steps: ReadonlyArray<{
    readonly op: string
    readonly in?: string
    readonly places: number | string
    readonly rounding: string
    readonly value: string
  }>
}

/** Pages of the records that inputs are read from. */
const pages: Readonly<Record<string, string>> = {
  subscription: "subscriptions",
  redemption: "redemptions",
  instrument: "instruments",
  "dealing-cycle": "dealing-cycles",
  reserve: "reserves",
  distribution: "distributions",
  holder: "holders",
  finding: "findings"
}

export const BasisView = ({ basis }: { readonly basis: BasisRecord }) => (
  <details class="basis">
    <summary>how it was computed</summary>
    <p>
      Formula <code>{basis.formula}</code>
    </p>
    <table>
      <caption>Inputs</caption>
      <thead>
        <tr>
          <th scope="col">Input</th>
          <th scope="col" class="right">
            Value
          </th>
          <th scope="col">Read from</th>
          <th scope="col" class="right">
            Offset
          </th>
        </tr>
      </thead>
      <tbody>
        {basis.inputs.map(({ id, name, offset, resourceKind, value }, at) => {
          const page = pages[resourceKind]
          return (
            <tr key={at}>
              <td>{name}</td>
              <td class="right">
                <Figure value={value} />
              </td>
              <td>
                {resourceKind}{" "}
                <IdLink
                  id={id}
                  href={page === undefined ? null : `${page}/${encodeURIComponent(id)}`}
                />
              </td>
              <td class="right">{offset === null ? "none" : String(offset)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
    <ol class="steps">
      {basis.steps.map(({ op, places, rounding, value }, at) => (
        <li key={at}>
          <code>{op}</code> to {String(places)} places, {rounding}: <Figure value={value} />
        </li>
      ))}
    </ol>
  </details>
)

/** Basis of a field, where the record has one. */
export const basisOf = (bases: unknown, field: string): BasisRecord | undefined =>
  Array.isArray(bases)
    ? (bases as ReadonlyArray<BasisRecord>).find((basis) => basis.field === field)
    : undefined
