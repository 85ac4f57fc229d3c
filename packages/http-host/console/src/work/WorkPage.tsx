/** Page that a person meets first: what waits for this person, what waits for others, what ran last. */
import { Failure, Loading } from "../kit/Outcome.tsx"
import { Deadline, IdLink, InstantText, State, Text } from "../kit/Values.tsx"
import { type ActionRecord, maySign, stillToSign } from "../approvals/Action.ts"
import { titleOf } from "../approvals/ActionTitle.ts"
import { useRead } from "../reads/Cache.ts"
import { listRead, mayRead, type Row } from "../reads/Lists.ts"
import { hrefOf } from "../shell/Links.ts"
import * as Session from "../shell/Session.ts"
import { Title } from "../shell/Title.tsx"

export const WorkPage = () => {
  const roles = Session.person.value?.roles ?? []
  return (
    <>
      <Title text="My work" />
      {mayRead("approvals.list", roles) ? <ActionsOfMine /> : null}
      {mayRead("operations.list", roles) ? <Operations /> : null}
    </>
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
  const toSign = actions.filter((action) => maySign(action, person).may).toSorted(byDeadline)
  const made = actions.filter(({ maker }) => maker === person.sub).toSorted(byDeadline)
  return (
    <>
      <ActionTable
        caption="Actions to sign"
        order="earliest deadline first"
        actions={toSign}
        empty="No action waits for your signature."
      />
      <ActionTable
        caption="Your actions that wait for others"
        order="earliest deadline first"
        actions={made}
        empty="None of your actions waits."
        who
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
  readonly who?: boolean
}

const ActionTable = ({ actions, caption, empty, order, who = false }: ActionTableProps) => (
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
            <th scope="col">{who ? "Who may sign" : "Maker"}</th>
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
              <td data-name={who ? "Who may sign" : "Maker"}>
                {who ? stillToSign(action) : <Text value={action.maker ?? ""} />}
              </td>
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
