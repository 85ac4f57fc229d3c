/** Pages of distributions: calendar, one month, list, one distribution, one line, standing approvals. */
import { useLocation } from "preact-iso"
import { Acts } from "../kit/Acts.tsx"
import { type BasisRecord, BasisView } from "../kit/Basis.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { Amount, Lead, Loaded, Move, Recomputed, Rows, Tabs, useTab } from "../kit/Sheet.tsx"
import { type Column, idColumn, ListTable, memberColumn } from "../kit/Table.tsx"
import { IdLink, InstantText, Quote, State, Term, Terms, Text, Value } from "../kit/Values.tsx"
import { present, zone } from "../kit/Zone.ts"
import { Waiting } from "../kit/Waiting.tsx"
import { useRead } from "../reads/Cache.ts"
import { listRead, mayRead, type Row, valueRead } from "../reads/Lists.ts"
import { CsvButton } from "../record/Csv.tsx"
import { actsOf } from "../record/StateActs.ts"
import { hrefOf, parametersOf, sameWith } from "../shell/Links.ts"
import * as Session from "../shell/Session.ts"
import { Title } from "../shell/Title.tsx"
import { distance } from "../words/Instants.ts"
import { label, word } from "../words/Words.ts"
import * as Distributions from "./Distributions.ts"

const rolesOf = (): ReadonlyArray<string> => Session.person.value?.roles ?? []

/** Periods that the calendar draws at once. */
const periodsShown = 500

export const CalendarPage = () => {
  const { route, url } = useLocation()
  const read = "distribution-calendar.list"
  const after = parametersOf(url).get("after") ?? undefined
  const where = { ...whereOf(read, url), zone: zone.value }
  const state = useRead(listRead(read, { where, after, limit: periodsShown }))
  return (
    <>
      <Title text="Distribution calendar" />
      <Acts kinds={["distribution.execute"]} fixed={{}} />
      <Filters read={read} hidden={["zone"]} />
      <Loaded state={state}>
        {({ next, value }) => (
          <>
            <Grid rows={value} />
            <nav class="turn" aria-label="Pages of the calendar">
              {after === undefined ? null : (
                <button type="button" onClick={() => route(sameWith(url, { after: null }))}>
                  First page
                </button>
              )}
              {next === null ? null : (
                <button type="button" onClick={() => route(sameWith(url, { after: next }))}>
                  Next
                </button>
              )}
            </nav>
          </>
        )}
      </Loaded>
    </>
  )
}

