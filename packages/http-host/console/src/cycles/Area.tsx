/** Pages of dealing cycles, settled on their figures, and of standing settlements. */
import { useLocation } from "preact-iso"
import { useEffect, useState } from "preact/hooks"
import { Acts } from "../kit/Acts.tsx"
import { basisOf, BasisView } from "../kit/Basis.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { Amount, Loaded, Recomputed, Rows } from "../kit/Sheet.tsx"
import { idColumn, ListTable } from "../kit/Table.tsx"
import { Deadline, Figure, InstantText, PartyText, Term, Terms, Value } from "../kit/Values.tsx"
import { useRead } from "../reads/Cache.ts"
import { type Row, valueRead } from "../reads/Lists.ts"
import { columnsOf } from "../record/Columns.tsx"
import { type Fact, factsOf } from "../record/Fact.ts"
import { JudgedActs } from "../record/Judgement.tsx"
import { Facts, Head, mayI, Moves, Sheet, VersionLine } from "../record/Page.tsx"
import { actsOf } from "../record/StateActs.ts"
import { RecordLink } from "../record/RecordLink.tsx"
import { parametersOf, sameWith } from "../shell/Links.ts"
import { Title } from "../shell/Title.tsx"
import { isDecimal } from "../words/Figures.ts"
import {
  besides,
  cycleColumns,
  cycleFacts,
  cycleFigures,
  cycleSays,
  fundingOf,
  isBalanced,
  legsOf,
  netsOf,
  ordersOf,
  standingColumns,
  standingFacts,
  supposed,
  supposedText,
  type Supposition
} from "./Cycle.ts"

interface IdProps {
  readonly id: string
}

interface ViewProps extends IdProps {
  readonly record: Row
}

const instrumentOf = ({ instrumentId }: Row) => (
  <span class="context">
    of{" "}
    <RecordLink
      id={String(instrumentId)}
      href={`instruments/${encodeURIComponent(String(instrumentId))}`}
    />
  </span>
)

export const CyclesPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Dealing cycles" />
      <Acts kinds={["dealing-cycle.open"]} fixed={{}} />
      <Filters read="dealing-cycles.list" />
      <ListTable
        caption="Dealing cycles"
        read="dealing-cycles.list"
        where={whereOf("dealing-cycles.list", url)}
        columns={[
          idColumn({ id: "cycleId", page: "dealing-cycles", title: "Cycle" }),
          ...columnsOf(cycleColumns),
          {
            name: "Orders",
            isFigure: true,
            draw: (cycle) => {
              const { redemptions, subscriptions } = ordersOf(cycle)
              return subscriptions.length + redemptions.length
            }
          }
        ]}
        empty="A cycle gathers the orders of an instrument up to a cut-off. None fits the filter."
      />
    </>
  )
}

export const CyclePage = ({ id }: IdProps) => {
  const state = useRead({ ...valueRead("dealing-cycles.get", { cycleId: id }), kinds: ["*"] })
  return (
    <>
      <Title text={`Dealing cycle ${id}`} />
      <Loaded state={state}>{({ value }) => <CycleView id={id} record={value} />}</Loaded>
    </>
  )
}

