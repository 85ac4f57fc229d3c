/** Published daily figures of the ten series of a tokenised money-market fund, read where the folder is there. */
import { Date, Decimal } from "@bursar/engine-core/kernel"
import { existsSync, readFileSync } from "node:fs"

const published = new URL("../../../shared/data/buidl/buidl_missing_data.csv", import.meta.url)

/** A test without these figures is skipped by its name. */
export const isPublished = existsSync(published)

export interface Row {
  readonly series: string
  readonly date: Date.Date
  /** Units at the end of the date: assets, at one dollar a unit. */
  readonly units: Decimal.Decimal
  /** Income of a unit for one calendar day. */
  readonly income: Decimal.Decimal
}

/** Rows of all series that state an income, newest first. */
export const rows = (): ReadonlyArray<Row> =>
  readFileSync(published, "utf8")
    .trimEnd()
    .split("\r\n")
    .slice(1)
    .flatMap((text) => {
      const [, name = "", chain = "", units = "", income = "", date = ""] =
        /^([^,]*),([^,]*),"([^"]*)",([^,]*),(.*)$/u.exec(text) ?? []
      if (income === "") return []
      return {
        series: `${name} ${chain}`,
        date: Date.of(date),
        units: Decimal.of(units.replaceAll(",", "")),
        income: Decimal.of(income)
      }
    })

const holidays = ["2026-06-19", "2026-07-03"]

export const isBusinessDay = (date: Date.Date): boolean =>
  !["saturday", "sunday"].includes(Date.weekday(date)) && !holidays.includes(date)
