/** Page that a person meets first: what waits for this person, what waits for others, what ran last. */
import { useLocation } from "preact-iso"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { Failure, Loading } from "../kit/Outcome.tsx"
import { type Column, ListTable } from "../kit/Table.tsx"
import { Deadline, IdLink, InstantText, State, Text } from "../kit/Values.tsx"
import { type ActionRecord, stillToSign } from "../approvals/Action.ts"
import { titleOf } from "../approvals/ActionTitle.ts"
import { useRead } from "../reads/Cache.ts"
import { listRead, mayRead, type Row, valueRead, type Where } from "../reads/Lists.ts"
import { hrefOf, parametersOf, sameWith } from "../shell/Links.ts"
import * as Session from "../shell/Session.ts"
import { Title } from "../shell/Title.tsx"
import { word } from "../words/Words.ts"
import { namedRoles, pageOf, tallied, type WorkRow, workRoles } from "./Work.ts"

export const WorkPage = () => {
  const roles = Session.person.value?.roles ?? []
  return (
    <>
      <Title text="My work" />
      {mayRead("work.list", roles) ? <Waiting /> : null}
      {mayRead("approvals.list", roles) ? <ActionsOfMine /> : null}
      {mayRead("operations.list", roles) ? <Operations /> : null}
    </>
  )
}

const columns: ReadonlyArray<Column> = [
  {
    name: "Waits for",
    draw: (row) => {
      const { summary, ...work } = row as unknown as WorkRow
      const page = pageOf(work)
      return page === null ? <Text value={summary} /> : <a href={hrefOf(page)}>{summary}</a>
    }
  },
  {
    name: "Record",
    draw: (row) => {
      const { kind, id } = (row as unknown as WorkRow).resource
      return (
        <>
          {word(kind)} <IdLink id={id} />
        </>
      )
    }
  },
  ...(["instrumentId", "holderId"] as const).map((member) => ({
    name: member === "holderId" ? "Holder" : "Instrument",
    draw: (row: Row) => {
      const id = (row as unknown as WorkRow)[member]
      return id === null ? null : <IdLink id={id} />
    }
  })),
  { name: "Role", draw: (row) => <Text value={word((row as unknown as WorkRow).role)} /> },
  { name: "Waits since", draw: (row) => <InstantText at={String(row["since"])} near /> },
  { name: "Deadline", draw: (row) => <Deadline at={(row as unknown as WorkRow).by} /> }
]

/** What waits for the person's roles: counted by kind, each count a filter, and listed in its order. */
const Waiting = () => {
  const { url } = useLocation()
  const person = Session.person.value
  if (person === null) return null
  const chosen = parametersOf(url).getAll("role")
  const role = namedRoles(chosen, person.roles)
  const filters: Where = whereOf("work.list", url)
  const where: Where = role === undefined ? filters : { ...filters, role }
  const own = person.roles.includes("auditor")
    ? workRoles
    : workRoles.filter((each) => person.roles.includes(each))
  return (
    <>
      <Kinds where={where} />
      <Filters
        read="work.list"
        hidden={["action", "resourceKind", "state", ...(own.length > 1 ? [] : ["role"])]}
      />
      <ListTable
        caption="Waits for you"
        read="work.list"
        where={where}
        columns={columns}
        empty="Nothing of this filter waits for you."
      />
    </>
  )
}

/** Kinds of record that wait, each with its count as a toggle. */
const Kinds = ({ where }: { readonly where: Where }) => {
  const { route, url } = useLocation()
  const { resourceKind: _, ...others } = where
  const { error, value } = useRead(valueRead("work-counts.list", others))
  if (error !== null && error !== undefined) return <Failure error={error} />
  if (value === undefined) return null
  const kinds = parametersOf(url).getAll("resourceKind")
  const counts = value.value["counts"] as Parameters<typeof tallied>[0]
  return (
    <div class="tally" role="group" aria-label="Kinds of record">
      {tallied(counts).map(({ isCapped, kind, overdue, waiting }) => {
        const isOn = kinds.includes(kind)
        const next = isOn ? kinds.filter((each) => each !== kind) : [...kinds, kind]
        return (
          <button
            key={kind}
            type="button"
            aria-pressed={isOn}
            onClick={() => route(sameWith(url, { resourceKind: next, after: null }))}
          >
            {word(kind)} <b class="figure">{isCapped ? `over ${waiting}` : waiting}</b>
            {overdue > 0 ? <b class="overdue"> {overdue} overdue</b> : null}
          </button>
        )
      })}
    </div>
  )
}

