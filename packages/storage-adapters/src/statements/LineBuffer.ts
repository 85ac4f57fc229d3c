/**
 * Buffer of the lines and the ended statements of one slice of a file, with the checks that hold across
 * a whole file.
 */
import { StatementSource } from "@bursar/engine-core/ports"
import { DistinctKeys } from "./DistinctKeys.ts"
import { type Place, refused } from "./Faults.ts"

export class LineBuffer {
  readonly #linesMax: number
  readonly #positions = new DistinctKeys()
  #lines: Array<StatementSource.Line> = []
  #parts: Array<StatementSource.Part> = []
  #count = 0

  constructor({ linesMax }: Pick<StatementSource.Reading, "linesMax">) {
    this.#linesMax = linesMax
  }

  /**
   * Adds a line; false where its position lies in the file already. Throws `StatementTooLong` beyond
   * the limit.
   */
  add(line: StatementSource.Line): boolean {
    this.#count++
    if (this.#count > this.#linesMax) {
      throw new StatementSource.StatementTooLong({ linesMax: this.#linesMax })
    }
    const position = positionOf(line)
    if (position !== null && !this.#positions.add(position)) return false
    this.#lines.push(line)
    return true
  }

  /** Ends a statement, of which the lines since the last one are. */
  endStatement(header: StatementSource.Header, place: StatementSource.StatementPlace): void {
    this.#endLines()
    this.#parts.push({ part: "header", header, place })
  }

  /** Parts of the file since the last call: lines, and headers of statements that ended. */
  flush(): ReadonlyArray<StatementSource.Part> {
    this.#endLines()
    const parts = this.#parts
    this.#parts = []
    return parts
  }

  #endLines(): void {
    if (this.#lines.length === 0) return
    this.#parts.push({ part: "lines", lines: this.#lines })
    this.#lines = []
  }
}

/** Refusal of a second line of a position: which of the two counts, or whether both do, is a guess. */
export const repeated = (
  line: StatementSource.Line,
  place: Place
): StatementSource.StatementRefused =>
  refused(
    "statement-assets",
    line.kind === "custody"
      ? "An asset lies twice at one account."
      : "An account lies there twice.",
    place
  )

/** Key of a position, which a file states once: the account, or asset and account; null: a cash entry. */
const positionOf = (line: StatementSource.Line): string | null => {
  switch (line.kind) {
    case "holdings":
      return line.account
    case "custody":
      return `${line.asset.length}:${line.asset}${line.account}`
    case "cash":
      return null
  }
}