const CycleView = ({ id, record }: ViewProps) => {
  const { endedAs, instrumentId, lost, state, waitingOn } = record
  const acts = actsOf("dealing-cycle", String(state))
  const orders = ordersOf(record)
  return (
    <article class="record">
      <Head id={id} states={[typeof endedAs === "string" ? endedAs : String(state)]}>
        {instrumentOf(record)}
      </Head>
      {lost === true ? (
        <section class="alert">Lost: the ledger no longer has its contract.</section>
      ) : null}
      <div class="halves">
        <Sheet title="What can be done">
          {acts.length === 0 ? (
            <p class="none">The cycle has ended: nothing is left to do.</p>
          ) : (
            <Moves moves={waitingOn} />
          )}
          <JudgedActs
            leads
            rows={acts.map((kind) => ({
              kind,
              fixed: { cycleId: id },
              judged: { instrumentId, cycleId: id },
              ...(cycleSays[kind] === undefined ? {} : { says: cycleSays[kind] })
            }))}
            about={{ instrumentId: String(instrumentId), holderId: null }}
          />
        </Sheet>
        <Sheet title="Cycle">
          <Facts
            facts={factsOf(record, cycleFacts).filter(
              ({ member }) => member !== "settleBy" && member !== "cutOffAt"
            )}
          />
          <p>
            Cut-off <InstantText at={String(record["cutOffAt"])} near />
          </p>
          <p>
            Settle by{" "}
            {state === "open" ? (
              <Deadline at={String(record["settleBy"])} />
            ) : (
              <InstantText at={String(record["settleBy"])} />
            )}
          </p>
        </Sheet>
      </div>
      <Figures record={record} />
      <WhatIf id={id} record={record} />
      <div class="halves">
        <Orders title="Subscriptions" page="subscriptions" ids={orders.subscriptions} />
        <Orders title="Redemptions" page="redemptions" ids={orders.redemptions} />
      </div>
      <Fills fills={record["fills"]} />
      <Legs record={record} />
      <VersionLine record={record} />
    </article>
  )
}

const FactValue = ({ fact }: { readonly fact: Fact | null }) =>
  fact === null ? (
    <span class="none">none</span>
  ) : typeof fact.value === "string" && isDecimal(fact.value) ? (
    <Figure value={fact.value} unit={fact.unit ?? undefined} />
  ) : (
    <Value member={fact.member} value={fact.value} />
  )

/** Figures of the cycle, each with its basis. */
const Figures = ({ record }: { readonly record: Row }) => {
  const facts = cycleFigures(record)
  return (
    <Sheet title="Figures" about="as of this read; those that are signed stand on the action">
      {facts.length === 0 ? (
        <p class="none">There is no figure yet: no price is official for it.</p>
      ) : (
        <Terms>
          {facts.map((fact) => {
            const basis =
              basisOf(record["basis"], fact.member) ??
              basisOf(record["basis"], fact.member.replace("/", "."))
            return (
              <Term key={fact.member} name={fact.name ?? fact.member}>
                <FactValue fact={fact} />
                {basis === undefined ? null : <BasisView basis={basis} />}
              </Term>
            )
          })}
        </Terms>
      )}
    </Sheet>
  )
}

/** Another price or policy version, asked for in the address; nothing is written. */
const WhatIf = ({ id, record }: ViewProps) => {
  const { route, url } = useLocation()
  const parameters = parametersOf(url)
  const [price, setPrice] = useState(parameters.get("price") ?? "")
  const [version, setVersion] = useState(parameters.get("policyVersion") ?? "")
  // The fields follow the address, when the supposition is left or gone back to.
  useEffect(() => {
    setPrice(parameters.get("price") ?? "")
    setVersion(parameters.get("policyVersion") ?? "")
  }, [parameters.get("price"), parameters.get("policyVersion")])
  const { faults, named } = supposed(parameters)
  const hasTexts = named !== null || Object.keys(faults).length > 0
  return (
    <Sheet title="What if">
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault()
          route(
            sameWith(url, { price: price.trim() || null, policyVersion: version.trim() || null })
          )
        }}
      >
        <label>
          Price of a unit
          <input
            type="text"
            inputMode="decimal"
            value={price}
            aria-invalid={faults.price !== undefined}
            onInput={({ currentTarget }) => setPrice(currentTarget.value)}
          />
          <SuppositionFault name="Price" fault={faults.price} />
        </label>
        <label>
          Policy version
          <input
            type="text"
            inputMode="numeric"
            value={version}
            aria-invalid={faults.policyVersion !== undefined}
            onInput={({ currentTarget }) => setVersion(currentTarget.value)}
          />
          <SuppositionFault name="Policy version" fault={faults.policyVersion} />
        </label>
        <button type="submit">Suppose it</button>
        {hasTexts ? (
          <button
            type="button"
            class="plain"
            onClick={() => route(sameWith(url, { price: null, policyVersion: null }))}
          >
            Suppose nothing
          </button>
        ) : null}
      </form>
      {named === null ? null : <Supposed id={id} record={record} named={named} />}
    </Sheet>
  )
}

