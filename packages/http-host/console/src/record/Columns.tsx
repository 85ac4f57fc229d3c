/** Columns of tables, drawn. */
import { type Column, memberColumn } from "../kit/Table.tsx"
import { Deadline, Figure, InstantText, pageOfId, State, Text, Value } from "../kit/Values.tsx"
import { Waiting } from "../kit/Waiting.tsx"
import type { Row } from "../reads/Lists.ts"
import { isDecimal } from "../words/Figures.ts"
import { pageOfResource } from "../words/Resources.ts"
import { label, word } from "../words/Words.ts"
import type { ColumnRow } from "./Columns.ts"
import { RecordLink } from "./RecordLink.tsx"

const none = <span class="none">none</span>

/** Name of a record by kind and id, as a link where it has a page. */
export const ResourceLink = ({ value }: { readonly value: unknown }) => {
  if (value === null || value === undefined) return none
  const { id, kind, resourceKind } = value as Readonly<Record<string, string>>
  const named = resourceKind ?? kind ?? ""
  return (
    <span class="resource">
      <span class="fine">{word(named)} </span>
      <RecordLink id={id ?? ""} href={pageOfResource(named, id ?? "")} />
    </span>
  )
}

const draw = ({ as = "value", member, unit, unitOf }: ColumnRow, row: Row) => {
  const value = row[member]
  if (as === "moves") return <Waiting moves={value} />
  if (value === null || value === undefined) {
    return as === "deadline" ? <span class="none">no deadline</span> : none
  }
  if (as === "reference") return <ResourceLink value={value} />
  if (typeof value !== "string") return <Value member={member} value={value} />
  if (as === "figure" && isDecimal(value)) {
    const beside = unit ?? (unitOf === undefined ? undefined : row[unitOf])
    return <Figure value={value} unit={typeof beside === "string" ? beside : undefined} />
  }
  if (as === "words") return <Text value={word(value)} />
  if (as === "state") return <State value={value} />
  if (as === "near") return <InstantText at={value} near />
  if (as === "deadline") return <Deadline at={value} />
  const page = pageOfId(member, value)
  return page === null ? (
    <Value member={member} value={value} />
  ) : (
    <RecordLink id={value} href={page} />
  )
}

/** Columns of a table, in the order of their rows. */
export const columnsOf = (rows: ReadonlyArray<ColumnRow>): ReadonlyArray<Column> =>
  rows.map((column) => ({
    ...memberColumn(column.member),
    name: column.title ?? (column.as === "moves" ? "Whose move" : label(column.member)),
    ...(column.as === "figure" ? { isFigure: true } : {}),
    draw: (row) => draw(column, row)
  }))
