/** Pages of reserves: list, one reserve in tabs, its amendments, locks, mints, redemptions and reports. */
import { useLocation } from "preact-iso"
import { Acts } from "../kit/Acts.tsx"
import { basisOf, type BasisRecord, BasisView } from "../kit/Basis.tsx"
import { type Change, ChangeList } from "../kit/ChangeList.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { Amount, Lead, Loaded, Move, Recomputed, Rows, Tabs, useTab } from "../kit/Sheet.tsx"
import { type Column, idColumn, ListTable, memberColumn } from "../kit/Table.tsx"
import {
  Deadline,
  IdLink,
  InstantText,
  PartyText,
  State,
  Term,
  Terms,
  Text,
  Value
} from "../kit/Values.tsx"
import { Waiting } from "../kit/Waiting.tsx"
import { useRead } from "../reads/Cache.ts"
import { type Row, valueRead } from "../reads/Lists.ts"
import { actsOf, reserveOrdersOf } from "../record/StateActs.ts"
import { parametersOf, sameWith } from "../shell/Links.ts"
import { Title } from "../shell/Title.tsx"
import { label, word } from "../words/Words.ts"
import * as Reserves from "./Reserves.ts"

interface IdProps {
  readonly id: string
}
interface InnerProps extends IdProps {
  readonly inner: string
}

const pathOf = (reserveId: string, rest = ""): string =>
  `reserves/${encodeURIComponent(reserveId)}${rest}`

const AssetName = ({ asset }: { readonly asset: unknown }) => {
  const { admin, id } = asset as Row
  return (
    <span class="asset">
      <Text value={String(id)} /> <PartyText value={String(admin)} />
    </span>
  )
}

const Cover = ({ cover }: { readonly cover: unknown }) => {
  const { ratio, state } = cover as Row
  return (
    <>
      <State value={String(state)} />{" "}
      {ratio === null || ratio === undefined ? (
        <span class="fine">nothing outstanding</span>
      ) : (
        <Amount value={ratio} />
      )}
    </>
  )
}

const listColumns: ReadonlyArray<Column> = [
  idColumn({ id: "reserveId", page: "reserves", title: "Reserve" }),
  memberColumn("instrumentId"),
  memberColumn("state"),
  { name: "Cover", draw: ({ cover }) => <Cover cover={cover} /> },
  {
    name: "Required",
    isFigure: true,
    draw: ({ required, unit }) => <Amount value={required} unit={String(unit)} />
  },
  {
    name: "Counted",
    isFigure: true,
    draw: ({ counted, unit }) => <Amount value={counted} unit={String(unit)} />
  },
  { name: "Mintable", isFigure: true, draw: ({ mintable }) => <Amount value={mintable} /> },
  { name: "Open orders", isFigure: true, draw: ({ openOrders }) => <Amount value={openOrders} /> },
  {
    name: "Live amendment",
    draw: ({ liveAmendment, reserveId }) =>
      typeof liveAmendment === "string" ? (
        <IdLink
          id={liveAmendment}
          href={pathOf(String(reserveId), `/amendments/${encodeURIComponent(liveAmendment)}`)}
        />
      ) : (
        <span class="none">none</span>
      )
  },
  { name: "Whose move", draw: ({ waitingOn }) => <Waiting moves={waitingOn} /> }
]

export const ReservesPage = () => {
  const { url } = useLocation()
  const read = "reserves.list"
  return (
    <>
      <Title text="Reserves" />
      <Acts kinds={["reserve.propose"]} fixed={{}} />
      <Filters read={read} />
      <ListTable
        caption="Reserves"
        read={read}
        where={whereOf(read, url)}
        columns={listColumns}
        empty="A reserve holds the assets that cover an instrument. None fits the filter."
      />
    </>
  )
}

const tabs = [
  ["cover", "Cover"],
  ["terms", "Terms"],
  ["locks", "Lock agreements"],
  ["orders", "Mints and redemptions"],
  ["reports", "Reports"]
] as const

export const ReservePage = ({ id }: IdProps) => {
  const { url } = useLocation()
  const supposed = parametersOf(url).get("price")
  const state = useRead(valueRead("reserves.get", { reserveId: id }))
  return (
    <>
      <Title text={`Reserve ${id}`} />
      <Loaded state={state}>
        {({ value }) => <ReserveView id={id} reserve={value} supposed={supposed} />}
      </Loaded>
    </>
  )
}

