/**
 * Pure hash of a distribution's lines, computed over chunks so that no text holds all lines
 * (docs/domain/figures.md#hash-of-the-lines).
 */
import * as Decimal from "../../kernel/Decimal.ts"
import * as PlainJson from "../../kernel/PlainJson.ts"
import type { LineFigures } from "./DistributionRules.ts"

interface Sha256 {
  readonly sha256: (text: string) => string
}

/** Payee and figures of a line, as they are hashed. */
export interface HashedLine
  extends Pick<LineFigures, "units" | "gross" | "equalisation" | "withheld" | "net" | "carryOut"> {
  /** Null for a party that is no holder. */
  readonly holderId: string | null
  readonly party: string
}

/** Number of lines in a chunk; the last chunk may have fewer. */
export const chunkSize = 500

type Payee = Pick<HashedLine, "holderId" | "party">

/** Order of lines: holders by holderId, then parties that are no holders, by party. */
export const compare = (a: Payee, b: Payee): number => {
  if (a.holderId !== null && b.holderId !== null) return order(a.holderId, b.holderId)
  if (a.holderId === null && b.holderId === null) return order(a.party, b.party)
  return a.holderId === null ? 1 : -1
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Hash of one chunk: of its canonical JSON, one array a line, decimals as text in least form. */
export const chunkHashOf = (lines: ReadonlyArray<HashedLine>, { sha256 }: Sha256): string =>
  sha256(
    PlainJson.canonical(
      lines.map((line) => [
        line.holderId ?? line.party,
        ...[line.units, line.gross, line.equalisation, line.withheld, line.net, line.carryOut].map(
          Decimal.formatPlain
        )
      ])
    )
  )

/** Hash of the lines from the hashes of their chunks, in order. */
export const linesHashOf = (chunkHashes: Iterable<string>, { sha256 }: Sha256): string =>
  sha256(`bursar-lines-v1\n${[...chunkHashes].join("\n")}`)

/** Hashes the chunks of lines as they come; lines out of order are a defect. */
export function* chunkHashes(
  lines: Iterable<HashedLine>,
  crypto: Sha256
): Generator<string, undefined> {
  let chunk: Array<HashedLine> = []
  let previous: HashedLine | undefined
  for (const line of lines) {
    if (previous !== undefined && compare(previous, line) >= 0) {
      throw new Error("lines are hashed in order of their holders, each once")
    }
    previous = line
    chunk.push(line)
    if (chunk.length < chunkSize) continue
    yield chunkHashOf(chunk, crypto)
    chunk = []
  }
  if (chunk.length > 0) yield chunkHashOf(chunk, crypto)
  return undefined
}
