/** Page of the orders that wait for something: how many in each state, and whose move each is. */
import { useLocation } from "preact-iso"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { ListTable, memberColumn } from "../kit/Table.tsx"
import { IdLink, State } from "../kit/Values.tsx"
import { present } from "../kit/Zone.ts"
import type { ListPage } from "../reads/Lists.ts"
import { Title } from "../shell/Title.tsx"
import { isPast } from "../words/Instants.ts"
import { counted, overdueCount, pageOf } from "./Order.ts"

const columns = [
  {
    name: "Order",
    draw: (row: ListPage["value"][number]) => (
      <IdLink id={String(row["orderId"])} href={pageOf(row)} />
    )
  },
  ...[
    "kind",
    "state",
    "instrumentId",
    "holderId",
    "quantity",
    "cash",
    "currency",
    "cycleId",
    "waitingOn"
  ].map(memberColumn)
]

const over = ({ next, value }: ListPage) => {
  if (value.length === 0) return null
  const overdue = overdueCount(value, (at) => isPast(at, present.value))
  return (
    <p class="tally" role="status">
      {overdue > 0 ? <b class="overdue">{overdue} overdue</b> : null}
      {counted(value).map(([state, count]) => (
        <span key={state}>
          <State value={state} /> <b class="figure">{count}</b>
        </span>
      ))}
      <span class="fine">{next === null ? "all of this filter" : "of this page; more follow"}</span>
    </p>
  )
}

export const OpenOrdersPage = () => {
  const { url } = useLocation()
  return (
    <>
      <Title text="Open orders" />
      <Filters read="open-orders.list" />
      <ListTable
        caption="Open orders"
        read="open-orders.list"
        where={whereOf("open-orders.list", url)}
        columns={columns}
        empty="No order of this filter waits for anything: each is settled, withdrawn or released."
        over={over}
      />
    </>
  )
}
