/**
 * Input of the replay: the published daily assets of a real fund, and the inflows derived from
 * them.
 */
import { readFile } from "node:fs/promises"
import { Decimal } from "@bursar/engine-core/kernel"

export interface Day {
  readonly date: string
  readonly assets: Decimal.Decimal
}

export interface Inflow {
  readonly date: string
  readonly amount: Decimal.Decimal
}

/** Reads the table beside this file: oldest first, one day a line, comments after `#`. */
export const days = async (): Promise<ReadonlyArray<Day>> => {
  const table = await readFile(new URL("buidl-i.csv", import.meta.url), "utf8")
  const [, ...rows] = table.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  return rows.map((row) => {
    const [date = "", assets = ""] = row.split(",")
    return { date, assets: Decimal.of(assets) }
  })
}

/** Inflow of each day: the first day's assets, then every daily increase. */
export const inflows = (days: ReadonlyArray<Day>): ReadonlyArray<Inflow> =>
  days.flatMap(({ date, assets }, i) => {
    const amount = Decimal.subtract(assets, days[i - 1]?.assets ?? Decimal.zero)
    return Decimal.isPositive(amount) ? [{ date, amount }] : []
  })
