/** Prints rows of the bench as text for a terminal and as the table of a page. */
import type { Cost, Figure, Measured, Row } from "./measure.ts"

/** Whole numbers with commas from a hundred on, below it two or three significant digits. */
export const digits = (value: number): string => {
  if (!Number.isFinite(value)) return "–"
  const size = Math.abs(value)
  if (size >= 100) return Math.round(value).toLocaleString("en-US")
  if (size >= 10) return value.toFixed(1)
  return size >= 0.1 || size === 0 ? value.toFixed(2) : value.toPrecision(2)
}

export const spread = ({ median, least, most }: Figure): string =>
  least === most ? digits(median) : `${digits(median)} (${digits(least)}–${digits(most)})`

/** `1.2 ms PostgreSQL, 0.8 ms Node, 12.0 statements, 900 B of WAL a unit`, without what was not metered. */
const costOf = (cost: Cost): string => {
  const parts = [
    [cost.postgresMillis, "ms PostgreSQL"],
    [cost.nodeMillis, "ms Node"],
    [cost.statements, "statements"],
    [cost.walBytes, "B of WAL"]
  ] as const
  const metered = parts.flatMap(([value, unit]) =>
    value === null ? [] : [`${digits(value)} ${unit}`]
  )
  return metered.length === 0 ? "" : `; ${metered.join(", ")} a unit`
}

const sideOf = (name: string, unit: string, { speed, cost }: Measured): string =>
  `${name}: ${spread(speed)} ${unit}${costOf(cost)}`

/** Lines of a row for a terminal: the ratio, then both sides. */
export const linesOf = (row: Row): string => {
  const goal = row.goal === null ? "" : `, goal ${row.goal}`
  const note = row.note === undefined ? [] : [`    ${row.note}`]
  return [
    `${row.bench}: ×${spread(row.ratio)}${goal}`,
    `    ${sideOf("ours", row.unit, row.ours)}`,
    `    ${sideOf(row.against, row.unit, row.bound)}`,
    ...note
  ].join("\n")
}

const header = [
  "| Row | Ratio | Goal | Ours | Bound | Ours: ms PostgreSQL / ms Node / statements / B of WAL | Bound: the same | Bound is | Note | Measured |",
  "|---|---|---|---|---|---|---|---|---|---|"
]

const costCell = (cost: Cost): string =>
  [cost.postgresMillis, cost.nodeMillis, cost.statements, cost.walBytes]
    .map((value) => (value === null ? "–" : digits(value)))
    .join(" / ")

/** Circumstances that a row of the page was measured under. */
export interface Circumstances {
  readonly commit: string
  /** Load average over the last minute, and the number of cores. */
  readonly load: number
  readonly cores: number
  readonly gibibytes: number
  readonly node: string
  readonly rounds: number
}

const markdownOf = (row: Row, at: Circumstances): string =>
  `| ${[
    row.bench,
    spread(row.ratio),
    row.goal === null ? "–" : `≥ ${row.goal}`,
    `${spread(row.ours.speed)} ${row.unit}`,
    `${spread(row.bound.speed)} ${row.unit}`,
    costCell(row.ours.cost),
    costCell(row.bound.cost),
    row.against,
    row.note ?? "",
    `${at.commit}, ${at.rounds} rounds, load ${digits(at.load)}`
  ].join(" | ")} |`

const nameOf = (line: string): string => line.split(" | ")[0]?.replace(/^\| /, "") ?? ""

/**
 * Prints the page of the last table. A row that was measured replaces the row of its name; rows of
 * earlier runs stay, each with the commit it was measured at.
 */
export const page = (input: {
  readonly rows: ReadonlyArray<Row>
  readonly at: Circumstances
  /** The page as it is; empty where there is none. */
  readonly before: string
}): string => {
  const { at } = input
  const earlier = input.before
    .split("\n")
    .filter((line) => line.startsWith("| ") && line.endsWith(" |"))
  const lines = new Map(earlier.slice(1).map((line) => [nameOf(line), line]))
  for (const row of input.rows) lines.set(row.bench, markdownOf(row, at))
  return [
    "# Benchmarks",
    "",
    "Written by `npm run bench -- --write`; a run of some rows replaces those rows. A ratio compares two sides that take turns in one run, so it holds on a busy machine too; speeds and costs hold for the machine alone. Each figure is the median of the rounds, with the least and the greatest in parentheses. A cost is that of one unit of the row. Processor time is counted, not waiting; statements include `begin` and `commit`; background work of a host counts with its side. Both sides of a write wait for the disk before they answer (PostgreSQL's default `fsync` and `synchronous_commit`, or a group commit that flushes before it answers).",
    "",
    `Last run: ${at.cores} cores, ${at.gibibytes} GiB of memory, Node ${at.node}.`,
    "",
    ...header,
    ...lines.values(),
    ""
  ].join("\n")
}
