/** Pages of reconciliation: verdicts, runs, one run, findings, one finding. */
import table from "virtual:interface"
import { Acts } from "../kit/Acts.tsx"
import { basisOf, BasisView } from "../kit/Basis.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { Amount, Lead, Loaded, Move, Recomputed, ResourceLink, Rows } from "../kit/Sheet.tsx"
import { type Column, idColumn, ListTable, memberColumn } from "../kit/Table.tsx"
import { IdLink, InstantText, Quote, State, Term, Terms, Value } from "../kit/Values.tsx"
import { useRead } from "../reads/Cache.ts"
import { mayRead, type Row, valueRead } from "../reads/Lists.ts"
import { hrefOf } from "../shell/Links.ts"
import * as Session from "../shell/Session.ts"
import { Title } from "../shell/Title.tsx"
import { label, word } from "../words/Words.ts"
import { useLocation } from "preact-iso"
import * as Reconciliation from "./Reconciliation.ts"
import { RunNow } from "./RunNow.tsx"

const runPath = (runId: string): string => `reconciliation-runs/${encodeURIComponent(runId)}`
const findingsOf = (filter: string, value: string): string =>
  `findings?${filter}=${encodeURIComponent(value)}`

/** Open findings by severity, each a word and a count. */
const OpenFindings = ({ open }: { readonly open: unknown }) => {
  const counts = Reconciliation.openOf(open)
  if (counts.length === 0) return <span class="none">none</span>
  return (
    <span class="tallied">
      {counts.map(([severity, count]) => (
        <span key={severity}>
          <span class="figure">{count}</span> <State value={severity} />
        </span>
      ))}
    </span>
  )
}

const verdictColumns: ReadonlyArray<Column> = [
  idColumn({ id: "instrumentId", page: "instruments", title: "Instrument" }),
  memberColumn("verdict"),
  { name: "Open findings", draw: ({ open }) => <OpenFindings open={open} /> },
  {
    name: "Oldest, days",
    isFigure: true,
    draw: ({ oldestDays }) => <Amount value={oldestDays} />
  },
  {
    name: "Not compared",
    isFigure: true,
    draw: ({ notCompared }) => <Amount value={String((notCompared as ReadonlyArray<Row>).length)} />
  },
  {
    name: "Last run",
    draw: ({ runId }) => <IdLink id={String(runId)} href={runPath(String(runId))} />
  },
  { name: "Ledger offset", isFigure: true, draw: ({ asOf }) => <Amount value={asOf} /> },
  {
    name: "Judge again",
    draw: ({ changedSince, instrumentId }) => (
      <>
        {changedSince === true ? <p class="state waits">○ figures changed since</p> : null}
        <RunNow instrumentId={String(instrumentId)} />
      </>
    )
  }
]

export const VerdictsPage = () => {
  const { url } = useLocation()
  const roles = Session.person.value?.roles ?? []
  // A column of a person that may start no run would be empty.
  const mayRun = table.writes["reconciliation-runs.start"]?.roles.some((role) =>
    roles.includes(role)
  )
  const seesRuns = mayRead("reconciliation-runs.get", roles)
  const columns = verdictColumns.filter(
    ({ name }) => (name !== "Judge again" || mayRun === true) && (name !== "Last run" || seesRuns)
  )
  return (
    <>
      <Title text="Reconciliation" />
      <RunNow instrumentId={null} title="Run all instruments now" />
      <Filters read="reconciliation-verdict.list" hidden={["policyVersion", "price"]} />
      <ListTable
        caption="Verdict of each instrument"
        read="reconciliation-verdict.list"
        where={whereOf("reconciliation-verdict.list", url)}
        columns={columns}
        empty="An instrument has a verdict once a run has compared it. None fits the filter."
      />
    </>
  )
}

const runColumns: ReadonlyArray<Column> = [
  idColumn({ id: "runId", page: "reconciliation-runs", title: "Run" }),
  memberColumn("verdict"),
  { name: "Started by", draw: ({ trigger }) => word(String(trigger)) },
  { name: "Finished", draw: ({ finishedAt }) => <InstantText at={String(finishedAt)} near /> },
  { name: "Scope", draw: ({ scope }) => <Scope scope={scope as Row} /> },
  {
    name: "Not compared",
    isFigure: true,
    draw: ({ notComparedCount }) => <Amount value={notComparedCount} />
  },
  {
    name: "Holds opened",
    draw: ({ holdsOpened }) => <Value member="holdIds" value={holdsOpened} />
  },
  {
    name: "Distributions cleared",
    draw: ({ distributionsCleared }) => (
      <Value member="distributionIds" value={distributionsCleared} />
    )
  }
]

