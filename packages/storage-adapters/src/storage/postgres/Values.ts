/** Parameters and columns of the database: text, whole numbers and bytes, never floats. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** Parameter for `unnest`: a column of texts; null is null. */
export const texts = (values: ReadonlyArray<string | null>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

/** Parameter for `unnest`: a column of whole numbers. */
export const integers = (values: ReadonlyArray<number | null>): PgTypes.Parameter =>
  Result.getOrThrow(
    PgTypes.array(
      values.map((value) => (value === null ? null : BigInt(value))),
      PgTypes.OID.int8
    )
  )

/** Parameter: one whole number. */
export const integer = (value: number): PgTypes.Parameter => PgTypes.int8(BigInt(value))

export type Row = Readonly<Record<string, unknown>>

export const text = (row: Row, column: string): string => {
  const value = row[column]
  if (typeof value !== "string") throw new Error(`Column ${column} holds no text`)
  return value
}

export const textOrNull = (row: Row, column: string): string | null =>
  row[column] === null ? null : text(row, column)

/** Reads a whole number that a JavaScript number represents exactly. */
export const number = (row: Row, column: string): number => {
  const value = row[column]
  const whole = typeof value === "bigint" ? Number(value) : value
  if (typeof whole !== "number" || !Number.isSafeInteger(whole)) {
    throw new Error(`Column ${column} holds no whole number`)
  }
  return whole
}

export const numberOrNull = (row: Row, column: string): number | null =>
  row[column] === null ? null : number(row, column)

export const boolean = (row: Row, column: string): boolean => {
  const value = row[column]
  if (typeof value !== "boolean") throw new Error(`Column ${column} holds no truth value`)
  return value
}

export const textList = (row: Row, column: string): ReadonlyArray<string> => {
  const value = row[column]
  if (!Array.isArray(value)) throw new Error(`Column ${column} holds no list`)
  return value.map((entry: unknown) => {
    if (typeof entry !== "string") throw new Error(`Column ${column} holds no list of texts`)
    return entry
  })
}
