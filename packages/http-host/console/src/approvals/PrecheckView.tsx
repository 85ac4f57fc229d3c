/** Whether an action would run now: what refuses it first, and every gate in its order. */
import table from "virtual:interface"
import { Failure, Loading } from "../kit/Outcome.tsx"
import { Quote, Text } from "../kit/Values.tsx"
import { useRead } from "../reads/Cache.ts"
import { mayRead, valueRead } from "../reads/Lists.ts"
import * as Session from "../shell/Session.ts"
import { label, word } from "../words/Words.ts"
import type { ActionRecord } from "./Action.ts"
import { firstRefusal, type GateRow, instrumentReads, type Judging, judgingOf } from "./Precheck.ts"

const read = "instruments.precheck"

export const PrecheckView = ({ action }: { readonly action: ActionRecord }) => {
  const roles = Session.person.value?.roles ?? []
  if (!mayRead(read, roles)) return null
  return (
    <section>
      <h2>Would it run now</h2>
      <Judged action={action} />
    </section>
  )
}

const filters = table.reads[read]?.filters ?? []

const Judged = ({ action }: { readonly action: ActionRecord }) => {
  const judging = judgingOf(action, filters)
  const [record, id] = instrumentReads[action.resource.kind] ?? []
  const roles = Session.person.value?.roles ?? []
  return judging.is === "unnamed" && record !== undefined && mayRead(record, roles) ? (
    <JudgedByRecord action={action} record={record} id={id ?? ""} />
  ) : (
    <JudgedAs judging={judging} />
  )
}

/** An act whose record names the instrument, such as the settlement of a cycle. */
const JudgedByRecord = ({
  action,
  id,
  record
}: {
  readonly action: ActionRecord
  readonly record: string
  readonly id: string
}) => {
  const { error, value } = useRead(valueRead(record, { [id]: action.resource.id }))
  if (error !== null && error !== undefined) return <Failure error={error} />
  if (value === undefined) return <Loading />
  const instrumentId = value.value["instrumentId"]
  return (
    <JudgedAs
      judging={judgingOf(action, filters, typeof instrumentId === "string" ? instrumentId : null)}
    />
  )
}

const JudgedAs = ({ judging }: { readonly judging: Judging }) =>
  judging.is === "asked" ? (
    <Answer parameters={judging.parameters} />
  ) : (
    <p class="none">
      {judging.is === "unjudged"
        ? "No precheck judges this act: it is judged when it runs."
        : judging.is === "unnamed"
          ? "This page cannot ask the precheck: neither the request nor a record that you read names the instrument."
          : `This page cannot ask the precheck: its query has no form for “${label(judging.member)}”.`}
    </p>
  )

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
