/** Whether an action would run now: what refuses it first, and every gate in its order. */
import table from "virtual:interface"
import { Failure, Loading } from "../kit/Outcome.tsx"
import { Quote, Text } from "../kit/Values.tsx"
import { useRead } from "../reads/Cache.ts"
import { mayRead, valueRead } from "../reads/Lists.ts"
import * as Session from "../shell/Session.ts"
import { word } from "../words/Words.ts"
import type { ActionRecord } from "./Action.ts"
import { firstRefusal, type GateRow, parametersOf } from "./Precheck.ts"

const read = "instruments.precheck"

export const PrecheckView = ({ action }: { readonly action: ActionRecord }) => {
  if (!mayRead(read, Session.person.value?.roles ?? [])) return null
  const parameters = parametersOf(action, table.reads[read]?.filters ?? [])
  return (
    <section>
      <h2>Would it run now</h2>
      {parameters === null ? (
        <p class="none">Nothing judges this act beforehand: it is judged when it runs.</p>
      ) : (
        <Answer parameters={parameters} />
      )}
    </section>
  )
}

const Answer = ({ parameters }: { readonly parameters: Readonly<Record<string, unknown>> }) => {
  const { error, value } = useRead({ ...valueRead(read, parameters), kinds: ["*"] })
  if (error !== null && error !== undefined) return <Failure error={error} />
  if (value === undefined) return <Loading />
  const gates = value.value["gates"] as ReadonlyArray<GateRow>
  const refusal = firstRefusal(gates)
  return (
    <>
      {refusal === null ? (
        <p class="state good">✓ It would run.</p>
      ) : (
        <>
          <p class="state bad">
            ! Refused at gate {word(refusal.gate)}: {word(refusal.check)}
          </p>
          {refusal.detail === null ? null : <p>{refusal.detail}</p>}
          {refusal.recovery === null ? null : <Quote value={refusal.recovery} />}
        </>
      )}
      <details>
        <summary>Every gate</summary>
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
                  <span class={ok ? "state good" : "state bad"}>
                    {ok ? "✓ passed" : "! refused"}
                  </span>
                </td>
                <td data-name="Detail">{detail === null ? null : <Text value={detail} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  )
}
