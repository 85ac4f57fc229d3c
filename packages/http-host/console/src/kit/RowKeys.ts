/** Keys of the rows of a list: a row on the screen stays with its record where other rows come or go. */

type Row = Readonly<Record<string, unknown>>

/** Name of the member that is the id of a list's records, by the noun of its read. */
const idMember = (read: string): string => {
  const noun = (read.split(".")[0] ?? "").replaceAll(/-(\w)/gu, (_, letter: string) =>
    letter.toUpperCase()
  )
  return `${noun.replace(/ies$/u, "y").replace(/s$/u, "")}Id`
}

/** Members besides ids that tell one row from another where rows have no id of their own. */
const telling = new Set([
  "offset",
  "seq",
  "kind",
  "check",
  "resource",
  "date",
  "recordDate",
  "asOf"
])

/** Key of each row, by its id or else by all that tells it; equal ones are counted. */
export const rowKeys = (read: string, rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const own = read.endsWith(".list") ? idMember(read) : ""
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const members =
      typeof row[own] === "string"
        ? [row[own]]
        : Object.entries(row)
            .filter(([name]) => name.endsWith("Id") || telling.has(name))
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
    const key = JSON.stringify(members, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value
    )
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    return count === 0 ? key : `${key}${count}`
  })
}