const ReserveView = ({
  id,
  reserve,
  supposed
}: {
  readonly id: string
  readonly reserve: Row
  readonly supposed: string | null
}) => {
  const tab = useTab(tabs.map(([name]) => name))
  return (
    <article class="record">
      <Lead id={id} states={[reserve["state"]]}>
        <span>
          of <Value member="instrumentId" value={reserve["instrumentId"]} />
        </span>
        {reserve["closing"] === true ? <span class="state waits">○ closing</span> : null}
      </Lead>
      <Move moves={reserve["waitingOn"]} />
      <Tabs label="Parts of the reserve" tabs={tabs} />
      {tab === "cover" ? <CoverTab id={id} reserve={reserve} supposed={supposed} /> : null}
      {tab === "terms" ? <TermsTab id={id} reserve={reserve} /> : null}
      {tab === "locks" ? <LocksTab id={id} /> : null}
      {tab === "orders" ? <OrdersTab id={id} reserve={reserve} /> : null}
      {tab === "reports" ? <ReportsTab id={id} /> : null}
    </article>
  )
}

const CoverTab = ({
  id,
  reserve,
  supposed
}: {
  readonly id: string
  readonly reserve: Row
  readonly supposed: string | null
}) => {
  const { route, url } = useLocation()
  return (
    <>
      <Acts
        kinds={["reserve-report.create", ...actsOf("reserve", String(reserve["state"]))]}
        fixed={{ reserveId: id }}
      />
      <CoverView reserve={reserve} />
      <form class="filters" aria-label="What if" onSubmit={(event) => event.preventDefault()}>
        <label class="field">
          <span>Suppose the price of the assets</span>
          <input
            type="text"
            inputMode="decimal"
            value={supposed ?? ""}
            onChange={({ currentTarget }) =>
              route(sameWith(url, { price: currentTarget.value.trim() || null }))
            }
          />
        </label>
      </form>
      {supposed === null ? null : <Supposed id={id} price={supposed} />}
    </>
  )
}

/** The reserve at another price, marked as supposed. */
const Supposed = ({ id, price }: { readonly id: string; readonly price: string }) => {
  const state = useRead(valueRead("reserves.get", { reserveId: id, price }))
  return (
    <section class="supposed">
      <h2>Supposed at a price of {price}; nothing is written</h2>
      <Loaded state={state}>{({ value }) => <CoverView reserve={value} />}</Loaded>
    </section>
  )
}

const CoverView = ({ reserve }: { readonly reserve: Row }) => {
  const { basis, cover, unit } = reserve
  const { state } = cover as Row
  const currency = String(unit)
  const counted = Reserves.countedOf(reserve)
  const figure = (member: string, name: string, figureUnit?: string) => {
    const found = basisOf(basis, member)
    return (
      <Term name={name}>
        <Amount value={reserve[member]} unit={figureUnit} />
        {found === undefined ? null : <BasisView basis={found} />}
      </Term>
    )
  }
  const ratioBasis = basisOf(basis, "cover.ratio") ?? basisOf(basis, "cover")
  return (
    <>
      <section class={state === "low" ? "alarm" : undefined}>
        <h2>Cover</h2>
        <p>
          <Cover cover={cover} />
        </p>
        <p class="sentence">{Reserves.coverSentence(state)}</p>
        {ratioBasis === undefined ? null : <BasisView basis={ratioBasis} />}
        <Terms>
          {figure("required", "Required", currency)}
          {figure("counted", "Counted", currency)}
          {figure("outstanding", "Outstanding, by the ledger's reserve", "units")}
          {figure("supply", "Supply, by the register", "units")}
          {figure("sharePrice", "Share price", currency)}
          {figure("mintable", "Mintable", "units")}
          <Term name="Last reported">
            <Value member="reportedAt" value={reserve["reportedAt"]} />
          </Term>
        </Terms>
      </section>
      <Rows
        caption="Assets"
        order="those of the terms in force first"
        cells={[
          { name: "Asset", draw: ({ asset }) => <AssetName asset={asset} /> },
          {
            name: "Locked",
            isFigure: true,
            draw: ({ locked }) => <Amount value={locked?.["units"]} />
          },
          {
            name: "Price",
            isFigure: true,
            draw: ({ locked }) => (
              <>
                <Amount value={locked?.["price"]} />
                {typeof locked?.["pricedAt"] === "string" ? (
                  <p class="fine">
                    <InstantText at={locked["pricedAt"]} near />
                  </p>
                ) : null}
              </>
            )
          },
          {
            name: "Fresh",
            draw: ({ locked }) =>
              locked === null ? (
                <span class="none">not locked</span>
              ) : locked["fresh"] === true ? (
                <span class="state good">✓ fresh</span>
              ) : (
                <span class="state bad">! too old or missing</span>
              )
          },
          {
            name: "Haircut",
            isFigure: true,
            draw: ({ term }) =>
              term === null ? (
                <span class="none">not counted</span>
              ) : (
                <Amount value={term["haircut"]} />
              )
          },
          {
            name: "Value",
            isFigure: true,
            draw: ({ locked }) => <Amount value={locked?.["value"]} unit={currency} />
          },
          { name: "Cap", isFigure: true, draw: ({ locked }) => <Amount value={locked?.["cap"]} /> },
          {
            name: "Counted",
            isFigure: true,
            draw: ({ locked }) => <Amount value={locked?.["counted"]} unit={currency} />
          }
        ]}
        rows={Reserves.assetRows(reserve)}
        empty="The terms name no asset, and none is locked."
      />
      {counted === null ? null : (
        <p>
          Counted in all <Amount value={counted.counted} unit={currency} />{" "}
          <Recomputed isSame={counted.isSame} />
        </p>
      )}
    </>
  )
}