const Grid = ({ rows }: { readonly rows: ReadonlyArray<Row> }) => {
  const { instruments, months } = Distributions.gridOf(rows)
  return (
    <section class="list">
      <div class="scroll">
        <table class="calendar">
          <caption>
            Months of each instrument{" "}
            <span class="order">
              months across, by record date; dates of payment on the day in {zone.value}
            </span>
          </caption>
          <thead hidden={rows.length === 0}>
            <tr>
              <th scope="col">Instrument</th>
              {months.map((month) => (
                <th key={month} scope="col">
                  {month}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {instruments.map(({ instrumentId, periods }) => (
              <tr key={instrumentId}>
                <th scope="row">
                  <IdLink
                    id={instrumentId}
                    href={`instruments/${encodeURIComponent(instrumentId)}`}
                  />
                </th>
                {periods.map((period, at) => (
                  <td key={months[at]} data-name={months[at]}>
                    {period === null ? null : <Period period={period} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 ? (
          <p class="nothing">
            A month stands here once an oracle's point was valued in it. None fits the filter.
          </p>
        ) : null}
      </div>
    </section>
  )
}

const Period = ({ period }: { readonly period: Row }) => {
  const { distributionId, paymentDate, periodState, recordDate, refused } = period
  const page =
    typeof distributionId === "string"
      ? `distributions/${encodeURIComponent(distributionId)}`
      : `distribution-months/${encodeURIComponent(String(period["scheduledDistributionId"]))}`
  return (
    <a class="period" href={hrefOf(page)}>
      <State value={String(periodState)} />
      <span class="fine">record {String(recordDate)}</span>
      <span class="fine">pay {String(paymentDate)}</span>
      {refused === null || refused === undefined ? null : <span class="state bad">! refused</span>}
    </a>
  )
}

/** A month before it is executed: its dates, whether it would run, and what another policy would make of it. */
export const MonthPage = ({ id }: { readonly id: string }) => {
  const period = Distributions.periodOf(id)
  return (
    <>
      <Title text={period === null ? `Month ${id}` : `${period.month} of ${period.instrumentId}`} />
      {period === null ? (
        <p class="none">An address of a month names the instrument and the month.</p>
      ) : (
        <MonthView {...period} />
      )}
    </>
  )
}

const MonthView = ({
  instrumentId,
  month
}: {
  readonly instrumentId: string
  readonly month: string
}) => {
  const { route, url } = useLocation()
  const state = useRead(
    listRead("distribution-calendar.list", {
      where: { instrumentId, from: month, to: month, zone: zone.value }
    })
  )
  const supposed = parametersOf(url).get("policyVersion")
  const acknowledged = parametersOf(url).get("acknowledgedRate")
  const act = {
    instrumentId,
    act: "distribution.execute",
    month,
    ...(acknowledged === null ? {} : { acknowledgedRate: acknowledged })
  }
  return (
    <article class="record">
      <Loaded state={state}>
        {({ value: [period] }) =>
          period === undefined ? (
            <p class="none">The instrument has no period in this month.</p>
          ) : (
            <PeriodHead period={period} />
          )
        }
      </Loaded>
      <Acts kinds={["distribution.execute"]} fixed={{ instrumentId, month }} />
      {mayRead("instruments.precheck", rolesOf()) ? (
        <>
          <form class="filters" aria-label="What if" onSubmit={(event) => event.preventDefault()}>
            <label class="field">
              <span>Acknowledged rate</span>
              <input
                type="text"
                inputMode="decimal"
                value={acknowledged ?? ""}
                onChange={({ currentTarget }) =>
                  route(sameWith(url, { acknowledgedRate: currentTarget.value.trim() || null }))
                }
              />
            </label>
            <label class="field">
              <span>Suppose policy version</span>
              <input
                type="text"
                inputMode="numeric"
                value={supposed ?? ""}
                onChange={({ currentTarget }) =>
                  route(sameWith(url, { policyVersion: currentTarget.value.trim() || null }))
                }
              />
            </label>
          </form>
          <div class="beside">
            <Judged title="Would it run now" parameters={act} />
            {supposed === null ? null : (
              <Judged
                title={`Supposed: policy version ${supposed}; nothing is written`}
                parameters={{ ...act, policyVersion: supposed }}
              />
            )}
          </div>
        </>
      ) : null}
    </article>
  )
}

const PeriodHead = ({ period }: { readonly period: Row }) => {
  const { distributionId, refused } = period
  return (
    <>
      <Lead id={String(period["scheduledDistributionId"])} states={[period["periodState"]]} />
      <Terms>
        <Term name="Instrument">
          <Value member="instrumentId" value={period["instrumentId"]} />
        </Term>
        <Term name="Record date">
          {String(period["recordDate"])} {String(period["businessZone"])}
          <p class="fine">
            ends <InstantText at={String(period["recordEndsAt"])} />
          </p>
        </Term>
        <Term name="Ex date">
          <Value member="exDate" value={period["exDate"]} />
        </Term>
        <Term name="Payment date">
          {String(period["paymentDate"])} {String(period["zone"])}
        </Term>
        {typeof distributionId === "string" ? (
          <Term name="Distribution">
            <Value member="distributionId" value={distributionId} />
          </Term>
        ) : null}
      </Terms>
      {refused === null || refused === undefined ? null : (
        <section class="alarm">
          <h2>Last refused</h2>
          <p>
            {word(String((refused as Row)["problem"]))}, at{" "}
            <InstantText at={String((refused as Row)["at"])} />
          </p>
          <p>
            <Value member="operationId" value={(refused as Row)["operationId"]} />
          </p>
        </section>
      )}
    </>
  )
}

/** An act judged at the page's point: what refuses it first, its figures, and every gate. */
const Judged = ({
  parameters,
  title
}: {
  readonly title: string
  readonly parameters: Readonly<Record<string, unknown>>
}) => {
  const state = useRead({ ...valueRead("instruments.precheck", parameters), kinds: ["*"] })
  return (
    <section class="sheet">
      <h2>{title}</h2>
      <Loaded state={state}>{({ value }) => <JudgedView judged={value} />}</Loaded>
    </section>
  )
}

const JudgedView = ({ judged }: { readonly judged: Row }) => {
  const gates = judged["gates"] as ReadonlyArray<Row>
  const refusal = gates.find(({ ok }) => ok !== true)
  const figures = judged["figures"] as Row | null
  return (
    <>
      {refusal === undefined ? (
        <p class="state good">✓ It would run.</p>
      ) : (
        <>
          <p class="state bad">
            ! Refused at gate {word(String(refusal["gate"]))}: {word(String(refusal["check"]))}
          </p>
          {typeof refusal["detail"] === "string" ? <p>{refusal["detail"]}</p> : null}
          {typeof refusal["recovery"] === "string" ? <Quote value={refusal["recovery"]} /> : null}
        </>
      )}
      {figures === null ? null : (
        <>
          <Rows
            caption="Figures that an approver signs"
            cells={[
              { name: "Figure", draw: ([name]) => label(name) },
              { name: "Amount", isFigure: true, draw: ([, amount]) => <Amount value={amount} /> }
            ]}
            rows={Object.entries(figures)}
            empty=""
          />
          <p class="fine">
            Hash <IdLink id={String(judged["figuresHash"])} />
          </p>
        </>
      )}
      <details>
        <summary>Every gate</summary>
        <Rows
          caption="Gates in their order"
          cells={[
            { name: "Gate", draw: ({ gate }) => word(String(gate)) },
            { name: "Check", draw: ({ check }) => word(String(check)) },
            {
              name: "Outcome",
              draw: ({ ok }) => (
                <span class={ok === true ? "state good" : "state bad"}>
                  {ok === true ? "✓ passed" : "! refused"}
                </span>
              )
            },
            { name: "Detail", draw: ({ detail }) => <Value member="text" value={detail} /> }
          ]}
          rows={gates}
          empty=""
        />
      </details>
    </>
  )
}

const listColumns: ReadonlyArray<Column> = [
  idColumn({ id: "distributionId", page: "distributions", title: "Distribution" }),
  memberColumn("instrumentId"),
  { name: "Month", draw: ({ month }) => <Text value={String(month)} /> },
  memberColumn("state"),
  memberColumn("rollState"),
  { name: "Record date", draw: ({ recordDate }) => <Text value={String(recordDate)} /> },
  { name: "Payment date", draw: ({ paymentDate }) => <Text value={String(paymentDate)} /> },
  {
    name: "Net",
    isFigure: true,
    draw: ({ payoutAsset, totals }) =>
      totals === null ? (
        <span class="none">not shown</span>
      ) : (
        <Amount value={(totals as Row)["net"]} unit={String((payoutAsset as Row)["id"])} />
      )
  },
  { name: "Whose move", draw: ({ waitingOn }) => <Waiting moves={waitingOn} /> }
]

const payableColumns: ReadonlyArray<Column> = [
  ...listColumns.filter(({ name }) => name !== "Record date" && name !== "Roll state"),
  {
    name: "Age",
    draw: ({ paymentDate }) => (
      <span class="distance">{distance(`${String(paymentDate)}T00:00:00Z`, present.value)}</span>
    )
  }
]

export const DistributionsPage = () => {
  const { url } = useLocation()
  const tab = useTab(["all", "payables"])
  const read = "distributions.list"
  return (
    <>
      <Title text="Distributions" />
      <Tabs
        label="Distributions"
        tabs={[
          ["all", "All"],
          ["payables", "Payables"]
        ]}
      />
      <Acts kinds={["distribution.execute"]} fixed={{}} />
      <Filters read={read} hidden={tab === "payables" ? ["state"] : []} />
      {tab === "payables" ? (
        <ListTable
          caption="What the registrar still pays"
          read={read}
          where={{ ...whereOf(read, url), state: ["payable", "held"] }}
          columns={payableColumns}
          empty="A distribution stands here while it is payable or held. None fits the filter."
        />
      ) : (
        <ListTable
          caption="Distributions"
          read={read}
          where={whereOf(read, url)}
          columns={listColumns}
          empty="A distribution is a month of an instrument that was executed. None fits the filter."
        />
      )}
    </>
  )
}

export const DistributionPage = ({ id }: { readonly id: string }) => {
  const state = useRead(valueRead("distributions.get", { distributionId: id }))
  return (
    <>
      <Title text={`Distribution ${id}`} />
      <Loaded state={state}>
        {({ value }) => <DistributionView id={id} distribution={value} />}
      </Loaded>
    </>
  )
}

const Strip = ({ steps }: { readonly steps: ReadonlyArray<Distributions.Step> }) => (
  <ol class="strip" aria-label="States">
    {steps.map(({ at, isReached, name }, nth) => (
      <li
        key={name}
        class={isReached ? "reached" : "ahead"}
        aria-current={isReached && steps[nth + 1]?.isReached !== true ? "step" : undefined}
      >
        <span>{word(name)}</span>
        {at === null ? (
          <span class="fine">{isReached ? "reached" : "ahead"}</span>
        ) : (
          <InstantText at={at} />
        )}
      </li>
    ))}
  </ol>
)

const DistributionView = ({
  distribution,
  id
}: {
  readonly id: string
  readonly distribution: Row
}) => {
  const { acknowledgedRate, clearedByRun, executedBy, holdId, payoutAsset } = distribution
  const unit = String((payoutAsset as Row)["id"])
  const by = executedBy as Row
  return (
    <article class="record">
      <Lead id={id} states={[distribution["state"], distribution["rollState"]]}>
        <span>
          {String(distribution["month"])} of{" "}
          <Value member="instrumentId" value={distribution["instrumentId"]} />
        </span>
      </Lead>
      <Strip steps={Distributions.stepsOf(distribution)} />
      <Move moves={distribution["waitingOn"]} />
      {typeof holdId === "string" && mayRead("holds.get", rolesOf()) ? (
        <p class="notice">
          Held by <Value member="holdId" value={holdId} />: a run clears it after the last hold of
          its instrument is released.
        </p>
      ) : null}
      <div class="acts">
        <Acts
          kinds={Distributions.isToRoll(distribution) ? ["distribution.roll"] : []}
          fixed={{ distributionId: id }}
        />
        {mayRead("distributions.export", rolesOf()) ? (
          <CsvButton read="distributions.export" params={{ distributionId: id }} file={id} />
        ) : null}
      </div>
      <Totals distribution={distribution} unit={unit} />
      <Counts distribution={distribution} id={id} />
      <section>
        <h2>Terms</h2>
        <Terms>
          <Term name="Record date">
            {String(distribution["recordDate"])} {String(distribution["zone"])}
          </Term>
          <Term name="Ex date">
            <Value member="exDate" value={distribution["exDate"]} />
          </Term>
          <Term name="Payment date">
            {String(distribution["paymentDate"])} {String(distribution["zone"])}
          </Term>
          <Term name="Policy version">
            <Amount value={distribution["policyVersion"]} />
          </Term>
          <Term name="Paid in">
            {word(String(distribution["payout"]))} of <Text value={unit} />,{" "}
            {String(distribution["payoutDecimals"])} places
          </Term>
          <Term name="Withholding">
            <Amount value={distribution["withholding"]} />
          </Term>
          <Term name="Rates seen at its points">
            <Value member="rates" value={distribution["ratesSeen"]} />
          </Term>
          <Term name="Rate acknowledged">
            <Amount value={acknowledgedRate} />
          </Term>
          <Term name="Executed by">
            {by["standingApprovalId"] === null ? null : (
              <p>
                standing approval{" "}
                <Value member="standingApprovalId" value={by["standingApprovalId"]} />
              </p>
            )}
            <Value member="operationId" value={by["operationId"]} />
          </Term>
          {mayRead("reconciliation-runs.get", rolesOf()) ? (
            <Term name="Cleared by run">
              <Value member="runId" value={clearedByRun} />
            </Term>
          ) : null}
          <Term name="Hash of the lines">
            <IdLink id={String(distribution["linesHash"])} />
          </Term>
          <Term name="Executed at ledger offset">
            <Amount value={distribution["executedOffset"]} />
          </Term>
        </Terms>
      </section>
      <LinesOf id={id} unit={unit} />
    </article>
  )
}

const totalMembers = [
  "entitlement",
  "gross",
  "equalisation",
  "withheld",
  "net",
  "payoutUnits",
  "carried",
  "suspended",
  "residual"
] as const

const Totals = ({ distribution, unit }: { readonly distribution: Row; readonly unit: string }) => {
  const { clearedByRun, totals } = distribution
  // Roles that see no totals have no box for them.
  if (totals === null || totals === undefined) return null
  const sums = totals as Row
  return (
    <>
      <Rows
        caption="Totals"
        order={`Σ over ${String(sums["holders"])} lines`}
        cells={[
          { name: "Sum", draw: (member) => (member === "net" ? <b>Net</b> : label(member)) },
          {
            name: "Amount",
            isFigure: true,
            draw: (member) => (
              <Amount value={sums[member]} unit={member === "payoutUnits" ? "units" : unit} />
            )
          }
        ]}
        rows={totalMembers.filter((member) => sums[member] !== null && sums[member] !== undefined)}
        empty=""
      />
      <Rows
        caption="Identities"
        cells={[
          {
            name: "Identity",
            draw: ({ formula, name }) => (
              <>
                <b>{name}</b>
                <p class="fine">{formula}</p>
              </>
            )
          },
          {
            name: "Judged",
            draw: ({ isSame }) =>
              isSame === null ? (
                clearedByRun === null ? (
                  <span class="state waits">○ by the run that clears it</span>
                ) : (
                  <span>over all lines, by the run that cleared it</span>
                )
              ) : (
                <Recomputed isSame={isSame} />
              )
          }
        ]}
        rows={Distributions.identitiesOf(sums)}
        empty=""
      />
    </>
  )
}

const Counts = ({ distribution, id }: { readonly distribution: Row; readonly id: string }) => {
  const counts = Distributions.countsOf(distribution["counts"])
  const isCounted = Distributions.isCounted(distribution)
  if (counts.length === 0) return null
  const page = `distributions/${encodeURIComponent(id)}`
  return (
    <section>
      <h2>Lines by state</h2>
      <p class="tally">
        {counts.map(([state, count]) => (
          <a key={state} href={hrefOf(`${page}?state=${state}`)}>
            <span class="figure">{count}</span> <State value={state} />
          </a>
        ))}
        {isCounted === null ? null : <Recomputed isSame={isCounted} />}
      </p>
    </section>
  )
}

const Cause = ({ line }: { readonly line: Row }) => {
  const cause = Distributions.causeOf(line)
  if (cause === null) return <span class="none">none</span>
  const needed = cause.page?.startsWith("restrictions") === true ? "restrictions.list" : null
  const isOpen = cause.page !== null && (needed === null || mayRead(needed, rolesOf()))
  return (
    <div class="cause">
      {cause.says}
      {isOpen ? (
        <p>
          <a href={hrefOf(cause.page ?? "")}>{cause.cure}</a>
        </p>
      ) : (
        <p class="fine">{cause.cure}</p>
      )}
    </div>
  )
}

const LinesOf = ({ id, unit }: { readonly id: string; readonly unit: string }) => {
  const { url } = useLocation()
  const read = "distributions.lines"
  const figure = (member: string): Column => ({
    name: label(member),
    isFigure: true,
    draw: (row) => <Amount value={row[member]} />
  })
  const columns: ReadonlyArray<Column> = [
    {
      name: "Line",
      draw: ({ lineId }) => (
        <IdLink
          id={String(lineId)}
          href={`distributions/${encodeURIComponent(id)}/lines/${encodeURIComponent(String(lineId))}`}
        />
      )
    },
    {
      name: "Holder",
      draw: ({ holderId, party }) =>
        holderId === null ? (
          <Value member="party" value={party} />
        ) : (
          <Value member="holderId" value={holderId} />
        )
    },
    memberColumn("state"),
    { name: "Cause and cure", draw: (row) => <Cause line={row} /> },
    figure("entitlement"),
    figure("carryIn"),
    figure("gross"),
    figure("withheld"),
    {
      name: "Net",
      isFigure: true,
      draw: ({ net }) => <Amount value={net} unit={unit} />
    },
    figure("carryOut"),
    {
      name: "Paid on",
      draw: ({ paidOn }) => <Value member="paidOn" value={paidOn} />
    }
  ]
  return (
    <>
      <Filters read={read} />
      <ListTable
        caption="Lines"
        read={read}
        where={{ distributionId: id, ...whereOf(read, url) }}
        columns={columns}
        empty="A distribution has a line for each party with units or a carry. None fits the filter."
        over={({ value }) => <CauseTally rows={value} />}
      />
    </>
  )
}

/** Causes of the lines of this page, each with its number. */
const CauseTally = ({ rows }: { readonly rows: ReadonlyArray<Row> }) => {
  const causes = Distributions.causesOf(rows)
  return causes.length === 0 ? null : (
    <p class="tally">
      <span class="fine">On this page wait or are carried:</span>
      {causes.map(([reason, count]) => (
        <span key={reason}>
          <span class="figure">{count}</span> {word(reason)}
        </span>
      ))}
    </p>
  )
}

export const LinePage = ({ id, inner }: { readonly id: string; readonly inner: string }) => {
  const state = useRead(valueRead("distributions.line", { distributionId: id, lineId: inner }))
  return (
    <>
      <Title text={`Line ${inner}`} />
      <Loaded state={state}>{({ value }) => <LineView line={value} />}</Loaded>
    </>
  )
}

const LineView = ({ line }: { readonly line: Row }) => {
  const { basisMissing, evidence, lost } = line
  const bases = (line["basis"] ?? []) as ReadonlyArray<BasisRecord>
  const figures = [
    "units",
    "entitlement",
    "carryIn",
    "gross",
    "equalisation",
    "withheld",
    "net",
    "carryOut",
    "payoutUnits"
  ].filter((member) => line[member] !== null && line[member] !== undefined)
  const cause = Distributions.causeOf(line)
  return (
    <article class="record">
      <Lead id={String(line["lineId"])} states={[line["state"]]}>
        <span>
          of <Value member="distributionId" value={line["distributionId"]} />
        </span>
        {lost === true ? <span class="state bad">! lost: the ledger no longer has it</span> : null}
      </Lead>
      <Move moves={line["waitingOn"]} />
      {cause === null ? null : (
        <section>
          <h2>Why it waits</h2>
          <Cause line={line} />
        </section>
      )}
      <Rows
        caption="Figures"
        cells={[
          { name: "Figure", draw: (member) => (member === "net" ? <b>Net</b> : label(member)) },
          { name: "Amount", isFigure: true, draw: (member) => <Amount value={line[member]} /> },
          {
            name: "Computed",
            draw: (member) => {
              const basis = bases.find(({ field }) => field === member)
              return basis === undefined ? null : <BasisView basis={basis} />
            }
          }
        ]}
        rows={figures}
        empty=""
      />
      {typeof basisMissing === "string" ? (
        <p class="notice">{Distributions.basisMissingSentence(basisMissing)}</p>
      ) : null}
      <Terms>
        <Term name="Holder">
          <Value member="holderId" value={line["holderId"]} />
        </Term>
        <Term name="Party">
          <Value member="party" value={line["party"]} />
        </Term>
        <Term name="Rate withheld">
          <Amount value={line["rate"]} />{" "}
          <span class="fine">by {word(String(line["rateSource"]))}</span>
        </Term>
        {line["predecessor"] === null ? null : (
          <Term name="Predecessor">
            <Value member="predecessorId" value={line["predecessor"]} />
          </Term>
        )}
        <Term name="Carried from">
          <Value member="text" value={line["carriedFrom"]} />
        </Term>
        <Term name="Paid on">
          <Value member="paidOn" value={line["paidOn"]} />
        </Term>
        {evidence === null || evidence === undefined ? null : (
          <Term name="Evidence">
            <Quote value={String((evidence as Row)["reference"])} />
          </Term>
        )}
        <Term name="Delivered">
          <Value member="deliveredAt" value={line["deliveredAt"]} />
        </Term>
      </Terms>
    </article>
  )
}

const approvalColumns: ReadonlyArray<Column> = [
  idColumn({ id: "standingApprovalId", page: "standing-approvals", title: "Standing approval" }),
  memberColumn("instrumentId"),
  memberColumn("state"),
  { name: "From", draw: ({ from }) => <InstantText at={String(from)} /> },
  { name: "Until", draw: ({ until }) => <InstantText at={String(until)} /> },
  {
    name: "Uses",
    isFigure: true,
    draw: ({ maxUses, uses }) => <UsedOf used={uses} most={maxUses} unit={undefined} />
  },
  {
    name: "Net used",
    isFigure: true,
    draw: ({ currency, maxNet, usedNet }) => (
      <UsedOf used={usedNet} most={maxNet} unit={String(currency)} />
    )
  }
]

/** What was used, of what at most. */
const UsedOf = ({
  most,
  unit,
  used
}: {
  readonly used: unknown
  readonly most: unknown
  readonly unit: string | undefined
}) => (
  <>
    <Amount value={used} unit={unit} />
    <p class="fine">
      {most === null ? (
        "without a limit"
      ) : (
        <>
          of <Amount value={most} />
        </>
      )}
    </p>
  </>
)

export const StandingApprovalsPage = () => {
  const { url } = useLocation()
  const read = "standing-approvals.list"
  return (
    <>
      <Title text="Standing approvals" />
      <Acts kinds={["standing-approval.grant"]} fixed={{}} />
      <Filters read={read} />
      <ListTable
        caption="Standing approvals"
        read={read}
        where={whereOf(read, url)}
        columns={approvalColumns}
        empty="A standing approval lets the months of an instrument run without signatures of their own. None fits the filter."
      />
    </>
  )
}

export const StandingApprovalPage = ({ id }: { readonly id: string }) => {
  const state = useRead(valueRead("standing-approvals.get", { standingApprovalId: id }))
  return (
    <>
      <Title text={`Standing approval ${id}`} />
      <Loaded state={state}>
        {({ value }) => <StandingApprovalView approval={value} id={id} />}
      </Loaded>
    </>
  )
}

const StandingApprovalView = ({
  approval,
  id
}: {
  readonly id: string
  readonly approval: Row
}) => {
  const { currency, maxNet, maxUses, revokedAt, usedNet, uses } = approval
  const usesLeft = Distributions.leftOf(uses, maxUses)
  const netLeft = Distributions.leftOf(usedNet, maxNet)
  return (
    <article class="record">
      <Lead id={id} states={[approval["state"]]}>
        <Value member="instrumentId" value={approval["instrumentId"]} />
      </Lead>
      <p class="sentence">
        Months of this instrument run under it without signatures of their own. Anybody who may
        revoke it does so alone, at once.
      </p>
      <Move moves={approval["waitingOn"]} />
      <Acts
        kinds={actsOf("standing-approval", String(approval["state"]))}
        fixed={{ standingApprovalId: id }}
      />
      <Terms>
        <Term name="From">
          <InstantText at={String(approval["from"])} />
        </Term>
        <Term name="Until">
          <InstantText at={String(approval["until"])} />
        </Term>
        <Term name="Uses">
          <UsedOf used={uses} most={maxUses} unit={undefined} />
          {usesLeft === null ? null : <p class="fine">left, recomputed here: {usesLeft}</p>}
        </Term>
        <Term name="Net used">
          <UsedOf used={usedNet} most={maxNet} unit={String(currency)} />
          {netLeft === null ? null : (
            <p class="fine">
              left, recomputed here: <Amount value={netLeft} unit={String(currency)} />
            </p>
          )}
        </Term>
        <Term name="Where the rate changes">{word(String(approval["rateChange"]))}</Term>
        <Term name="Where a line is not rolled">{word(String(approval["partial"]))}</Term>
        <Term name="Granted by">
          <Text value={String(approval["grantedBy"])} />
          <p class="fine">
            <InstantText at={String(approval["grantedAt"])} />
          </p>
        </Term>
        <Term name="Approved by">
          <Text value={String(approval["approvedBy"])} />
        </Term>
        {typeof revokedAt === "string" ? (
          <Term name="Revoked by">
            <Text value={String(approval["revokedBy"])} />
            <p class="fine">
              <InstantText at={revokedAt} />
            </p>
          </Term>
        ) : null}
      </Terms>
    </article>
  )
}
