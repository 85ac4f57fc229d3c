/** Pages of outside statements: sources with their calendar, statements, one statement, accounts. */
import { useLocation } from "preact-iso"
import { Acts } from "../kit/Acts.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { SaveButton } from "../kit/Save.tsx"
import { Amount, Lead, Loaded, Move, Recomputed, ResourceLink, Rows } from "../kit/Sheet.tsx"
import { type Column, idColumn, ListTable, memberColumn } from "../kit/Table.tsx"
import { IdLink, InstantText, State, Term, Terms, Text, Value } from "../kit/Values.tsx"
import { present } from "../kit/Zone.ts"
import { useRead } from "../reads/Cache.ts"
import { listRead, type Row, valueRead } from "../reads/Lists.ts"
import { Title } from "../shell/Title.tsx"
import { label, word } from "../words/Words.ts"
import { HandIn } from "./HandIn.tsx"
import * as Statements from "./Statements.ts"

type Source = Row & Statements.SourceRow & { readonly lastBusinessDate: string | null }

/** Days back within which the page names late dates and draws the calendar. */
const daysShown = "P35D"

const LateBy = ({ source }: { readonly source: Source }) => {
  if (source["state"] !== "active") return <span class="none">not asked for</span>
  const today = Statements.dayOf(present.value, source.dueBy.zone)
  const late = Statements.latenessOf(source, { now: present.value, today, days: daysShown })
  if (late.is === "silent") return <span class="none">no statement yet</span>
  if (late.is === "open") return <span class="none">by instrument: see its calendar</span>
  if (late.is === "none") return <span class="state good">✓ nothing late</span>
  return (
    <span class="state bad">
      ! {String(late.dates.length)} {late.dates.length === 1 ? "date" : "dates"}, from{" "}
      {late.dates[0]}
    </span>
  )
}

const sourceColumns: ReadonlyArray<Column> = [
  idColumn({ id: "externalSourceId", page: "external-sources", title: "Source" }),
  { name: "Kind", draw: ({ kind }) => word(String(kind)) },
  { name: "Form", draw: ({ adapter }) => <Text value={String(adapter)} /> },
  memberColumn("state"),
  {
    name: "Instruments",
    draw: ({ instruments }) => <Value member="instrumentIds" value={instruments} />
  },
  {
    name: "Owes",
    draw: ({ calendar }) => Statements.calendarWords(calendar as ReadonlyArray<string>)
  },
  { name: "Due", draw: (row) => Statements.dueWords((row as Source).dueBy) },
  memberColumn("lastBusinessDate"),
  { name: "Late by", draw: (row) => <LateBy source={row as Source} /> }
]

export const SourcesPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Sources of statements" />
      <HandIn sourceId={null} />
      <Filters read="external-sources.list" />
      <ListTable
        caption="Sources"
        read="external-sources.list"
        where={whereOf("external-sources.list", url)}
        columns={sourceColumns}
        empty="The deployment configures the sources that send statements. None fits the filter."
      />
    </>
  )
}

export const SourcePage = ({ id }: { readonly id: string }) => {
  const state = useRead(valueRead("external-sources.get", { externalSourceId: id }))
  return (
    <>
      <Title text={`Source ${id}`} />
      <Loaded state={state}>
        {({ value }) => <SourceView id={id} source={value as Source} />}
      </Loaded>
    </>
  )
}

const SourceView = ({ id, source }: { readonly id: string; readonly source: Source }) => (
  <article class="record">
    <Lead id={id} states={[source["state"]]}>
      <span>{word(String(source["kind"]))}</span>
      <LateBy source={source} />
    </Lead>
    <Move moves={source["waitingOn"]} />
    <HandIn sourceId={id} />
    <Terms>
      <Term name="Form">
        <Text value={String(source["adapter"])} />
      </Term>
      <Term name="Instruments">
        <Value member="instrumentIds" value={source.instruments} />
      </Term>
      <Term name="Owes">{Statements.calendarWords(source.calendar)}</Term>
      <Term name="Due">{Statements.dueWords(source.dueBy)}</Term>
      <Term name="Grace time">{source.grace}</Term>
      <Term name="Last business date">
        <Value member="lastBusinessDate" value={source.lastBusinessDate} />
      </Term>
      {(
        [
          "account",
          "accountIs",
          "basis",
          "places",
          "zone",
          "validFor",
          "reversals",
          "balances"
        ] as const
      )
        .filter((member) => source[member] !== null && source[member] !== undefined)
        .map((member) => (
          <Term key={member} name={label(member)}>
            <Value member={member} value={source[member]} />
          </Term>
        ))}
    </Terms>
    <SourceCalendar id={id} source={source} />
  </article>
)

