/** The replay's table against the figures as they were published. */
import { existsSync, readFileSync } from "node:fs"
import { Decimal } from "@bursar/engine-core/kernel"
import { describe, expect, it } from "vitest"
import { days, inflows } from "../../examples/demo/replay-data.ts"

const published = new URL("../../../shared/data/buidl/buidl_missing_data.csv", import.meta.url)

/** The rows of the series as published: newest first, amounts quoted with thousands separators. */
const publishedDays = (): ReadonlyArray<string> =>
  readFileSync(published, "utf8")
    .split("\r\n")
    .flatMap((line) => {
      const row = /^BUIDL-I,ethereum,"([0-9,.]+)",[^,]*,(\S+)$/.exec(line)
      return row === null ? [] : [`${row[2]} ${row[1]?.replaceAll(",", "")}`]
    })
    .reverse()

describe("the replay's table", () => {
  it.skipIf(!existsSync(published))(
    "never holds a day or a cent that was not published (needs shared/data/buidl)",
    async () => {
      const kept = (await days()).map(
        ({ date, assets }) => `${date} ${Decimal.formatPlaces(assets, 2)}`
      )
      expect(kept).toEqual(publishedDays())
      expect(kept).toHaveLength(71)
    }
  )

  it("never skips a day, or has two of one", async () => {
    const dates = (await days()).map(({ date }) => date)
    const first = Date.parse(dates[0] ?? "")
    expect(dates).toEqual(
      dates.map((_, i) => new Date(first + i * 86_400_000).toISOString().slice(0, 10))
    )
  })

  it("never takes income of a day without more assets for an inflow, or loses one", () => {
    const day = (date: string, assets: string) => ({ date, assets: Decimal.of(assets) })
    expect(
      inflows([
        day("2026-01-01", "100.00"),
        day("2026-01-02", "100.00"),
        day("2026-01-03", "90.01"),
        day("2026-01-04", "90.02")
      ])
    ).toEqual([
      { date: "2026-01-01", amount: Decimal.of("100") },
      { date: "2026-01-04", amount: Decimal.of("0.01") }
    ])
  })

  it("never shows another count or sum of inflows than the figures do", async () => {
    const found = inflows(await days())
    const all = await days()
    expect(found).toHaveLength(47)
    // Inflows less outflows are the assets at the end, computed apart from the code.
    const out = all.reduce((sum, { assets }, i) => {
      const before = all[i - 1]?.assets ?? Decimal.zero
      return assets < before ? Decimal.add(sum, Decimal.subtract(before, assets)) : sum
    }, Decimal.zero)
    const last = all.at(-1)?.assets ?? Decimal.zero
    expect(Decimal.subtract(Decimal.sum(found.map(({ amount }) => amount)), out)).toBe(last)
  })
})
