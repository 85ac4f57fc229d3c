/** A table of rows that a record has in it, by the same columns as a list. */
import { Rows } from "../kit/Sheet.tsx"
import type { Row } from "../reads/Lists.ts"
import type { ColumnRow } from "./Columns.ts"
import { columnsOf } from "./Columns.tsx"

export const RowsOf = ({
  caption,
  columns,
  empty,
  order,
  rows
}: {
  readonly caption: string
  readonly order?: string
  readonly columns: ReadonlyArray<ColumnRow>
  readonly rows: unknown
  readonly empty: string
}) => (
  <Rows<Row>
    caption={caption}
    {...(order === undefined ? {} : { order })}
    cells={columnsOf(columns).map(({ draw, isFigure = false, name }) => ({ name, isFigure, draw }))}
    rows={Array.isArray(rows) ? (rows as ReadonlyArray<Row>) : []}
    empty={empty}
  />
)