/** Statements of a page of the calendar: those of one source for five weeks. */
const calendarRows = 500

const SourceCalendar = ({ id, source }: { readonly id: string; readonly source: Source }) => {
  const last = Statements.dayOf(present.value, source.dueBy.zone)
  const first = Statements.daysBefore(last, daysShown)
  const state = useRead(
    listRead("external-statements.list", {
      where: Statements.datesWhere(id, { first, last }),
      limit: calendarRows
    })
  )
  return (
    <Loaded state={state}>
      {({ next, now, value }) => (
        <>
          {next === null ? null : (
            <p class="notice">
              More statements came in these weeks than the calendar reads: dates may be shown as
              missing that are not. The list of statements has all.
            </p>
          )}
          <Rows
            caption="Business dates"
            order={`the last five weeks, newest first; dates in ${source.dueBy.zone}`}
            cells={[
              { name: "Business date", draw: ({ date }) => date },
              { name: "State", draw: ({ state: dateState }) => <State value={dateState} /> },
              {
                name: "Statements in force",
                draw: ({ statements }) => (
                  <Value
                    member="externalStatementIds"
                    value={statements.map(({ externalStatementId }) => externalStatementId)}
                  />
                )
              },
              {
                name: "Received",
                draw: ({ statements }) =>
                  statements.map(({ externalStatementId, receivedAt }) => (
                    <p key={String(externalStatementId)}>
                      <InstantText at={String(receivedAt)} />
                    </p>
                  ))
              },
              {
                name: "Late from",
                draw: ({ date }) => <InstantText at={Statements.lateFrom(source, date)} />
              },
              {
                name: "Without a statement",
                draw: ({ without }) => <Value member="instrumentIds" value={without} />
              }
            ]}
            rows={Statements.calendarOf(source, { first, last, now, statements: value })}
            empty="The source owes no statement in these weeks, and none came."
          />
        </>
      )}
    </Loaded>
  )
}

const statementColumns: ReadonlyArray<Column> = [
  idColumn({ id: "externalStatementId", page: "external-statements", title: "Statement" }),
  memberColumn("externalSourceId"),
  { name: "Kind", draw: ({ kind }) => word(String(kind)) },
  memberColumn("instrumentId"),
  { name: "Business date", draw: ({ businessDate }) => <Text value={String(businessDate)} /> },
  { name: "Standing", draw: (row) => <Standing statement={row} /> },
  memberColumn("lineCount"),
  {
    name: "Total",
    isFigure: true,
    draw: ({ currency, totalAmount, totalQuantity }) =>
      totalAmount === null && totalQuantity === null ? (
        <span class="none">none stated</span>
      ) : (
        <>
          {totalAmount === null ? null : (
            <Amount value={totalAmount} unit={currency === null ? undefined : String(currency)} />
          )}
          {totalQuantity === null ? null : <Amount value={totalQuantity} unit="units" />}
        </>
      )
  },
  { name: "Received", draw: ({ receivedAt }) => <InstantText at={String(receivedAt)} near /> },
  { name: "Received by", draw: ({ receivedBy }) => <Text value={String(receivedBy)} /> }
]

/** Whether a statement is in force, and what it corrects or what corrected it. */
const Standing = ({ statement }: { readonly statement: Row }) => {
  const { corrects, nav, supersededBy } = statement
  const isSuspended = (nav as Row | null)?.["ripcord"] === true
  return (
    <>
      {supersededBy === null ? (
        <span class="state good">✓ in force</span>
      ) : (
        <>
          <span class="state plain">· corrected by</span>{" "}
          <Value member="externalStatementId" value={supersededBy} />
        </>
      )}
      {corrects === null ? null : (
        <p class="fine">
          corrects <Value member="externalStatementId" value={corrects} />
        </p>
      )}
      {isSuspended ? <p class="state bad">! suspended</p> : null}
    </>
  )
}

export const StatementsPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Statements" />
      <HandIn sourceId={null} />
      <Filters read="external-statements.list" />
      <ListTable
        caption="Statements"
        read="external-statements.list"
        where={whereOf("external-statements.list", url)}
        columns={statementColumns}
        empty="A source hands files in, which become statements. None fits the filter."
      />
    </>
  )
}