const SuppositionFault = ({
  fault,
  name
}: {
  readonly name: string
  readonly fault: string | undefined
}) =>
  fault === undefined ? null : (
    <span class="fault" role="alert">
      {name}: expected {fault}
    </span>
  )

const Supposed = ({
  id,
  named,
  record
}: ViewProps & { readonly named: NonNullable<Supposition["named"]> }) => {
  const state = useRead({
    ...valueRead("dealing-cycles.get", { cycleId: id, ...named }),
    kinds: ["*"]
  })
  return (
    <Loaded state={state}>
      {({ value }) => (
        <Rows
          caption={supposedText(named)}
          cells={[
            { name: "Figure", draw: ({ name }) => name },
            { name: "Today", isFigure: true, draw: ({ today }) => <FactValue fact={today} /> },
            {
              name: "Supposed",
              isFigure: true,
              draw: ({ supposed: fact }) => <FactValue fact={fact} />
            },
            {
              name: "Compared",
              draw: ({ differs }) =>
                differs ? (
                  <span class="state waits">○ differs</span>
                ) : (
                  <span class="none">same</span>
                )
            }
          ]}
          rows={besides(cycleFigures(record), cycleFigures(value))}
          empty="There is no figure under this supposition."
        />
      )}
    </Loaded>
  )
}

/** Orders that are drawn at once. */
const ordersShown = 50

const Orders = ({
  ids,
  page,
  title
}: {
  readonly title: string
  readonly page: string
  readonly ids: ReadonlyArray<string>
}) => {
  const [isWhole, showWhole] = useState(false)
  const shown = isWhole ? ids : ids.slice(0, ordersShown)
  return (
    <Sheet title={title} about={`${ids.length}`}>
      {ids.length === 0 ? (
        <p class="none">None is in the cycle.</p>
      ) : (
        <ul class="rows">
          {shown.map((id) => (
            <li key={id}>
              <RecordLink id={id} href={`${page}/${encodeURIComponent(id)}`} />
            </li>
          ))}
        </ul>
      )}
      {shown.length < ids.length ? (
        <button type="button" onClick={() => showWhole(true)}>
          Show all {ids.length}
        </button>
      ) : null}
    </Sheet>
  )
}

const Fills = ({ fills }: { readonly fills: unknown }) => {
  const rows = Array.isArray(fills) ? (fills as ReadonlyArray<Row>) : []
  return rows.length === 0 ? null : (
    <Rows<Row>
      caption="Redemptions as filled"
      cells={[
        {
          name: "Redemption",
          draw: ({ redemptionId }) => (
            <RecordLink
              id={String(redemptionId)}
              href={`redemptions/${encodeURIComponent(String(redemptionId))}`}
            />
          )
        },
        {
          name: "Ordered",
          isFigure: true,
          draw: ({ ordered }) => <Amount value={ordered} unit="units" />
        },
        {
          name: "Filled",
          isFigure: true,
          draw: ({ filled }) => <Amount value={filled} unit="units" />
        },
        {
          name: "Remainder",
          draw: ({ remainderId }) =>
            typeof remainderId === "string" ? (
              <RecordLink
                id={remainderId}
                href={`redemptions/${encodeURIComponent(remainderId)}`}
              />
            ) : (
              <span class="none">none</span>
            )
        }
      ]}
      rows={rows}
      empty=""
    />
  )
}

