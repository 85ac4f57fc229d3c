/** Cells of a CSV row read by column, in the notation of the source. */
import { type Date, DateFormat, Decimal } from "@bursar/engine-core/kernel"
import type { StatementSource } from "@bursar/engine-core/ports"
import { Result } from "effect"
import { isOfYears, otherYears } from "./Days.ts"
import { refused } from "./Faults.ts"
import * as Figures from "./Figures.ts"
import type { Cells } from "./Rows.ts"

/** Cells that mark a row of totals, in the languages that banks export in. */
const totals: ReadonlySet<string> = new Set([
  "total",
  "totals",
  "grand total",
  "subtotal",
  "sub-total",
  "sum",
  "summe",
  "gesamt",
  "gesamtsumme",
  "zwischensumme",
  "endsumme",
  "totale",
  "total général",
  "somme",
  "sous-total",
  "suma",
  "totaal"
])

const beginsLikeTotal = /^(?:tot|grand|su|sous|som|ges|zwi|end)/iu

/** Row under a cursor: set to one row after another, so that a file of millions makes one object. */
export class CsvRow {
  readonly #positions: ReadonlyMap<string, number>
  readonly #date: DateFormat.DateFormat
  readonly #figure: (text: string) => Decimal.Decimal | Figures.NoFigure
  #cells: Cells = []
  #number = 1

  /** Refuses a first row in which a column of the source is missing or lies twice. */
  constructor(form: StatementSource.CsvForm, first: Cells) {
    this.#positions = new Map(
      Object.entries(form.columns).map(([column, name]) => [column, positionOf(name, first)])
    )
    this.#date = Result.getOrThrow(DateFormat.parse(form.dateFormat))
    this.#figure = Figures.reader(form)
  }

  set(cells: Cells, number: number): void {
    this.#cells = cells
    this.#number = number
  }

  /** Number of the row in the file, counted from 1. */
  get number(): number {
    return this.#number
  }

  has(column: string): boolean {
    return this.#positions.has(column)
  }

  /** Unchanged text of a cell, null where it is empty or the source names no such column. */
  textOrNull(column: string): string | null {
    const position = this.#positions.get(column)
    if (position === undefined) return null
    const cell = this.#cells[position]
    return cell === undefined || cell === "" ? null : cell
  }

  text(column: string): string {
    return this.textOrNull(column) ?? this.#missing(column)
  }

  /** Text that identifies the row, refused where it is the label of a total. */
  subject(column: string): string {
    const text = this.text(column)
    if (beginsLikeTotal.test(text) && totals.has(text.toLowerCase().replace(/[\s:]{1,9}$/u, ""))) {
      throw this.refused("statement-columns", `${column}: it is the label of a row of totals`)
    }
    return text
  }

  figureOrNull(column: string): Decimal.Decimal | null {
    const text = this.textOrNull(column)
    if (text === null) return null
    const figure = this.#figure(text)
    if (typeof figure === "bigint") return figure
    throw this.refused(
      figure === "places" ? "statement-places" : "statement-field",
      `${column}: ${Figures.sentences[figure]}`
    )
  }

  figure(column: string): Decimal.Decimal {
    return this.figureOrNull(column) ?? this.#missing(column)
  }

  /** Figure of 0 or more, null where the cell is empty. */
  magnitudeOrNull(column: string): Decimal.Decimal | null {
    const figure = this.figureOrNull(column)
    if (figure === null || !Decimal.isNegative(figure)) return figure
    throw this.refused("statement-field", `${column}: it is below zero`)
  }

  dateOrNull(column: string): Date.Date | null {
    const text = this.textOrNull(column)
    if (text === null) return null
    const date = this.#date.read(text)
    if (Result.isFailure(date)) {
      throw this.refused("statement-field", `${column}: ${date.failure.detail}`)
    }
    if (!isOfYears(date.success))
      throw this.refused("statement-field", `${column}: it ${otherYears}`)
    return date.success
  }

  date(column: string): Date.Date {
    return this.dateOrNull(column) ?? this.#missing(column)
  }

  /** Fault of the row under the cursor. */
  refused(
    check: StatementSource.StatementCondition,
    detail: string
  ): StatementSource.StatementRefused {
    return refused(check, `Row ${this.#number}, ${detail}.`, { line: this.#number })
  }

  #missing(column: string): never {
    throw this.refused("statement-field", `${column}: it is empty`)
  }
}

const positionOf = (name: string, first: Cells): number => {
  const position = first.indexOf(name)
  const fault =
    position < 0 ? "is missing" : first.includes(name, position + 1) ? "lies there twice" : null
  if (fault === null) return position
  throw refused("statement-columns", `Row 1: the column ${JSON.stringify(name)} ${fault}.`, {
    line: 1
  })
}