/** Actions that one answer shows; more are on the page of approvals. */
const actionsShown = 100

const ActionsOfMine = () => {
  const { error, value } = useRead(
    listRead("approvals.list", { where: { state: ["awaiting"] }, limit: actionsShown })
  )
  const person = Session.person.value
  if (person === null) return null
  if (error !== null && error !== undefined) return <Failure error={error} />
  if (value === undefined) return <Loading />
  const actions = value.value as unknown as ReadonlyArray<ActionRecord>
  const made = actions.filter(({ maker }) => maker === person.sub).toSorted(byDeadline)
  return (
    <>
      <ActionTable
        caption="Your actions that wait for others"
        order="earliest deadline first"
        actions={made}
        empty="None of your actions waits."
      />
      {value.next === null ? null : (
        <p class="fine">
          More actions await on the page <a href={hrefOf("approvals")}>Approvals</a>.
        </p>
      )}
    </>
  )
}

const byDeadline = (a: ActionRecord, b: ActionRecord): number => {
  const [left, right] = [a.expiresAt ?? "~", b.expiresAt ?? "~"]
  return left < right ? -1 : left > right ? 1 : (a.madeAt ?? "") < (b.madeAt ?? "") ? -1 : 1
}

interface ActionTableProps {
  readonly caption: string
  readonly order: string
  readonly actions: ReadonlyArray<ActionRecord>
  readonly empty: string
}

const ActionTable = ({ actions, caption, empty, order }: ActionTableProps) => (
  <section class="list">
    <div class="scroll">
      <table>
        <caption>
          {caption} <span class="order">{order}</span>
        </caption>
        <thead hidden={actions.length === 0}>
          <tr>
            <th scope="col">Action</th>
            <th scope="col">Record</th>
            <th scope="col">Who may sign</th>
            <th scope="col">Waits since</th>
            <th scope="col">Deadline</th>
          </tr>
        </thead>
        <tbody>
          {actions.map((action) => (
            <tr key={action.actionKey}>
              <td data-name="Action">
                <a href={hrefOf(`approvals/${encodeURIComponent(action.actionKey ?? "")}`)}>
                  {titleOf(action.kind, action.resource)}
                </a>
              </td>
              <td data-name="Record">
                <IdLink id={action.resource.id} />
              </td>
              <td data-name="Who may sign">{stillToSign(action)}</td>
              <td data-name="Waits since">
                {action.madeAt === null ? null : <InstantText at={action.madeAt} near />}
              </td>
              <td data-name="Deadline">
                <Deadline at={action.expiresAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {actions.length === 0 ? <p class="nothing">{empty}</p> : null}
    </div>
  </section>
)

/** Operations of the person among the last ones of the venue. */
const operationsRead = 100
const operationsShown = 10

const Operations = () => {
  const { error, value } = useRead(
    listRead("operations.list", { where: {}, limit: operationsRead })
  )
  const person = Session.person.value
  if (error !== null && error !== undefined) return <Failure error={error} />
  if (value === undefined || person === null) return null
  const own = value.value
    .filter((row) => row["actor"] === person.sub || row["maker"] === person.sub)
    .slice(0, operationsShown)
  return (
    <section class="list">
      <div class="scroll">
        <table>
          <caption>
            Your last operations{" "}
            <span class="order">newest first, of the venue's last {operationsRead}</span>
          </caption>
          <thead hidden={own.length === 0}>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col">State</th>
              <th scope="col">Made</th>
            </tr>
          </thead>
          <tbody>
            {own.map((row) => (
              <OperationRow key={String(row["operationId"])} row={row} />
            ))}
          </tbody>
        </table>
        {own.length === 0 ? <p class="nothing">None of the last operations is yours.</p> : null}
      </div>
    </section>
  )
}

const OperationRow = ({ row }: { readonly row: Row }) => {
  const resource = row["resource"] as { readonly kind: string; readonly id: string }
  return (
    <tr>
      <td data-name="Operation">
        <a href={hrefOf(`operations/${encodeURIComponent(String(row["operationId"]))}`)}>
          {titleOf(String(row["kind"]), resource)}
        </a>
      </td>
      <td data-name="State">
        <State value={String(row["state"])} />
      </td>
      <td data-name="Made">
        {row["createdAt"] === null ? null : <InstantText at={String(row["createdAt"])} near />}
      </td>
    </tr>
  )
}