const ReserveTerms = ({ caption, terms }: { readonly caption: string; readonly terms: Row }) => (
  <>
    <Rows
      caption={caption}
      order={`minimum cover ${String(terms["minCover"])}`}
      cells={[
        { name: "Asset", draw: ({ asset }) => <AssetName asset={asset} /> },
        {
          name: "Price source",
          draw: ({ priceSource }) => <Value member="party" value={priceSource} />
        },
        { name: "Fresh for", draw: ({ freshness }) => <Value member="text" value={freshness} /> },
        { name: "Haircut", isFigure: true, draw: ({ haircut }) => <Amount value={haircut} /> },
        {
          name: "Largest share",
          isFigure: true,
          draw: ({ maxShare }) => <Amount value={maxShare} />
        }
      ]}
      rows={(terms["assets"] ?? []) as ReadonlyArray<Row>}
      empty="The terms name no asset."
    />
  </>
)

const TermsTab = ({ id, reserve }: { readonly id: string; readonly reserve: Row }) => {
  const pending = Reserves.pendingOf(reserve)
  return (
    <>
      <Acts kinds={["amendment.propose"]} fixed={{ reserveId: id }} />
      <p class="sentence">
        Terms that tighten hold once they are accepted; terms that loosen hold{" "}
        {String(reserve["loosenDelay"])} later.
      </p>
      <ReserveTerms caption="Terms in force" terms={reserve["termsInForce"] as Row} />
      {pending === null ? null : (
        <>
          <p class="notice">
            Other terms hold{" "}
            {pending.effectiveAt === null ? (
              "later"
            ) : (
              <>
                from <InstantText at={pending.effectiveAt} near />
              </>
            )}
            .
          </p>
          <ReserveTerms caption="Terms to come" terms={pending.terms} />
        </>
      )}
      <ListTable
        caption="Amendments"
        read="reserves.amendments"
        where={{ reserveId: id }}
        columns={[
          {
            name: "Amendment",
            draw: ({ amendmentId }) => (
              <IdLink
                id={String(amendmentId)}
                href={pathOf(id, `/amendments/${encodeURIComponent(String(amendmentId))}`)}
              />
            )
          },
          memberColumn("state"),
          { name: "Direction", draw: ({ loosens }) => <Direction loosens={loosens === true} /> },
          {
            name: "Changes",
            isFigure: true,
            draw: ({ change }) => (
              <Amount value={String((change as ReadonlyArray<unknown>).length)} />
            )
          },
          { name: "Accepted", draw: ({ acceptedAt }) => <Value member="at" value={acceptedAt} /> },
          {
            name: "Holds from",
            draw: ({ effectiveAt }) => <Value member="at" value={effectiveAt} />
          }
        ]}
        empty="The terms were never amended."
      />
    </>
  )
}

const Direction = ({ loosens }: { readonly loosens: boolean }) => (
  <span class={loosens ? "state waits" : "state good"}>{loosens ? "▽ loosens" : "▲ tightens"}</span>
)

