/** Columns of rows of SQLite: text, whole numbers and bytes, never floats. */

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
  if (typeof value !== "number" || !Number.isSafeInteger(value)) {
    throw new Error(`Column ${column} holds no whole number`)
  }
  return value
}

export const numberOrNull = (row: Row, column: string): number | null =>
  row[column] === null ? null : number(row, column)

/** Reads a JSON array of texts. */
export const texts = (row: Row, column: string): ReadonlyArray<string> => {
  const value: unknown = JSON.parse(text(row, column))
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === "string")) {
    throw new Error(`Column ${column} holds no list of texts`)
  }
  return value
}

/** A copy of the bytes, the caller's own. */
export const bytes = (row: Row, column: string): Uint8Array => {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw new Error(`Column ${column} holds no bytes`)
  return value.slice()
}
