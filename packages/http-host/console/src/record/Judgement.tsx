/** Acts of a record, each with whether it would run now: the first refusal, every gate, and what cures it. */
import { firstRefusal, type GateRow } from "../approvals/Precheck.ts"
import { Acts } from "../kit/Acts.tsx"
import type { FormValues } from "../kit/OpenForms.ts"
import { Failure } from "../kit/Outcome.tsx"
import { Figure, Quote, Text, Value } from "../kit/Values.tsx"
import table from "virtual:interface"
import { useRead } from "../reads/Cache.ts"
import { mayWrite, valueRead } from "../reads/Lists.ts"
import { point } from "../reads/Point.ts"
import { hrefOf } from "../shell/Links.ts"
import * as Session from "../shell/Session.ts"
import { isDecimal } from "../words/Figures.ts"
import { label, word } from "../words/Words.ts"
import { cureOf, type JudgedRecord } from "./Cures.ts"
import { mayI } from "./Page.tsx"

const read = "instruments.precheck"

const isJudged = (act: string): boolean =>
  table.reads[read]?.filters.find(({ name }) => name === "act")?.words?.includes(act) === true

export interface ActRow {
  readonly kind: string
  readonly fixed: Readonly<Record<string, unknown>>
  /** Parameters of its precheck besides the act; null: nothing is judged before the form is filled. */
  readonly judged: Readonly<Record<string, unknown>> | null
  /** What it does, in a sentence. */
  readonly says?: string
  /** Entries that its form begins with. */
  readonly initial?: FormValues
}

/** Acts that the person's roles admit, below each other; at a pinned point there is none. */
export const JudgedActs = ({
  about,
  leads = false,
  rows
}: {
  readonly rows: ReadonlyArray<ActRow>
  readonly about: JudgedRecord
  /** True: the first act is the one that brings the record nearer to its end. */
  readonly leads?: boolean
}) => {
  const roles = Session.person.value?.roles ?? []
  const offered = rows.filter(({ kind }) => mayWrite(kind, roles))
  if (point.value !== null || offered.length === 0) return null
  return (
    <ul class={leads ? "judged leads" : "judged"}>
      {offered.map(({ fixed, initial, judged, kind, says }) => (
        <li key={kind}>
          <Acts
            kinds={[kind]}
            fixed={fixed}
            initial={initial === undefined ? {} : { [kind]: initial }}
          />
          <div>
            {says === undefined ? null : <p>{says}</p>}
            {judged !== null && isJudged(kind) && mayI(read) ? (
              <Judgement parameters={{ ...judged, act: kind }} about={about} />
            ) : null}
          </div>
        </li>
      ))}
    </ul>
  )
}

/** Whether an act would run now. */
export const Judgement = ({
  about,
  parameters
}: {
  readonly parameters: Readonly<Record<string, unknown>>
  readonly about: JudgedRecord
}) => {
  const { error, value } = useRead({ ...valueRead(read, parameters), kinds: ["*"] })
  if (error !== null && error !== undefined) return <Failure error={error} />
  if (value === undefined) return <p class="fine">Judging …</p>
  const gates = value.value["gates"] as ReadonlyArray<GateRow>
  return (
    <>
      <Verdict gate={firstRefusal(gates)} about={about} />
      <JudgedFigures figures={value.value["figures"]} />
      <details class="gates">
        <summary>Every gate</summary>
        <Gates gates={gates} />
      </details>
    </>
  )
}

const Verdict = ({
  about,
  gate
}: {
  readonly gate: GateRow | null
  readonly about: JudgedRecord
}) => {
  if (gate === null) return <p class="state good">✓ It would run now</p>
  const cure = cureOf(gate, about)
  return (
    <>
      <p>
        <span class="state bad">! It would be refused</span> at gate {word(gate.gate)}, check{" "}
        {word(gate.check)}
      </p>
      {gate.detail === null ? null : (
        <p>
          <Text value={gate.detail} />
        </p>
      )}
      {gate.recovery === null ? null : <Quote value={gate.recovery} />}
      {cure === null || !mayI(cure.read) ? null : (
        <p>
          <a href={hrefOf(cure.path)}>{cure.title}</a>
        </p>
      )}
    </>
  )
}

/** Figures that the act would come to, as they would be signed. */
const JudgedFigures = ({ figures }: { readonly figures: unknown }) =>
  typeof figures !== "object" || figures === null || Object.keys(figures).length === 0 ? null : (
    <dl class="brief">
      {Object.entries(figures).map(([name, value]) => (
        <div key={name}>
          <dt>{label(name)}</dt>
          <dd>
            {typeof value === "string" && isDecimal(value) ? (
              <Figure value={value} />
            ) : (
              <Value member={name} value={value} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  )

const Gates = ({ gates }: { readonly gates: ReadonlyArray<GateRow> }) => (
  <table>
    <caption>Gates in their order</caption>
    <thead>
      <tr>
        <th scope="col">Gate</th>
        <th scope="col">Check</th>
        <th scope="col">Outcome</th>
        <th scope="col">Detail</th>
      </tr>
    </thead>
    <tbody>
      {gates.map(({ check, detail, gate, ok }, at) => (
        <tr key={at}>
          <td data-name="Gate">{word(gate)}</td>
          <td data-name="Check">{word(check)}</td>
          <td data-name="Outcome">
            <span class={ok ? "state good" : "state bad"}>{ok ? "✓ passed" : "! refused"}</span>
          </td>
          <td data-name="Detail">{detail === null ? null : <Text value={detail} />}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
