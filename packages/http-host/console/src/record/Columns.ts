/** Columns of tables: which member each shows, how, and with which unit. */

/** Kinds of drawing that a member's name and value alone do not decide. */
export type ColumnForm =
  | "value"
  | "figure"
  | "words"
  | "state"
  | "near"
  | "deadline"
  | "moves"
  | "reference"

export interface ColumnRow {
  readonly member: string
  readonly title?: string
  readonly as?: ColumnForm
  /** Member that is the unit of a figure. */
  readonly unitOf?: string
  readonly unit?: string
}

/** Members that a table needs of its rows: those that it shows, and their units. */
export const membersOf = (rows: ReadonlyArray<ColumnRow>): ReadonlyArray<string> => [
  ...new Set(
    rows.flatMap(({ member, unitOf }) => [member, ...(unitOf === undefined ? [] : [unitOf])])
  )
]