interface StatementHead {
  readonly statement: Row
  readonly balance: Statements.Balance | null
  readonly hasFile: boolean
}

/** Reads a statement and keeps its head and its balance: lines are read in pages, the file when it is asked for. */
const headRead = (id: string) => {
  const read = valueRead("external-statements.get", { externalStatementId: id })
  return {
    ...read,
    key: [...read.key, "head"],
    load: async (signal: AbortSignal): Promise<StatementHead> => {
      const { value } = await read.load(signal)
      const statement = value["statement"] as Row
      const lines = value["lines"] as ReadonlyArray<Row> | null
      return {
        statement,
        balance: statement["kind"] === "cash" ? Statements.balanceOf(statement, lines) : null,
        hasFile: value["raw"] !== null
      }
    }
  }
}

export const StatementPage = ({ id }: { readonly id: string }) => {
  const state = useRead(headRead(id))
  return (
    <>
      <Title text={`Statement ${id}`} />
      <Loaded state={state}>{(head) => <StatementView id={id} {...head} />}</Loaded>
    </>
  )
}

const StatementView = ({
  balance,
  hasFile,
  id,
  statement
}: StatementHead & { readonly id: string }) => {
  const { asOf, corrects, currency, kind, nav, prunedAt } = statement
  return (
    <article class="record">
      <Lead id={id} states={[]}>
        <span>
          {word(String(kind))} of {String(statement["businessDate"])}
        </span>
        <Standing statement={statement} />
      </Lead>
      <Move moves={statement["waitingOn"]} />
      {nav === null || nav === undefined ? null : (
        <Nav nav={nav as Row} currency={String(currency)} />
      )}
      {balance === null ? null : <BalanceView balance={balance} currency={String(currency)} />}
      <Terms>
        <Term name="Source">
          <Value member="externalSourceId" value={statement["externalSourceId"]} />
        </Term>
        <Term name="Instrument">
          <Value member="instrumentId" value={statement["instrumentId"]} />
        </Term>
        <Term name="As of">
          <InstantText at={String(asOf)} />
        </Term>
        {(
          [
            "period",
            "reference",
            "totalAmount",
            "totalQuantity",
            "lineCount",
            "statedLines",
            "basis",
            "sequence",
            "externalAccountId"
          ] as const
        )
          .filter((member) => statement[member] !== null && statement[member] !== undefined)
          .map((member) => (
            <Term key={member} name={label(member)}>
              <Value member={member} value={statement[member]} />
            </Term>
          ))}
        <Term name="Received">
          <InstantText at={String(statement["receivedAt"])} />
          <p class="fine">
            by <Text value={String(statement["receivedBy"])} />
          </p>
        </Term>
        <Term name="File">
          <Text value={String(statement["rawFormat"])} />, {String(statement["rawBytes"])} bytes
          <p class="fine">SHA-256</p>
          <IdLink id={String(statement["contentHash"])} />
        </Term>
      </Terms>
      {hasFile ? <Download id={id} /> : null}
      {prunedAt === null ? (
        <Lines id={id} kind={String(kind)} />
      ) : (
        <p class="notice">
          Retention deleted its lines and its file at <InstantText at={String(prunedAt)} />.
        </p>
      )}
      {kind === "nav" && corrects !== null ? <RestatementView id={id} /> : null}
    </article>
  )
}

const Nav = ({ currency, nav }: { readonly nav: Row; readonly currency: string }) => (
  <section class={nav["ripcord"] === true ? "alarm" : undefined}>
    <h2>Net asset value of a unit</h2>
    {nav["ripcord"] === true ? (
      <p class="state bad">! Suspended: {Statements.ripcordSentence}</p>
    ) : null}
    <Terms>
      <Term name="Official">
        <Amount value={nav["official"]} unit={currency} />
      </Term>
      {nav["indicative"] === null ? null : (
        <Term name="Indicative">
          <Amount value={nav["indicative"]} unit={currency} />
          {typeof nav["indicativeAsOf"] === "string" ? (
            <p class="fine">
              as of <InstantText at={nav["indicativeAsOf"]} />
            </p>
          ) : null}
        </Term>
      )}
      <Term name="Confirms prices until">
        <InstantText at={String(nav["expiresAt"])} />
      </Term>
    </Terms>
  </section>
)

