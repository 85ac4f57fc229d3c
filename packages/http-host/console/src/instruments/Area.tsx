/** Pages of the instruments: their list, and one instrument by its tabs. */
import { useLocation } from "preact-iso"
import { Acts } from "../kit/Acts.tsx"
import { Loaded, Tabs, useTab } from "../kit/Sheet.tsx"
import { idColumn, ListTable } from "../kit/Table.tsx"
import { useRead } from "../reads/Cache.ts"
import { type Row, valueRead } from "../reads/Lists.ts"
import { columnsOf } from "../record/Columns.tsx"
import { Head, mayI } from "../record/Page.tsx"
import { tabsOf } from "../record/Tabs.ts"
import { Title } from "../shell/Title.tsx"
import { instrumentColumns, instrumentTabs } from "./Instrument.ts"
import {
  DistributionsTab,
  FindingsTab,
  HoldsTab,
  MarketTab,
  MovementsTab,
  OrdersTab,
  PricesTab,
  ReserveTab
} from "./Lists.tsx"
import { OverviewTab } from "./OverviewTab.tsx"
import { PolicyTab } from "./PolicyTab.tsx"
import { RegisterTab } from "./RegisterTab.tsx"

export const InstrumentsPage = () => (
  <>
    <Title text="Instruments" />
    <Acts kinds={["instrument.record"]} fixed={{}} />
    <ListTable
      caption="Instruments"
      read="instruments.list"
      where={{}}
      columns={[
        idColumn({ id: "instrumentId", page: "instruments", title: "Instrument" }),
        {
          name: "State",
          draw: ({ paused }) =>
            paused === null ? (
              <span class="state good">✓ open</span>
            ) : (
              <span class="state waits">○ paused</span>
            )
        },
        ...columnsOf(instrumentColumns)
      ]}
      empty="No instrument is recorded yet. Recording one is an act of an operator and an approver."
    />
  </>
)

export const InstrumentPage = ({ id }: { readonly id: string }) => {
  const state = useRead(valueRead("instruments.get", { instrumentId: id }))
  return (
    <>
      <Title text={`Instrument ${id}`} />
      <Loaded state={state}>{({ value }) => <InstrumentView id={id} instrument={value} />}</Loaded>
    </>
  )
}

const InstrumentView = ({ id, instrument }: { readonly id: string; readonly instrument: Row }) => {
  const offered = tabsOf(instrumentTabs, mayI)
  const tab = useTab(offered.map(({ name }) => name))
  const { legalName, paused } = instrument
  return (
    <article class="record">
      <Head id={id} states={paused === null ? [] : ["paused"]}>
        {typeof legalName === "string" ? (
          <span class="context">
            <bdi>{legalName}</bdi>
          </span>
        ) : null}
      </Head>
      <Tabs
        label="Parts of the instrument"
        tabs={offered.map(({ name, title }) => [name, title])}
      />
      <Tab id={id} instrument={instrument} tab={tab} />
    </article>
  )
}

export interface TabProps {
  readonly id: string
  readonly instrument: Row
}

const Tab = ({ tab, ...props }: TabProps & { readonly tab: string }) => {
  const { url } = useLocation()
  switch (tab) {
    case "policy":
      return <PolicyTab {...props} />
    case "prices":
      return <PricesTab {...props} />
    case "register":
      return <RegisterTab {...props} />
    case "movements":
      return <MovementsTab id={props.id} url={url} />
    case "market":
      return <MarketTab {...props} />
    case "orders":
      return <OrdersTab {...props} />
    case "holds":
      return <HoldsTab {...props} />
    case "distributions":
      return <DistributionsTab {...props} />
    case "reconciliation":
      return <FindingsTab {...props} />
    case "reserve":
      return <ReserveTab {...props} />
    default:
      return <OverviewTab {...props} />
  }
}