export const AmendmentPage = ({ id, inner }: InnerProps) => {
  const state = useRead(valueRead("reserves.amendment", { reserveId: id, amendmentId: inner }))
  return (
    <>
      <Title text={`Amendment ${inner}`} />
      <Loaded state={state}>
        {({ value }) => (
          <article class="record">
            <Lead id={inner} states={[value["state"]]}>
              <Direction loosens={value["loosens"] === true} />
              <span>
                of reserve <IdLink id={id} href={pathOf(id, "?tab=terms")} />
              </span>
            </Lead>
            <Move moves={value["waitingOn"]} />
            <Acts
              kinds={actsOf("amendment", String(value["state"]))}
              fixed={{ reserveId: id, amendmentId: inner }}
            />
            <Terms>
              <Term name="Accepted">
                <Value member="at" value={value["acceptedAt"]} />
              </Term>
              <Term name="Holds from">
                <Value member="at" value={value["effectiveAt"]} />
              </Term>
            </Terms>
            <ChangeList changes={value["change"] as ReadonlyArray<Change>} />
            <ReserveTerms caption="Terms that it proposes" terms={value["terms"] as Row} />
          </article>
        )}
      </Loaded>
    </>
  )
}

const LocksTab = ({ id }: IdProps) => (
  <>
    <Acts kinds={["lock-agreement.propose"]} fixed={{ reserveId: id }} />
    <ListTable
      caption="Lock agreements"
      read="reserves.lock-agreements"
      where={{ reserveId: id }}
      columns={[
        {
          name: "Agreement",
          draw: ({ lockAgreementId }) => (
            <IdLink
              id={String(lockAgreementId)}
              href={pathOf(id, `/lock-agreements/${encodeURIComponent(String(lockAgreementId))}`)}
            />
          )
        },
        memberColumn("state"),
        { name: "Asset", draw: ({ asset }) => <AssetName asset={asset} /> },
        { name: "Locked", isFigure: true, draw: ({ amount }) => <Amount value={amount} /> },
        { name: "Asked", isFigure: true, draw: (row) => <Amount value={row["asked"]} /> },
        {
          name: "Accepted by",
          draw: ({ acceptedBy }) => <Value member="parties" value={acceptedBy} />
        },
        { name: "Whose move", draw: ({ waitingOn }) => <Waiting moves={waitingOn} /> }
      ]}
      empty="A lock agreement lets the reserve lock an asset. None was proposed."
    />
  </>
)

export const LockAgreementPage = ({ id, inner }: InnerProps) => {
  const state = useRead(
    valueRead("reserves.lock-agreement", { reserveId: id, lockAgreementId: inner })
  )
  return (
    <>
      <Title text={`Lock agreement ${inner}`} />
      <Loaded state={state}>
        {({ value }) => (
          <article class="record">
            <Lead id={inner} states={[value["state"]]}>
              <span>
                of reserve <IdLink id={id} href={pathOf(id, "?tab=locks")} />
              </span>
            </Lead>
            <Move moves={value["waitingOn"]} />
            <Acts
              kinds={actsOf("lock-agreement", String(value["state"]))}
              fixed={{ reserveId: id, lockAgreementId: inner }}
            />
            <Terms>
              <Term name="Asset">
                <AssetName asset={value["asset"]} />
              </Term>
              <Term name="Locked">
                <Amount value={value["amount"]} />
              </Term>
              <Term name="Asked">
                <Amount value={value["asked"]} />
              </Term>
              <Term name="Holder">
                <Value member="party" value={value["holder"]} />
              </Term>
              <Term name="Accepted by">
                <Value member="parties" value={value["acceptedBy"]} />
              </Term>
              <Term name="Lockers">
                <Value member="parties" value={value["lockers"]} />
              </Term>
              <Term name="Context">
                <Text value={String(value["context"])} />
              </Term>
            </Terms>
          </article>
        )}
      </Loaded>
    </>
  )
}