const Scope = ({ scope }: { readonly scope: Row }) => {
  const { checks, instrumentIds } = scope
  return (
    <>
      {instrumentIds === null ? (
        "all instruments"
      ) : (
        <Value member="instrumentIds" value={instrumentIds} />
      )}
      {checks === null ? null : (
        <p class="fine">
          only {(checks as ReadonlyArray<string>).map((check) => label(check)).join(", ")}
        </p>
      )}
    </>
  )
}

export const RunsPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Reconciliation runs" />
      <RunNow instrumentId={null} title="Run all instruments now" />
      <Filters read="reconciliation-runs.list" />
      <ListTable
        caption="Runs"
        read="reconciliation-runs.list"
        where={whereOf("reconciliation-runs.list", url)}
        columns={runColumns}
        empty="A run compares records, ledger and statements. None fits the filter."
      />
    </>
  )
}

export const RunPage = ({ id }: { readonly id: string }) => {
  const state = useRead(valueRead("reconciliation-runs.get", { runId: id }))
  return (
    <>
      <Title text={`Reconciliation run ${id}`} />
      <Loaded state={state}>{({ value }) => <RunView id={id} run={value} />}</Loaded>
    </>
  )
}

const RunView = ({ id, run }: { readonly id: string; readonly run: Row }) => {
  const checks = Reconciliation.checksInOrder(
    run["checks"] as ReadonlyArray<Reconciliation.CheckRow>
  )
  const notCompared = run["notCompared"] as ReadonlyArray<Row>
  return (
    <article class="record">
      <Lead id={id} states={[run["verdict"]]}>
        <span class="fine">
          finished <InstantText at={String(run["finishedAt"])} near />
        </span>
      </Lead>
      <Terms>
        <Term name="Started by">{word(String(run["trigger"]))}</Term>
        <Term name="Started">
          <InstantText at={String(run["startedAt"])} />
        </Term>
        <Term name="Ledger offset">
          <Amount value={run["asOf"]} />
        </Term>
        <Term name="Scope">
          <Scope scope={run["scope"] as Row} />
        </Term>
        <Term name="Holds opened">
          <Value member="holdIds" value={run["holdsOpened"]} />
        </Term>
        <Term name="Distributions cleared">
          <Value member="distributionIds" value={run["distributionsCleared"]} />
        </Term>
      </Terms>
      <Rows
        caption="Checks"
        order="those that did not run first"
        cells={[
          {
            name: "Check",
            draw: ({ check }) => (
              <>
                <b>{label(check)}</b>
                <p class="fine">{Reconciliation.checkSentence(check)}</p>
              </>
            )
          },
          {
            name: "Outcome",
            draw: (row) => (
              <span class={row.ran ? undefined : "state bad"}>
                {row.ran ? "" : "! "}
                {Reconciliation.outcomeOf(row)}
              </span>
            )
          },
          {
            name: "Findings",
            isFigure: true,
            draw: ({ findings }) => <Amount value={findings} />
          }
        ]}
        rows={checks}
        empty="The run made no check."
      />
      {notCompared.length === 0 ? null : (
        <Rows
          caption="Not compared"
          order={`${String(run["notComparedCount"])} in all; what a verdict needs is marked`}
          cells={[
            { name: "Check", draw: ({ check }) => label(String(check)) },
            {
              name: "Record",
              draw: ({ subject }) => {
                const { id: subjectId, resourceKind } = subject as Row
                return <ResourceLink kind={String(resourceKind)} id={String(subjectId)} />
              }
            },
            {
              name: "Statement",
              draw: ({ statementId }) => <Value member="externalStatementId" value={statementId} />
            },
            { name: "Why", draw: ({ why }) => Reconciliation.reasonOf(String(why)) },
            {
              name: "Needed",
              draw: ({ isNeeded }) =>
                isNeeded === true ? <span class="state bad">! needed</span> : "no"
            }
          ]}
          rows={notCompared}
          empty=""
        />
      )}
      <ListTable
        caption="Findings that this run saw last"
        read="findings.list"
        where={{ runId: id }}
        columns={findingColumns}
        empty="No finding has this run as its last: it found no difference, or later runs judged them."
      />
    </article>
  )
}

