/** Real figures for the replay: the published daily assets of a fund, and the money they show coming in. */
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

/** The table as it is kept beside this file: oldest first, a line a day, `#` before a remark. */
export const days = async (): Promise<ReadonlyArray<Day>> => {
  const table = await readFile(new URL("buidl-i.csv", import.meta.url), "utf8")
  const [, ...rows] = table.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  return rows.map((row) => {
    const [date = "", assets = ""] = row.split(",")
    return { date, assets: Decimal.of(assets) }
  })
}

/** What the first day holds already, then what every later day holds more than the day before. */
export const inflows = (of: ReadonlyArray<Day>): ReadonlyArray<Inflow> =>
  of.flatMap(({ date, assets }, i) => {
    const amount = Decimal.subtract(assets, of[i - 1]?.assets ?? Decimal.zero)
    return Decimal.isPositive(amount) ? [{ date, amount }] : []
  })
