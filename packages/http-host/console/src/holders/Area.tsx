/** Pages of the holders: their list, and one holder by its tabs. */
import { useLocation } from "preact-iso"
import { Acts } from "../kit/Acts.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { Loaded, Tabs, useTab } from "../kit/Sheet.tsx"
import { idColumn, ListTable } from "../kit/Table.tsx"
import { useRead } from "../reads/Cache.ts"
import { type Row, valueRead } from "../reads/Lists.ts"
import { columnsOf } from "../record/Columns.tsx"
import { Head, mayI } from "../record/Page.tsx"
import { tabsOf } from "../record/Tabs.ts"
import { Title } from "../shell/Title.tsx"
import { holderColumns, holderTabs } from "./Holder.ts"
import {
  AccountsTab,
  AdmissionsTab,
  DistributionsTab,
  MovementsTab,
  OrdersTab,
  PortfolioTab,
  RestrictionsTab
} from "./Lists.tsx"
import { OverviewTab, PowersTab } from "./OverviewTab.tsx"
import { StatementsTab } from "./StatementsTab.tsx"
import { TaxTab } from "./TaxTab.tsx"

export const HoldersPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Holders" />
      <Acts kinds={["holder.onboard", "holder.register"]} fixed={{}} />
      <Filters read="holders.list" />
      <ListTable
        caption="Holders"
        read="holders.list"
        where={whereOf("holders.list", url)}
        columns={[
          idColumn({ id: "holderId", page: "holders", title: "Holder" }),
          ...columnsOf(holderColumns)
        ]}
        empty="No holder fits the filter. A holder is onboarded by one operation."
      />
    </>
  )
}

export const HolderPage = ({ id }: { readonly id: string }) => {
  const state = useRead(valueRead("holders.get", { holderId: id }))
  return (
    <>
      <Title text={`Holder ${id}`} />
      <Loaded state={state}>{({ value }) => <HolderView id={id} holder={value} />}</Loaded>
    </>
  )
}

export interface TabProps {
  readonly id: string
  readonly holder: Row
}

const HolderView = ({ holder, id }: TabProps) => {
  const offered = tabsOf(holderTabs, mayI)
  const tab = useTab(offered.map(({ name }) => name))
  const { legalName, state } = holder
  return (
    <article class="record">
      <Head id={id} states={[String(state)]}>
        {typeof legalName === "string" ? (
          <span class="context">
            <bdi>{legalName}</bdi>
          </span>
        ) : null}
      </Head>
      <Tabs label="Parts of the holder" tabs={offered.map(({ name, title }) => [name, title])} />
      <Tab id={id} holder={holder} tab={tab} />
    </article>
  )
}

const Tab = ({ tab, ...props }: TabProps & { readonly tab: string }) => {
  switch (tab) {
    case "portfolio":
      return <PortfolioTab {...props} />
    case "admissions":
      return <AdmissionsTab {...props} />
    case "orders":
      return <OrdersTab {...props} />
    case "movements":
      return <MovementsTab {...props} />
    case "statements":
      return <StatementsTab {...props} />
    case "tax":
      return <TaxTab {...props} />
    case "distributions":
      return <DistributionsTab {...props} />
    case "restrictions":
      return <RestrictionsTab {...props} />
    case "powers":
      return <PowersTab {...props} />
    case "accounts":
      return <AccountsTab {...props} />
    default:
      return <OverviewTab {...props} />
  }
}
