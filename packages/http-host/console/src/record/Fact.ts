/** Facts of a record: which members a page shows, in which order, under which names and with which unit. */

type Row = Readonly<Record<string, unknown>>

/** A member with its value; the unit stands beside a figure. */
export interface Fact {
  readonly member: string
  readonly name: string | null
  readonly value: unknown
  readonly unit: string | null
}

export interface FactGroup {
  readonly title: string
  readonly facts: ReadonlyArray<Fact>
}

/** What a page shows of a member: its name where its own is not plain, and where its unit stands. */
export interface FactRow {
  readonly member: string
  readonly name?: string
  /** Member of the record that is the unit, such as `currency`. */
  readonly unitOf?: string
  /** The unit itself, such as `units`. */
  readonly unit?: string
}

const textAt = (row: Row, member: string): string | null => {
  const value = row[member]
  return typeof value === "string" ? value : null
}

/** Facts of a record that has them; a member that is absent or null is no fact. */
export const factsOf = (row: Row, rows: ReadonlyArray<FactRow>): ReadonlyArray<Fact> =>
  rows
    .filter(({ member }) => row[member] !== undefined && row[member] !== null)
    .map(({ member, name, unit, unitOf }) => ({
      member,
      name: name ?? null,
      value: row[member],
      unit: unit ?? (unitOf === undefined ? null : textAt(row, unitOf))
    }))

/** Groups of facts; a group without one is left out. */
export const groupsOf = (
  row: Row,
  groups: ReadonlyArray<{ readonly title: string; readonly rows: ReadonlyArray<FactRow> }>
): ReadonlyArray<FactGroup> =>
  groups
    .map(({ rows, title }) => ({ title, facts: factsOf(row, rows) }))
    .filter(({ facts }) => facts.length > 0)
