/** Page of the four-eyes actions by state; of those that await it says which this person may sign. */
import { useLocation } from "preact-iso"
import table from "virtual:interface"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { Failure, Loading } from "../kit/Outcome.tsx"
import { Deadline, Figure, IdLink, InstantText, Text } from "../kit/Values.tsx"
import { useRead } from "../reads/Cache.ts"
import { listRead } from "../reads/Lists.ts"
import { hrefOf, parametersOf, sameWith } from "../shell/Links.ts"
import * as Session from "../shell/Session.ts"
import { Title } from "../shell/Title.tsx"
import { label, word } from "../words/Words.ts"
import { type ActionRecord, maySign } from "./Action.ts"
import { titleOf } from "./ActionTitle.ts"

const states = ["awaiting", "approved", "rejected", "lapsed"] as const

export const ApprovalsPage = () => {
  const { route, url } = useLocation()
  const parameters = parametersOf(url)
  const state = states.find((each) => each === parameters.get("state")) ?? "awaiting"
  const after = parameters.get("after") ?? undefined
  const where = { ...whereOf("approvals.list", url), state: [state] }
  const { error, value } = useRead(listRead("approvals.list", { where, after }))
  const person = Session.person.value
  const actions = (value?.value ?? []) as unknown as ReadonlyArray<ActionRecord>
  const signer = person ?? { sub: "", roles: [] }
  const mine = actions.filter((action) => maySign(action, signer).may)
  const others = actions.filter((action) => !maySign(action, signer).may)
  return (
    <>
      <Title text="Approvals" />
      <nav class="tabs" aria-label="State">
        {states.map((each) => (
          <a
            key={each}
            href={sameWith(url, { state: each, after: null })}
            aria-current={each === state ? "page" : undefined}
          >
            {word(each)}
          </a>
        ))}
      </nav>
      <Filters read="approvals.list" hidden={["state"]} />
      {error !== null && error !== undefined ? <Failure error={error} /> : null}
      {value === undefined ? (
        error === null || error === undefined ? (
          <Loading />
        ) : null
      ) : state === "awaiting" ? (
        <>
          <Actions
            caption="You may sign"
            actions={mine}
            empty="No action of this page waits for your signature."
          />
          <Actions
            caption="You may not sign"
            actions={others}
            empty="Every action of this page is one that you may sign."
            why={(action) => {
              const leave = maySign(action, signer)
              return leave.may ? null : leave.because
            }}
          />
        </>
      ) : (
        <Actions caption={label(state)} actions={actions} empty={`No action is ${state}.`} />
      )}
      {value === undefined ? null : (
        <nav class="turn" aria-label="Pages of approvals">
          {after === undefined ? null : (
            <button type="button" onClick={() => route(sameWith(url, { after: null }))}>
              First page
            </button>
          )}
          {value.next === null ? null : (
            <button type="button" onClick={() => route(sameWith(url, { after: value.next }))}>
              Next
            </button>
          )}
        </nav>
      )}
    </>
  )
}

/** Figures that a row has room for. */
const figuresShown = 3

interface ActionsProps {
  readonly caption: string
  readonly actions: ReadonlyArray<ActionRecord>
  readonly empty: string
  readonly why?: (action: ActionRecord) => string | null
}

const Actions = ({ actions, caption, empty, why }: ActionsProps) => (
  <section class="list">
    <div class="scroll">
      <table>
        <caption>
          {caption} <span class="order">{table.reads["approvals.list"]?.order}</span>
        </caption>
        <thead hidden={actions.length === 0}>
          <tr>
            <th scope="col">Action</th>
            <th scope="col">Record</th>
            <th scope="col">Maker</th>
            <th scope="col">Made</th>
            <th scope="col">Signed</th>
            <th scope="col" class="right">
              Figures
            </th>
            <th scope="col">Expires</th>
            {why === undefined ? null : <th scope="col">You may not, because</th>}
          </tr>
        </thead>
        <tbody>
          {actions.map((action) => {
            const {
              actionKey,
              expiresAt,
              figures,
              kind,
              madeAt,
              maker,
              makerRole,
              required,
              resource,
              signatures
            } = action
            const page = hrefOf(`approvals/${encodeURIComponent(actionKey ?? "")}`)
            return (
              <tr key={actionKey}>
                <td data-name="Action">
                  <a href={page}>{titleOf(kind, resource)}</a>
                </td>
                <td data-name="Record">
                  <IdLink id={resource.id} />
                </td>
                <td data-name="Maker">
                  <Text value={maker ?? ""} /> <span class="fine">{makerRole}</span>
                </td>
                <td data-name="Made">
                  {madeAt === null ? null : <InstantText at={madeAt} near />}
                </td>
                <td data-name="Signed">
                  {signatures.length} of {required}
                  {signatures.map(({ sub }) => (
                    <span key={sub} class="fine">
                      {" "}
                      <Text value={sub} />
                    </span>
                  ))}
                </td>
                <td data-name="Figures" class="right">
                  {Object.entries(figures ?? {})
                    .slice(0, figuresShown)
                    .map(([name, text]) => (
                      <div key={name}>
                        <span class="fine">{label(name)} </span>
                        <Figure value={text} />
                      </div>
                    ))}
                </td>
                <td data-name="Expires">
                  <Deadline at={expiresAt} />
                </td>
                {why === undefined ? null : <td data-name="You may not, because">{why(action)}</td>}
              </tr>
            )
          })}
        </tbody>
      </table>
      {actions.length === 0 ? <p class="nothing">{empty}</p> : null}
    </div>
  </section>
)