const findingColumns: ReadonlyArray<Column> = [
  idColumn({ id: "findingId", page: "findings", title: "Finding" }),
  { name: "Check", draw: ({ check }) => label(String(check)) },
  memberColumn("severity"),
  memberColumn("state"),
  memberColumn("instrumentId"),
  memberColumn("holderId"),
  memberColumn("difference"),
  {
    name: "Unexplained",
    isFigure: true,
    draw: ({ unexplained, unit }) => <Amount value={unexplained} unit={String(unit)} />
  },
  { name: "Age, days", isFigure: true, draw: ({ ageDays }) => <Amount value={ageDays} /> }
]

export const FindingsPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Findings" />
      <Filters read="findings.list" />
      <ListTable
        caption="Findings"
        read="findings.list"
        where={whereOf("findings.list", url)}
        columns={findingColumns}
        empty="A finding is a difference that a run saw between records, ledger and statements. None fits the filter."
      />
    </>
  )
}

export const FindingPage = ({ id }: { readonly id: string }) => {
  const state = useRead({ ...valueRead("findings.get", { findingId: id }), kinds: ["*"] })
  return (
    <>
      <Title text={`Finding ${id}`} />
      <Loaded state={state}>{({ value }) => <FindingView id={id} finding={value} />}</Loaded>
    </>
  )
}

const Amounts = ({ finding }: { readonly finding: Row }) => {
  const { actual, basis, difference, expected, tolerance, unexplained, unit } = finding
  const explained = finding["explained"] as Row
  const { isDifferenceSame, isUnexplainedSame } = Reconciliation.recomputed(finding)
  const unitText = String(unit)
  const rows = [
    ["Expected", expected, null],
    ["Actual", actual, null],
    ["Difference", difference, isDifferenceSame],
    ["Explained", explained["amount"], null],
    ["Unexplained", unexplained, isUnexplainedSame],
    ["Tolerance", tolerance, null]
  ] as const
  return (
    <Rows
      caption="Figures"
      order={`in ${unitText}`}
      cells={[
        { name: "Figure", draw: ([name]) => (name === "Unexplained" ? <b>{name}</b> : name) },
        {
          name: "Amount",
          isFigure: true,
          draw: ([, value]) => <Amount value={value} unit={unitText} />
        },
        {
          name: "Computed",
          draw: ([name, , isSame]) => {
            const basisOfFigure = basisOf(basis, name.toLowerCase())
            return (
              <>
                {isSame === null ? null : <Recomputed isSame={isSame} />}
                {basisOfFigure === undefined ? null : <BasisView basis={basisOfFigure} />}
              </>
            )
          }
        }
      ]}
      rows={rows}
      empty=""
    />
  )
}

const Explained = ({ finding }: { readonly finding: Row }) => {
  const { amount, by } = finding["explained"] as Row
  const items = by as ReadonlyArray<Row>
  const { isExplainedSame } = Reconciliation.recomputed(finding)
  if (items.length === 0) return null
  return (
    <>
      <Rows
        caption="What explains it"
        order="items in flight between the two moments"
        cells={[
          {
            name: "Record",
            draw: ({ id, resourceKind }) => (
              <ResourceLink kind={String(resourceKind)} id={String(id)} />
            )
          },
          { name: "Amount", isFigure: true, draw: (row) => <Amount value={row["amount"]} /> }
        ]}
        rows={items}
        empty=""
        foot={["Explained", <Amount key="amount" value={amount} />]}
      />
      {isExplainedSame === null ? null : (
        <p>
          <Recomputed isSame={isExplainedSame} />
        </p>
      )}
    </>
  )
}