const BalanceView = ({
  balance: { closing, entries, isSame, opening },
  currency
}: {
  readonly balance: Statements.Balance
  readonly currency: string
}) => (
  <section>
    <h2>Balance</h2>
    <p class="equation">
      <span>
        <span class="fine">Opening</span> <Amount value={opening} unit={currency} />
      </span>
      <span aria-hidden="true">+</span>
      <span>
        <span class="fine">Entries</span> <Amount value={entries} unit={currency} />
      </span>
      <span aria-hidden="true">=</span>
      <span>
        <span class="fine">Closing</span> <Amount value={closing} unit={currency} />
      </span>
      <Recomputed isSame={isSame} />
    </p>
  </section>
)

/** The file as it came: read when it is asked for, saved, never shown as markup. */
const Download = ({ id }: { readonly id: string }) => (
  <p class="acts">
    <SaveButton
      title="Download the file as it came"
      load={async () => {
        const read = valueRead("external-statements.get", { externalStatementId: id })
        const { value } = await read.load(new AbortController().signal)
        const statement = value["statement"] as Row
        return {
          name: Statements.fileNameOf(statement),
          parts: [Statements.bytesOf(String(value["raw"]), String(statement["rawEncoding"]))]
        }
      }}
    />
  </p>
)

const lineColumns: Readonly<Record<string, ReadonlyArray<Column>>> = {
  cash: [
    { name: "Line", isFigure: true, draw: ({ line }) => String(line) },
    { name: "Booked", draw: ({ bookingDate }) => <Text value={String(bookingDate)} /> },
    { name: "Value date", draw: ({ valueDate }) => <Value member="valueDate" value={valueDate} /> },
    {
      name: "Direction",
      draw: ({ direction }) => (
        <span class="whole">{Statements.directionWords(String(direction))}</span>
      )
    },
    {
      name: "Amount",
      isFigure: true,
      draw: ({ amount, currency }) => <Amount value={amount} unit={String(currency)} />
    },
    { name: "Pays orders", draw: ({ match }) => <State value={String(match)} /> },
    {
      name: "Left",
      isFigure: true,
      draw: (row) => <Amount value={Statements.leftOf(row)} unit={String(row["currency"])} />
    },
    {
      name: "Counterparty",
      draw: ({ counterparty }) => <CounterpartyText counterparty={counterparty as Row | null} />
    },
    { name: "Reference", draw: ({ reference }) => <Value member="text" value={reference} /> },
    {
      name: "Bank reference",
      draw: ({ bankReference }) => <Value member="text" value={bankReference} />
    },
    { name: "Same entry", draw: (row) => <SameEntry line={row} /> }
  ],
  holdings: [
    { name: "Line", isFigure: true, draw: ({ line }) => String(line) },
    { name: "Account", draw: ({ account }) => <Text value={String(account)} /> },
    memberColumn("holderId"),
    { name: "Units", isFigure: true, draw: ({ quantity }) => <Amount value={quantity} /> },
    { name: "Locked", isFigure: true, draw: ({ locked }) => <Amount value={locked} /> }
  ],
  custody: [
    { name: "Line", isFigure: true, draw: ({ line }) => String(line) },
    { name: "Asset", draw: ({ asset }) => <Text value={String(asset)} /> },
    { name: "Account", draw: ({ account }) => <Text value={String(account)} /> },
    { name: "Units", isFigure: true, draw: ({ quantity }) => <Amount value={quantity} /> }
  ]
}

const CounterpartyText = ({ counterparty }: { readonly counterparty: Row | null }) =>
  counterparty === null ? (
    <span class="none">not named</span>
  ) : (
    <>
      <Value member="text" value={counterparty["name"]} />
      {counterparty["account"] === null ? null : (
        <p class="fine">
          <bdi>{String(counterparty["account"])}</bdi>
        </p>
      )}
    </>
  )

/** The other line of one booked entry, and the line that took it back. */
const SameEntry = ({ line: { reversedBy, sameAs } }: { readonly line: Row }) => {
  const place = (value: unknown, text: string) => {
    if (value === null || value === undefined) return null
    const { externalStatementId, line } = value as Row
    return (
      <p class="fine">
        {text} <Value member="externalStatementId" value={externalStatementId} /> line{" "}
        {String(line)}
      </p>
    )
  }
  return (
    <>
      {place(sameAs, "a copy of")}
      {place(reversedBy, "taken back by")}
      {sameAs === null && reversedBy === null ? <span class="none">none</span> : null}
    </>
  )
}