const orderColumns = (
  id: string,
  kind: "mint" | "reserve-redemption",
  cover: unknown
): ReadonlyArray<Column> => [
  {
    name: kind === "mint" ? "Mint" : "Redemption",
    draw: (row) => {
      const own = String(row[kind === "mint" ? "mintId" : "reserveRedemptionId"])
      const part = kind === "mint" ? "mints" : "redemptions"
      return <IdLink id={own} href={pathOf(id, `/${part}/${encodeURIComponent(own)}`)} />
    }
  },
  {
    name: "State",
    draw: (row) => (
      <>
        <State value={String(row["state"])} />
        <p class="fine">{Reserves.waitsBecause(row, { kind, cover })}</p>
      </>
    )
  },
  memberColumn("holderId"),
  { name: "Units", isFigure: true, draw: ({ units }) => <Amount value={units} /> },
  {
    name: kind === "mint" ? "Deposit" : "Payout",
    isFigure: true,
    draw: (row) => (
      <Amount
        value={row[kind === "mint" ? "deposit" : "payout"]}
        unit={String((row["asset"] as Row)["id"])}
      />
    )
  },
  { name: "Price", isFigure: true, draw: ({ price }) => <Amount value={price} /> },
  {
    name: "Cover before, after",
    isFigure: true,
    draw: ({ coverAfter, coverBefore }) => (
      <>
        <Amount value={coverBefore} /> → <Amount value={coverAfter} />
      </>
    )
  },
  {
    name: "Deadline",
    draw: ({ deadline, endedAs }) =>
      endedAs === null ? (
        <Deadline at={String(deadline)} />
      ) : (
        <InstantText at={String(deadline)} near />
      )
  }
]

const OrdersTab = ({ id, reserve }: { readonly id: string; readonly reserve: Row }) => (
  <>
    <Acts kinds={reserveOrdersOf(String(reserve["state"]))} fixed={{ reserveId: id }} />
    <ListTable
      caption="Mints"
      read="reserves.mints"
      prefix="mints-"
      where={{ reserveId: id }}
      columns={orderColumns(id, "mint", (reserve["cover"] as Row)["state"])}
      empty="A mint takes a deposit into the reserve and makes units. None was started."
    />
    <ListTable
      caption="Redemptions"
      read="reserves.redemptions"
      prefix="redemptions-"
      where={{ reserveId: id }}
      columns={orderColumns(id, "reserve-redemption", (reserve["cover"] as Row)["state"])}
      empty="A redemption burns units and pays out of the reserve. None was started."
    />
  </>
)

const OrderView = ({
  id,
  kind,
  order,
  own
}: {
  readonly id: string
  readonly own: string
  readonly kind: "mint" | "reserve-redemption"
  readonly order: Row
}) => {
  const bases = order["basis"] as ReadonlyArray<BasisRecord>
  const isOver = order["endedAs"] !== null
  const figures = ["deposit", "units", "payout", "price", "sharePrice", "coverBefore", "coverAfter"]
  return (
    <article class="record">
      <Lead id={own} states={[order["state"]]}>
        <span>
          of reserve <IdLink id={id} href={pathOf(id, "?tab=orders")} />
        </span>
        {order["lost"] === true ? (
          <span class="state bad">! lost: the ledger no longer has its contract</span>
        ) : null}
      </Lead>
      <Move moves={order["waitingOn"]} />
      {isOver ? null : (
        <section>
          <h2>If it is cancelled</h2>
          <p class="sentence">{Reserves.cancelSentence(kind)}</p>
          <Acts
            kinds={[`${kind}.cancel`]}
            fixed={{
              reserveId: id,
              [kind === "mint" ? "mintId" : "reserveRedemptionId"]: own
            }}
          />
        </section>
      )}
      <Rows
        caption="Figures"
        cells={[
          { name: "Figure", draw: (member) => label(member) },
          { name: "Amount", isFigure: true, draw: (member) => <Amount value={order[member]} /> },
          {
            name: "Computed",
            draw: (member) => {
              const basis = basisOf(bases, member)
              return basis === undefined ? null : <BasisView basis={basis} />
            }
          }
        ]}
        rows={figures.filter((member) => order[member] !== null && order[member] !== undefined)}
        empty=""
      />
      <Terms>
        <Term name="Holder">
          <Value member="holderId" value={order["holderId"]} />
        </Term>
        <Term name="Party">
          <Value member="party" value={order["party"]} />
        </Term>
        <Term name="Asset">
          <AssetName asset={order["asset"]} />
        </Term>
        <Term name="Deadline">
          {isOver ? (
            <InstantText at={String(order["deadline"])} />
          ) : (
            <Deadline at={String(order["deadline"])} />
          )}
        </Term>
        {typeof order["endedAs"] === "string" ? (
          <Term name="Ended as">{word(order["endedAs"])}</Term>
        ) : null}
        <Term name="Ledger update">
          <Value member="updateHash" value={order["updateId"]} />
        </Term>
      </Terms>
    </article>
  )
}