/** Legs as they are settled, and what each party gives and gets of them. */
const Legs = ({ record }: { readonly record: Row }) => {
  const legs = legsOf(record)
  if (legs.length === 0) return null
  const nets = netsOf(legs)
  return (
    <>
      <Rows
        caption="Legs after netting"
        cells={[
          { name: "From", draw: ({ from }) => <PartyText value={from} /> },
          { name: "To", draw: ({ to }) => <PartyText value={to} /> },
          {
            name: "Amount",
            isFigure: true,
            draw: ({ amount, asset }) => <Amount value={amount} unit={asset} />
          }
        ]}
        rows={legs}
        empty=""
      />
      <Sheet
        title="By party, recomputed here"
        about={
          <>
            Σ = 0 of each asset <Recomputed isSame={isBalanced(nets)} />
          </>
        }
      >
        <Rows
          caption="What each gets, less what it gives"
          cells={[
            { name: "Party", draw: ({ party }) => <PartyText value={party} /> },
            {
              name: "Net",
              isFigure: true,
              draw: ({ asset, net }) => <Amount value={net} unit={asset} />
            }
          ]}
          rows={nets}
          empty=""
        />
      </Sheet>
    </>
  )
}

export const StandingSettlementsPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Standing settlements" />
      <Acts kinds={["standing-settlement.open"]} fixed={{}} />
      <Filters read="standing-settlements.list" />
      <ListTable
        caption="Standing settlements"
        read="standing-settlements.list"
        where={whereOf("standing-settlements.list", url)}
        columns={[
          idColumn({
            id: "standingSettlementId",
            page: "standing-settlements",
            title: "Standing settlement"
          }),
          ...columnsOf(standingColumns)
        ]}
        empty="A standing settlement settles orders again and again from what its parties committed. None fits the filter."
      />
    </>
  )
}

export const StandingSettlementPage = ({ id }: IdProps) => {
  const state = useRead(valueRead("standing-settlements.get", { standingSettlementId: id }))
  return (
    <>
      <Title text={`Standing settlement ${id}`} />
      <Loaded state={state}>{({ value }) => <StandingView id={id} record={value} />}</Loaded>
    </>
  )
}

const StandingView = ({ id, record }: ViewProps) => {
  const { allocations, instrumentId, state, waitingOn } = record
  const acts = actsOf("standing-settlement", String(state))
  return (
    <article class="record">
      <Head id={id} states={[String(state)]}>
        {instrumentOf(record)}
      </Head>
      <div class="halves">
        <Sheet title="What can be done">
          {state === "closed" || state === "expired" ? (
            <p class="none">It has ended: nothing is left to do.</p>
          ) : (
            <Moves moves={waitingOn} />
          )}
          <JudgedActs
            leads
            rows={acts.map((kind) => ({
              kind,
              fixed: { standingSettlementId: id },
              judged: null,
              ...(cycleSays[kind] === undefined ? {} : { says: cycleSays[kind] })
            }))}
            about={{ instrumentId: String(instrumentId), holderId: null }}
          />
        </Sheet>
        <Sheet title="Standing settlement">
          <Facts facts={factsOf(record, standingFacts)} />
        </Sheet>
      </div>
      <Rows
        caption="What its parties put in"
        cells={[
          { name: "Party", draw: ({ party }) => <PartyText value={party} /> },
          {
            name: "To put in",
            isFigure: true,
            draw: ({ amount, asset }) => <Amount value={amount} unit={asset} />
          },
          {
            name: "Committed",
            isFigure: true,
            draw: ({ asset, committed }) =>
              committed === null ? (
                <span class="state waits">○ not committed</span>
              ) : (
                <Amount value={committed} unit={asset} />
              )
          }
        ]}
        rows={fundingOf(record)}
        empty="No party puts anything in."
      />
      {state === "open" && mayI("open-orders.list") ? (
        <ListTable
          caption="Orders that an iteration may settle"
          read="open-orders.list"
          where={{ instrumentId: String(instrumentId), state: ["ready"] }}
          columns={columnsOf([
            { member: "kind", as: "words" },
            { member: "orderId" },
            { member: "holderId", title: "Holder" },
            { member: "quantity", as: "figure" },
            { member: "cash", as: "figure", unitOf: "currency" }
          ])}
          empty="No order of the instrument is ready."
        />
      ) : null}
      <Sheet title="Allocations on the ledger">
        <Value member="allocationCid" value={allocations} />
      </Sheet>
      <VersionLine record={record} />
    </article>
  )
}
