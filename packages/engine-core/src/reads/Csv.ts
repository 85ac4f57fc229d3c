/** CSV export (RFC 4180), escaped against formula injection. */
import type * as Export from "./Export.ts"

/** Media type of a table. */
export const mediaType = "text/csv"

/** First characters of cells that a spreadsheet evaluates as a formula. */
const formula = /^[=+\-@\t\r]/

/**
 * Prints a cell: text in quotes and without formulas, numbers and booleans unquoted, nothing for
 * null.
 */
const cell = (value: Export.Cell): string => {
  if (value === null) return ""
  if (typeof value === "boolean") return String(value)
  if (typeof value !== "string") return value.text
  const harmless = formula.test(value) ? `'${value}` : value
  return `"${harmless.replaceAll('"', '""')}"`
}

/** Number of lines in one chunk of the stream. */
const linesTogether = 500

/** Prints the line of the column names. */
export const head = ({ columns }: Pick<Export.Export, "columns">): string => lineOf(columns)

/** Prints a line for each row of a value, without the line of the column names. */
export const body = <V>(table: Export.Export<never, V>, value: V): string =>
  Array.from(table.lines(value), lineOf).join("")

/** Prints the column names, then a line for each row, in chunks. */
export function* text<V>(table: Export.Export<never, V>, value: V): Generator<string> {
  let lines = [lineOf(table.columns)]
  for (const row of table.lines(value)) {
    lines.push(lineOf(row))
    if (lines.length < linesTogether) continue
    yield lines.join("")
    lines = []
  }
  yield lines.join("")
}

const lineOf = (cells: ReadonlyArray<Export.Cell>): string => `${cells.map(cell).join(",")}\r\n`