const Lines = ({ id, kind }: { readonly id: string; readonly kind: string }) => {
  const { url } = useLocation()
  const read = "external-statements.lines"
  const columns = lineColumns[kind]
  // A NAV has no lines.
  if (columns === undefined) return null
  return (
    <>
      {kind === "cash" ? <Filters read={read} /> : null}
      <ListTable
        caption="Lines"
        read={read}
        where={{ externalStatementId: id, ...(kind === "cash" ? whereOf(read, url) : {}) }}
        columns={columns}
        empty="A statement has a line for each entry or position that it states. None fits the filter."
      />
    </>
  )
}

const RestatementView = ({ id }: { readonly id: string }) => {
  const state = useRead(valueRead("external-statements.restatement", { externalStatementId: id }))
  return (
    <section class="list">
      <h2>What the correction changes</h2>
      <Loaded state={state}>{({ value }) => <Restated restatement={value} />}</Loaded>
    </section>
  )
}

const Restated = ({ restatement }: { readonly restatement: Row }) => {
  const { from, move, over, to, tolerance } = restatement
  return (
    <>
      <Terms>
        <Term name="From">
          <Amount value={from} />
        </Term>
        <Term name="To">
          <Amount value={to} />
        </Term>
        <Term name="Move">
          <Amount value={move} />{" "}
          <span class={over === true ? "state bad" : "state good"}>
            {over === true ? "! over the tolerance" : "✓ within the tolerance"}
          </span>
        </Term>
        <Term name="Tolerance">
          <Amount value={tolerance} />
        </Term>
      </Terms>
      <Rows
        caption="Orders and lines at the corrected value"
        order="owed: what the holder should have, less what it has"
        cells={[
          {
            name: "Record",
            draw: (row) => (
              <ResourceLink kind={String(row["resourceKind"])} id={String(row["id"])} />
            )
          },
          { name: "Holder", draw: ({ holderId }) => <Value member="holderId" value={holderId} /> },
          { name: "Figure", draw: ({ field }) => label(String(field)) },
          {
            name: "Was",
            isFigure: true,
            draw: ({ unit, was }) => <Amount value={was} unit={String(unit)} />
          },
          {
            name: "Should be",
            isFigure: true,
            draw: (row) => <Amount value={row["should"]} unit={String(row["unit"])} />
          },
          {
            name: "Owed",
            isFigure: true,
            draw: ({ owed, unit }) => <Amount value={owed} unit={String(unit)} />
          }
        ]}
        rows={restatement["rows"] as ReadonlyArray<Row>}
        empty="No order was dealt and no line was computed at the value that was corrected."
      />
      {(restatement["totals"] as ReadonlyArray<Row>).length === 0 ? null : (
        <Rows
          caption="Owed in all"
          cells={[
            { name: "Unit", draw: ({ unit }) => <Text value={String(unit)} /> },
            { name: "Owed", isFigure: true, draw: ({ owed }) => <Amount value={owed} /> }
          ]}
          rows={restatement["totals"] as ReadonlyArray<Row>}
          empty=""
        />
      )}
    </>
  )
}

const accountColumns: ReadonlyArray<Column> = [
  { name: "Account", draw: ({ masked }) => <Text value={String(masked)} /> },
  { name: "Id", draw: ({ externalAccountId }) => <IdLink id={String(externalAccountId)} /> },
  { name: "Kind", draw: ({ kind }) => word(String(kind)) },
  { name: "Currency", draw: ({ currency }) => <Value member="text" value={currency} /> },
  {
    name: "Of",
    draw: ({ holderId, instrumentId }) =>
      holderId === null ? (
        <>
          instrument <Value member="instrumentId" value={instrumentId} />
        </>
      ) : (
        <>
          holder <Value member="holderId" value={holderId} />
        </>
      )
  },
  {
    name: "Segregated",
    draw: ({ segregated }) => (segregated === true ? "yes, for suspended payments" : "no")
  },
  { name: "Mapped by", draw: ({ mappedBy }) => <Text value={String(mappedBy)} /> },
  { name: "Mapped", draw: ({ createdAt }) => <InstantText at={String(createdAt)} near /> }
]

export const AccountsPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Accounts" />
      <Acts kinds={["external-account.map"]} fixed={{}} />
      <Filters read="external-accounts.list" />
      <ListTable
        caption="Accounts outside the venue"
        read="external-accounts.list"
        where={whereOf("external-accounts.list", url)}
        columns={accountColumns}
        empty="An account ties bank lines to an instrument or a holder. None fits the filter."
      />
    </>
  )
}
