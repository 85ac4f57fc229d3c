/**
 * Adapter of csv-parse: takes text piece by piece and hands out rows of cells at once. In a bundle for a
 * browser it is the package's own build for browsers, by `imports` of package.json.
 */
import { CsvError, Parser } from "#csv-parse"
import { malformed, refused } from "./Faults.ts"

/** Largest row in bytes: of a quote that is never closed, no more than this is kept. */
const ROW_MAX = 1_048_576
const CELL_MAX = 65_536

const encoder = new TextEncoder()

/** Cells of a row, as text. */
export type Cells = ReadonlyArray<string>

/** A row and its number in the file, counted from 1. */
type OnRow = (cells: Cells, number: number) => void

const isLineEnd = (code: number): boolean => code === 0x0d || code === 0x0a

/**
 * Parser of rows. Every row has as many cells as the first; a quote opens a cell or ends one, and is
 * doubled inside; no cell is trimmed, and no row is skipped. Empty lines at the end are no rows.
 */
export class StatementRows {
  readonly #parser: RowParser
  readonly #onRow: OnRow
  #number = 0
  /** Line ends after the text that was parsed. */
  #waiting = ""

  constructor(delimiter: string, onRow: OnRow) {
    this.#parser = new RowParser(delimiter)
    this.#onRow = onRow
  }

  take(piece: string): void {
    // Line ends at the end wait for what follows them: of the file's last ones only one ends a row.
    const text = this.#waiting + piece
    let end = text.length
    while (end > 0 && isLineEnd(text.charCodeAt(end - 1))) end -= 1
    const isMuch = text.length - end > ROW_MAX
    this.#waiting = isMuch ? "" : text.slice(end)
    this.#parse(isMuch ? text : text.slice(0, end))
  }

  end(): void {
    this.#parse(/^(?:\r\n|\n)/u.exec(this.#waiting)?.[0] ?? this.#waiting)
    this.#waiting = ""
    this.#handOut(this.#parser.parseEnd())
  }

  #parse(text: string): void {
    if (text !== "") this.#handOut(this.#parser.parse(encoder.encode(text)))
  }

  /** Hands out the rows before a fault first, so that the first fault of a file is the one thrown. */
  #handOut(fault: Error | null): void {
    for (const cells of this.#parser.flush()) {
      this.#number++
      for (const cell of cells) this.#checkLength(cell)
      this.#onRow(cells, this.#number)
    }
    if (fault !== null) throw faultOf(fault, this.#number + 1)
  }

  #checkLength(cell: string): void {
    // A UTF-16 unit takes at most three bytes, so almost no cell needs counting.
    if (cell.length * 3 > CELL_MAX && encoder.encode(cell).length > CELL_MAX) {
      throw malformed(`A cell is longer than ${CELL_MAX} bytes.`, { line: this.#number })
    }
  }
}

/** Parser of csv-parse without its stream: it parses in the call and keeps the rows. */
class RowParser extends Parser {
  #rows: Array<Cells> = []

  constructor(delimiter: string) {
    super({
      delimiter,
      quote: '"',
      escape: '"',
      record_delimiter: ["\r\n", "\n"],
      bom: false,
      encoding: "utf8",
      max_record_size: ROW_MAX
    })
  }

  override push(row: Cells | null): boolean {
    if (row !== null) this.#rows.push(row)
    return true
  }

  /** Rows since the last call. */
  flush(): ReadonlyArray<Cells> {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  parse(bytes: Uint8Array): Error | null {
    return sync((done) => this._transform(bytes, "utf8", done))
  }

  parseEnd(): Error | null {
    return sync((done) => this._flush(done))
  }
}

/** Result of a step that calls back before it returns. */
const sync = (step: (done: (fault?: Error | null) => void) => void): Error | null => {
  let answer: { readonly fault: Error | null } | undefined
  step((fault) => {
    answer = { fault: fault ?? null }
  })
  if (answer === undefined) throw new Error("csv-parse did not answer in the call")
  return answer.fault
}

const faultOf = (fault: Error, row: number): Error => {
  if (!(fault instanceof CsvError)) return fault
  const at = { line: row }
  switch (fault.code) {
    case "CSV_MAX_RECORD_SIZE":
      return malformed(`A row is longer than ${ROW_MAX} bytes.`, at)
    case "CSV_RECORD_INCONSISTENT_FIELDS_LENGTH":
      return refused("statement-columns", `Row ${row} has not as many cells as the first row.`, at)
    case "CSV_QUOTE_NOT_CLOSED":
      return refused("statement-columns", `Row ${row} has a quoted cell that does not end.`, at)
    case "INVALID_OPENING_QUOTE":
    case "CSV_INVALID_CLOSING_QUOTE":
      return refused("statement-columns", `Row ${row} has a quote within a cell, not doubled.`, at)
    default:
      return fault
  }
}
