/** Faults of a file, made where a reader meets them and thrown up to the edge of its stream (Steps.ts). */
import { StatementSource } from "@bursar/engine-core/ports"

/** Place in a file, counted from 1; in CSV a row, of which the first names the columns. */
export interface Place {
  readonly line: number
  readonly column?: number
}

/**
 * Pointer that the detail of a fault begins with, as readers of JSON write it: `/nav/official: …`.
 */
const pointed = /^(\/[^:\s]*): /u

const pointerOf = (detail: string): { readonly pointer?: string } => {
  const pointer = pointed.exec(detail)?.[1]
  return pointer === undefined ? {} : { pointer }
}

export const malformed = (detail: string, place: Place): StatementSource.StatementMalformed =>
  new StatementSource.StatementMalformed({
    detail,
    line: place.line,
    column: place.column ?? null,
    ...pointerOf(detail)
  })

export const refused = (
  check: StatementSource.StatementCondition,
  detail: string,
  place?: Place
): StatementSource.StatementRefused =>
  new StatementSource.StatementRefused({
    check,
    detail,
    line: place?.line ?? null,
    ...pointerOf(detail)
  })
