/** Export of an answer as a table: one column for each field. */
import { Schema } from "effect"
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import * as JsonPrinter from "../kernel/JsonPrinter.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import { ResponseFormat } from "../vocabulary/sets.ts"

/** The parameter of every answer that can be exported; JSON when it is absent. */
export const parameters = { format: Schema.optionalKey(ResponseFormat.schema) } as const

/** Value of a cell: a text, a number, a boolean, or empty. */
export type Cell = null | boolean | string | PlainJson.PlainNumber

/** Conversion of a read's value to a table. */
export interface Export<P = unknown, V = unknown> {
  /** The format that the parameters ask for. */
  format(params: P): ResponseFormat
  readonly columns: ReadonlyArray<string>
  /** The lines of a value, one after another; throws on a row that is not flat, a bug. */
  lines(value: V): Iterable<ReadonlyArray<Cell>>
}

/** Declares the table of an answer: its rows are structs of flat fields, in the order of the struct. */
export const of = <V, Row>(table: {
  readonly row: Schema.Codec<Row, Readonly<Record<string, unknown>>> & { readonly fields: object }
  readonly rows: (value: V) => Iterable<Row>
  /** Fields that are not flat, whose cells are their JSON text. */
  readonly nested?: ReadonlyArray<keyof Row & string>
}): Export<{ readonly format?: ResponseFormat }, V> => {
  const columns = Object.keys(table.row.fields)
  const encode = CompiledCodec.encoder(table.row)
  const textsOf = JsonPrinter.texts(table.row)
  const nested = new Set<string>(table.nested)
  return {
    format: ({ format }) => format ?? "json",
    columns,
    *lines(value) {
      for (const row of table.rows(value)) {
        const texts = textsOf(row)
        if (texts !== undefined) {
          yield texts.map((text, index) => cellOfText(text, nested.has(columns[index]!)))
          continue
        }
        const encoded = encode(row)
        yield columns.map((column) => {
          const value = encoded[column] ?? null
          return nested.has(column) ? textOf(value) : cellOf(value)
        })
      }
    }
  }
}

const cellOfText = (text: string, isNested: boolean): Cell => {
  if (text === "null") return null
  if (isNested) return text
  if (text.startsWith('"') && !text.includes("\\")) return text.slice(1, -1)
  return cellOf(PlainJson.parseTrusted(text))
}

const cellOf = (value: unknown): Cell => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value
  if (PlainJson.isPlainNumber(value)) return value
  throw new Error("a row of a table holds a value that is not flat")
}

/** Cast: the engine's codecs encode to values that PlainJson prints; it throws on others. */
const textOf = (value: unknown): Cell =>
  value === null ? null : PlainJson.stringify(value as PlainJson.Printable)
