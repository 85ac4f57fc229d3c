/**
 * Guard of the CSV form of a source: the columns that lines of each kind are read from, and the
 * notations that leave nothing to a guess (docs/domain/statements.md#csv).
 */
import { Result } from "effect"
import * as DateFormat from "../kernel/DateFormat.ts"
import type { StatementKind } from "../vocabulary/sets.ts"
import type { CsvForm } from "./StatementSource.ts"

/** Encodings of a CSV file, as a source names them. */
export const encodings = [
  "utf-8",
  "utf-16le",
  "utf-16be",
  "iso-8859-1",
  "iso-8859-15",
  "windows-1252"
] as const

/** Characters that may lie between cells: none of them is a digit, a letter, a sign or a quote. */
const delimiters: ReadonlySet<string> = new Set([",", ";", "\t", "|", ":", "^", "~"])

/** Columns of the lines of a kind. */
interface Columns {
  readonly required: ReadonlyArray<string>
  readonly optional: ReadonlyArray<string>
}

/** Columns of a statement in CSV, by its kind. */
export const columns: Readonly<Record<StatementKind, Columns>> = {
  holdings: { required: ["account", "quantity"], optional: ["locked", "isin", "businessDate"] },
  cash: {
    required: ["bookingDate"],
    optional: [
      "amount",
      "direction",
      "credit",
      "debit",
      "valueDate",
      "currency",
      "account",
      "bankReference",
      "reference",
      "counterpartyName",
      "counterpartyAccount",
      "reversal",
      "businessDate"
    ]
  },
  custody: { required: ["asset", "account", "quantity"], optional: ["businessDate"] },
  nav: {
    required: ["official"],
    optional: [
      "indicative",
      "suspended",
      "isin",
      "currency",
      "totalQuantity",
      "totalAmount",
      "businessDate"
    ]
  }
}

/**
 * Says what is wrong with the CSV form of a source of that kind, or null. A source is judged when its
 * configuration is read, so that no file is ever read by a form that has two readings.
 */
export const fault = (kind: StatementKind, form: CsvForm): string | null =>
  notationFault(form) ?? columnsFault(kind, Object.keys(form.columns))

const notationFault = ({ encoding, delimiter, decimal, group, dateFormat }: CsvForm) => {
  if (!(encodings as ReadonlyArray<string>).includes(encoding)) {
    return `encoding is one of ${encodings.join(", ")}`
  }
  if (!delimiters.has(delimiter)) return "delimiter is one of , ; | : ^ ~ and the tabulator"
  if (decimal === group) return "the mark between groups of digits is not the decimal mark"
  const format = DateFormat.parse(dateFormat)
  return Result.isFailure(format) ? format.failure.detail : null
}

const columnsFault = (kind: StatementKind, named: ReadonlyArray<string>): string | null => {
  const { required, optional } = columns[kind]
  const missing = required.find((column) => !named.includes(column))
  if (missing !== undefined) return `a statement of ${kind} needs the column ${missing}`
  const stray = named.find((column) => !required.includes(column) && !optional.includes(column))
  if (stray !== undefined) return `a statement of ${kind} has no column ${stray}`
  return kind === "cash" ? amountFault(new Set(named)) : null
}

/** An amount lies in one column, signed or with its direction, or in one column a direction. */
const amountFault = (named: ReadonlySet<string>): string | null => {
  const sides = ["credit", "debit"].filter((column) => named.has(column)).length
  if (named.has("amount")) {
    return sides === 0 ? null : "an amount lies in the column amount, or in credit and debit"
  }
  if (sides !== 2) return "a statement of cash needs the column amount, or both credit and debit"
  return named.has("direction") ? "credit and debit say the direction themselves" : null
}
