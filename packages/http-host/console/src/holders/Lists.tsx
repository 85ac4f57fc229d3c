/** Tabs of a holder that are lists of its records. */
import { useLocation } from "preact-iso"
import { Acts } from "../kit/Acts.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { Loaded } from "../kit/Sheet.tsx"
import { idColumn, ListTable } from "../kit/Table.tsx"
import { useRead } from "../reads/Cache.ts"
import { type Row, valueRead } from "../reads/Lists.ts"
import { columnsOf } from "../record/Columns.tsx"
import { CsvButton } from "../record/Csv.tsx"
import { mayI } from "../record/Page.tsx"
import { RowsOf } from "../record/RowsOf.tsx"
import {
  admissionColumns,
  holderDistributionColumns,
  holderMovementColumns,
  mayWithdraw,
  portfolioColumns
} from "./Holder.ts"

interface TabProps {
  readonly id: string
  readonly holder: Row
}

export const PortfolioTab = ({ id }: TabProps) => {
  const state = useRead({ ...valueRead("holders.portfolio", { holderId: id }), kinds: ["*"] })
  return (
    <Loaded state={state}>
      {({ value }) => (
        <RowsOf
          caption="Portfolio"
          order="at the last price of each instrument; currencies are not summed"
          columns={portfolioColumns(mayI("restrictions.list"))}
          rows={value}
          empty="It holds no unit."
        />
      )}
    </Loaded>
  )
}

export const AdmissionsTab = ({ id }: TabProps) => (
  <>
    <Acts kinds={["admission.offer"]} fixed={{ holderId: id }} />
    <ListTable
      caption="Admissions"
      read="holders.admissions"
      where={{ holderId: id }}
      columns={[
        ...columnsOf(admissionColumns),
        {
          name: "Act",
          draw: ({ instrumentId, state }) =>
            mayWithdraw(state) ? (
              <Acts kinds={["admission.withdraw"]} fixed={{ holderId: id, instrumentId }} />
            ) : null
        }
      ]}
      empty="No admission was offered: without one it can hold no unit."
    />
  </>
)

export const OrdersTab = ({ id }: TabProps) => (
  <ListTable
    caption="Open orders"
    read="open-orders.list"
    where={{ holderId: id }}
    columns={columnsOf([
      { member: "kind", as: "words" },
      { member: "orderId" },
      { member: "state", as: "state" },
      { member: "instrumentId", title: "Instrument" },
      { member: "quantity", as: "figure" },
      { member: "cash", as: "figure", unitOf: "currency" },
      { member: "waitingOn", as: "moves" }
    ])}
    empty="No order of this holder waits for anything."
  />
)

export const MovementsTab = ({ id }: TabProps) => {
  const { url } = useLocation()
  const { instrumentId, kind } = whereOf("holders.movements", url)
  return (
    <>
      <div class="acts">
        <CsvButton read="holders.movements" params={{ holderId: id }} file={`movements-${id}`} />
      </div>
      <Filters read="holders.movements" hidden={["from", "to"]} />
      <ListTable
        caption="Movements"
        read="holders.movements"
        where={{
          holderId: id,
          ...(kind === undefined ? {} : { kind }),
          ...(instrumentId === undefined ? {} : { instrumentId })
        }}
        columns={columnsOf(holderMovementColumns)}
        empty="No unit of this filter has moved."
      />
    </>
  )
}

export const RestrictionsTab = ({ id }: TabProps) => (
  <>
    <Acts kinds={["holder.restrict"]} fixed={{ holderId: id }} />
    <ListTable
      caption="Restrictions"
      read="restrictions.list"
      where={{ holderId: id }}
      columns={[
        idColumn({ id: "restrictionId", page: "restrictions", title: "Restriction" }),
        ...columnsOf([
          { member: "state", as: "state" },
          { member: "mode", as: "words" },
          { member: "instrumentId", title: "Instrument" },
          { member: "reason", as: "words" },
          { member: "from", as: "near" },
          { member: "autoReleaseAt", title: "Ends by itself", as: "near" }
        ])
      ]}
      empty="It is restricted by nothing."
    />
  </>
)

export const AccountsTab = ({ id }: TabProps) => (
  <ListTable
    caption="Accounts outside"
    read="external-accounts.list"
    where={{ holderId: id }}
    columns={columnsOf([
      { member: "externalAccountId", title: "Account" },
      { member: "masked", title: "Masked" },
      { member: "kind", as: "words" },
      { member: "currency" },
      { member: "segregated" },
      { member: "mappedBy" }
    ])}
    empty="No account of this holder is mapped."
  />
)

export const DistributionsTab = ({ id }: TabProps) => (
  <ListTable
    caption="Distributions in which it has a line"
    read="distributions.list"
    where={{ holderId: id }}
    columns={[
      idColumn({ id: "distributionId", page: "distributions", title: "Distribution" }),
      ...columnsOf(holderDistributionColumns)
    ]}
    empty="No distribution has a line of this holder."
  />
)
