/** Pages of the subscriptions and of the redemptions: their list, its filters, and the claim of a new one. */
import { useLocation } from "preact-iso"
import { Acts } from "../kit/Acts.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { idColumn, ListTable } from "../kit/Table.tsx"
import { columnsOf } from "../record/Columns.tsx"
import { Title } from "../shell/Title.tsx"
import { label } from "../words/Words.ts"
import { orderColumns, type OrderKind } from "./Order.ts"

const kinds = {
  subscription: {
    title: "Subscriptions",
    path: "subscriptions",
    read: "subscriptions.list",
    id: "subscriptionId",
    claim: "subscription.claim",
    empty: "A subscription is an order of a holder for units. None fits the filter."
  },
  redemption: {
    title: "Redemptions",
    path: "redemptions",
    read: "redemptions.list",
    id: "redemptionId",
    claim: "redemption.claim",
    empty: "A redemption is an order of a holder to give units back. None fits the filter."
  }
} as const

export const OrdersPage = ({ kind }: { readonly kind: OrderKind }) => {
  const { url } = useLocation()
  const { claim, empty, id, path, read, title } = kinds[kind]
  return (
    <>
      <Title text={title} />
      <Acts kinds={[claim]} fixed={{}} />
      <Filters read={read} />
      <ListTable
        caption={title}
        read={read}
        where={whereOf(read, url)}
        columns={[
          idColumn({ id, page: path, title: label(kind) }),
          ...columnsOf(orderColumns[kind])
        ]}
        empty={empty}
      />
    </>
  )
}