const FindingView = ({ finding, id }: { readonly id: string; readonly finding: Row }) => {
  const { accepted, asOf, check, comparedAt, entry, holdId, holderId, instrumentId } = finding
  const { missingDates, runId, severity, state, statementId, waitingOn } = finding
  const subject = finding["subject"] as Row
  const roles = Session.person.value?.roles ?? []
  const missing = missingDates as ReadonlyArray<string>
  const hasAmounts = finding["difference"] !== null && finding["difference"] !== undefined
  return (
    <article class="record">
      <Lead id={id} states={[state, severity]}>
        <span>{label(String(check))}</span>
      </Lead>
      <p class="sentence">{Reconciliation.checkSentence(String(check))}</p>
      {finding["changedSince"] === true ? (
        <p class="notice">Changed since this run: run again to judge.</p>
      ) : null}
      <section>
        <h2>What you can do</h2>
        <ul class="steps-ahead">
          {Reconciliation.nextOf(finding).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
        <p class="acts">
          {state === "open" && typeof instrumentId === "string" ? (
            <RunNow instrumentId={instrumentId} title="Run again" />
          ) : null}
          {typeof holdId === "string" && mayRead("holds.get", roles) ? (
            <span>
              Hold <IdLink id={holdId} href={`holds/${encodeURIComponent(holdId)}`} />
            </span>
          ) : null}
        </p>
        {state === "open" && typeof holdId === "string" ? (
          <Acts
            kinds={["hold.release"]}
            fixed={{ holdId }}
            initial={{ "hold.release": { accept: [id] } }}
          />
        ) : null}
      </section>
      <Move moves={waitingOn} />
      {hasAmounts ? <Amounts finding={finding} /> : null}
      <Explained finding={finding} />
      {missing.length === 0 ? null : (
        <section>
          <h2>Missing dates</h2>
          <p>{missing.join(", ")}</p>
        </section>
      )}
      <section>
        <h2>What was compared</h2>
        <Terms>
          <Term name="Record">
            <ResourceLink kind={String(subject["resourceKind"])} id={String(subject["id"])} />
          </Term>
          <Term name="Instrument">
            <Value member="instrumentId" value={instrumentId} />
          </Term>
          {typeof holderId === "string" ? (
            <Term name="Holder">
              <Value member="holderId" value={holderId} />
            </Term>
          ) : null}
          {typeof statementId === "string" ? (
            <Term name="Statement">
              <Value member="externalStatementId" value={statementId} />
            </Term>
          ) : null}
          {typeof entry === "object" && entry !== null ? (
            <Term name="Line">
              <Value member="externalStatementId" value={(entry as Row)["externalStatementId"]} />{" "}
              line {String((entry as Row)["line"])}
            </Term>
          ) : null}
        </Terms>
      </section>
      <section>
        <h2>When</h2>
        <p class="fine">{Reconciliation.momentOf(finding)}</p>
        <Terms>
          <Term name="As of">
            <ReadAt at={asOf} />
          </Term>
          {comparedAt === null || comparedAt === undefined ? null : (
            <Term name="Compared at">
              <ReadAt at={comparedAt} />
            </Term>
          )}
          <Term name="First seen">
            <InstantText at={String(finding["firstSeenAt"])} />
            <p class="fine">
              by{" "}
              <IdLink
                id={String(finding["firstSeenRunId"])}
                href={runPath(String(finding["firstSeenRunId"]))}
              />
            </p>
          </Term>
          <Term name="Last judged by">
            <IdLink id={String(runId)} href={runPath(String(runId))} />
          </Term>
          <Term name="Seen by, runs">
            <Amount value={finding["seenRuns"]} />
          </Term>
          <Term name="Age, days">
            <Amount value={finding["ageDays"]} />
          </Term>
        </Terms>
      </section>
      {accepted === null || accepted === undefined ? null : <Accepted accepted={accepted as Row} />}
      {typeof instrumentId === "string" ? (
        <p>
          <a href={hrefOf(findingsOf("instrumentId", instrumentId))}>
            All findings of this instrument
          </a>
        </p>
      ) : null}
    </article>
  )
}

/** A moment by its instant and the offset of the ledger. */
const ReadAt = ({ at }: { readonly at: unknown }) => {
  const { instant, offset } = at as Row
  return (
    <>
      <InstantText at={String(instant)} />
      <p class="fine">ledger offset {String(offset)}</p>
    </>
  )
}

const Accepted = ({ accepted }: { readonly accepted: Row }) => (
  <section>
    <h2>Accepted</h2>
    <Terms>
      <Term name="Up to">
        <Amount value={accepted["unexplained"]} />
      </Term>
      <Term name="At">
        <InstantText at={String(accepted["at"])} />
      </Term>
      <Term name="With the release of">
        <Value member="holdId" value={accepted["holdId"]} />
      </Term>
      <Term name="Operation">
        <Value member="operationId" value={accepted["operationId"]} />
      </Term>
    </Terms>
    <Quote value={String(accepted["reason"])} />
  </section>
)