export const MintPage = ({ id, inner }: InnerProps) => {
  const state = useRead(valueRead("reserves.mint", { reserveId: id, mintId: inner }))
  return (
    <>
      <Title text={`Mint ${inner}`} />
      <Loaded state={state}>
        {({ value }) => <OrderView id={id} own={inner} kind="mint" order={value} />}
      </Loaded>
    </>
  )
}

export const RedemptionPage = ({ id, inner }: InnerProps) => {
  const state = useRead(
    valueRead("reserves.redemption", { reserveId: id, reserveRedemptionId: inner })
  )
  return (
    <>
      <Title text={`Redemption ${inner}`} />
      <Loaded state={state}>
        {({ value }) => <OrderView id={id} own={inner} kind="reserve-redemption" order={value} />}
      </Loaded>
    </>
  )
}

const ReportsTab = ({ id }: IdProps) => (
  <>
    <Acts kinds={["reserve-report.create"]} fixed={{ reserveId: id }} />
    <ListTable
      caption="Reports"
      read="reserves.reports"
      where={{ reserveId: id }}
      columns={[
        {
          name: "Report",
          draw: ({ reportId }) => (
            <IdLink
              id={String(reportId)}
              href={pathOf(id, `/reports/${encodeURIComponent(String(reportId))}`)}
            />
          )
        },
        { name: "Made", draw: ({ at }) => <InstantText at={String(at)} near /> },
        { name: "By", draw: ({ trigger }) => word(String(trigger)) },
        { name: "Cover", draw: ({ view }) => <Cover cover={(view as Row)["cover"]} /> },
        {
          name: "Counted",
          isFigure: true,
          draw: ({ view }) => <Amount value={(view as Row)["counted"]} />
        },
        {
          name: "Required",
          isFigure: true,
          draw: ({ view }) => <Amount value={(view as Row)["required"]} />
        },
        { name: "Ledger offset", isFigure: true, draw: ({ off }) => <Amount value={off} /> }
      ]}
      empty="The ledger reports a reserve when it is asked, and by the clock. No report was made."
    />
  </>
)

export const ReportPage = ({ id, inner }: InnerProps) => {
  const state = useRead(valueRead("reserves.report", { reserveId: id, reportId: inner }))
  return (
    <>
      <Title text={`Report ${inner}`} />
      <Loaded state={state}>
        {({ value }) => <ReportView id={id} own={inner} report={value} />}
      </Loaded>
    </>
  )
}

/** A report of the ledger beside the engine's figures at the report's own offset. */
const ReportView = ({
  id,
  own,
  report
}: {
  readonly id: string
  readonly own: string
  readonly report: Row
}) => {
  const view = report["view"] as Row
  const reserve = useRead(valueRead("reserves.get", { reserveId: id }))
  const bases = (report["basis"] ?? []) as ReadonlyArray<BasisRecord>
  return (
    <article class="record">
      <Lead id={own} states={[(view["cover"] as Row)["state"]]}>
        <span>
          of reserve <IdLink id={id} href={pathOf(id, "?tab=reports")} />
        </span>
      </Lead>
      <Terms>
        <Term name="Made">
          <InstantText at={String(report["at"])} />
        </Term>
        <Term name="By">{word(String(report["trigger"]))}</Term>
        <Term name="Ledger offset">
          <Amount value={report["off"]} />
        </Term>
      </Terms>
      <Rows
        caption="Figures"
        order="of the ledger's report, beside the reserve as the page reads it"
        cells={[
          { name: "Figure", draw: ({ name }) => label(name) },
          { name: "Reported", isFigure: true, draw: ({ reported }) => <Amount value={reported} /> },
          { name: "Now", isFigure: true, draw: ({ now }) => <Amount value={now} /> }
        ]}
        rows={Reserves.reportRows(report, reserve.value?.value ?? null)}
        empty=""
      />
      {bases.length === 0 ? null : (
        <section>
          <h2>How the engine computes it</h2>
          {bases.map((basis) => (
            <div key={basis.field}>
              {label(basis.field.replace(/^view\./u, ""))} <BasisView basis={basis} />
            </div>
          ))}
        </section>
      )}
    </article>
  )
}
