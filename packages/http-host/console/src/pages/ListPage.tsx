/** Page of a list of the table: filters, rows, and what makes a new record. */
import { useLocation } from "preact-iso"
import { Acts } from "../kit/Acts.tsx"
import { Filters, whereOf } from "../kit/Filters.tsx"
import { idColumn, ListTable, memberColumn } from "../kit/Table.tsx"
import { Title } from "../shell/Title.tsx"
import { label } from "../words/Words.ts"
import { type ListRow, records } from "./Pages.ts"

export const ListPage = ({ row }: { readonly row: ListRow }) => {
  const { url } = useLocation()
  const page = records.some(({ path }) => path === row.path) ? row.path : undefined
  const columns = row.columns.filter((member) => member !== row.id).map(memberColumn)
  const first =
    row.columns.includes(row.id) && page === undefined
      ? [memberColumn(row.id)]
      : [idColumn({ id: row.id, page, title: label(row.id) })]
  return (
    <>
      <Title text={row.title} />
      <Acts kinds={row.makes ?? []} fixed={{}} />
      <Filters read={row.read} />
      <ListTable
        caption={row.title}
        read={row.read}
        where={whereOf(row.read, url)}
        columns={[...first, ...columns]}
        empty={row.empty}
      />
    </>
  )
}
