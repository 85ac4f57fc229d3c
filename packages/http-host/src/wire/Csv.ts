/** CSV export (RFC 4180), escaped so that a spreadsheet runs no formula. */
import type { Export } from "@bursar/engine-core"

export const mediaType = "text/csv"

/** First characters that a spreadsheet takes for a formula. */
const formula = /^[=+\-@\t\r]/

/** A text in quotes, made harmless; a number or a truth value as it is; nothing for null. */
export const cell = (value: Export.Cell): string => {
  if (value === null) return ""
  if (typeof value === "boolean") return String(value)
  if (typeof value !== "string") return value.text
  const harmless = formula.test(value) ? `'${value}` : value
  return `"${harmless.replaceAll('"', '""')}"`
}

/** Lines are printed together so that none is sent alone. */
const linesTogether = 500

/** The column names, then a line for each row, some lines at a time. */
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
