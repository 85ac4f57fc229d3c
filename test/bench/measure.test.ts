/** The arithmetic and the printing of the bench, on figures that are written down. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { ratiosOf, shareModules } from "./commits.ts"
import { comparedOf, figureOf, inTurns, median, type Row, timed } from "./measure.ts"
import * as Table from "./table.ts"

const costless = { postgresMillis: 0, nodeMillis: 0, statements: 0, walBytes: 0 }

const compared = comparedOf(
  [
    { units: 10, millis: 1000, cost: { ...costless, statements: 30, walBytes: 100 } },
    { units: 10, millis: 500, cost: { ...costless, statements: 50, walBytes: 100 } },
    { units: 10, millis: 250, cost: { ...costless, statements: 40, walBytes: 100 } }
  ],
  [
    { units: 10, millis: 500, cost: costless },
    { units: 10, millis: 500, cost: costless },
    { units: 10, millis: 500, cost: { ...costless, postgresMillis: Number.NaN } }
  ]
)

const rowOf = (bench: string): Row => ({
  bench,
  unit: "operations/s",
  against: "set-based SQL",
  goal: 0.4,
  ...compared
})

const at = { commit: "abc1234", load: 3.5, cores: 2, gibibytes: 8, node: "v24", rounds: 3 }

describe("the bench's arithmetic", () => {
  it("takes the middle of an odd number of rounds, and the mean of the two middle ones of an even", () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([9, 1, 5, 7])).toBe(6)
    expect(median([])).toBeNaN()
  })

  it("gives the least and the greatest beside the median", () => {
    expect(figureOf([10, 2, 9])).toEqual({ median: 9, least: 2, most: 10 })
  })

  it("divides the speeds of the same round, and not the medians of both sides", () => {
    expect(compared.ours.speed).toEqual({ median: 20, least: 10, most: 40 })
    expect(compared.bound.speed).toEqual({ median: 20, least: 20, most: 20 })
    expect(compared.ratio).toEqual({ median: 1, least: 0.5, most: 2 })
  })

  it("gives costs a unit, and none where a round was not metered", () => {
    expect(compared.ours.cost).toEqual({ ...costless, statements: 4, walBytes: 10 })
    expect(compared.bound.cost.postgresMillis).toBeNull()
  })

  it("runs both sides in turns after a round that does not count", async () => {
    const turns: Array<string> = []
    const side = (name: string) => ({
      meter: Effect.succeed(costless),
      prepare: () => Effect.sync(() => turns.push(`${name} prepares`)),
      run: (round: number) =>
        timed(
          1,
          Effect.sync(() => turns.push(`${name} ${round}`))
        )
    })
    const { ratio } = await Effect.runPromise(
      inTurns({ rounds: 2, ours: side("ours"), bound: side("bound") })
    )
    expect(turns).toEqual(
      [0, 1, 2].flatMap((round) => [
        "ours prepares",
        `ours ${round}`,
        "bound prepares",
        `bound ${round}`
      ])
    )
    expect(ratio.least).toBeGreaterThan(0)
  })
})

describe("the comparison of two commits", () => {
  it("gives the median of the turns' ratios, and leaves out rows that only one commit has", () => {
    const ratios = ratiosOf([
      { here: new Map([["lists", 20]]), there: new Map([["lists", 10]]) },
      { here: new Map([["lists", 30]]), there: new Map([["lists", 10]]) },
      {
        here: new Map([
          ["lists", 10],
          ["cycles", 5]
        ]),
        there: new Map([["lists", 10]])
      }
    ])
    expect([...ratios]).toEqual([["lists", { median: 2, least: 1, most: 3 }]])
  })

  it("runs each tree's own sources with the installed packages of the other", () => {
    const folder = mkdtempSync(join(tmpdir(), "bursar-trees-"))
    const tree = join(folder, "tree")
    mkdirSync(join(tree, "packages/engine-core"), { recursive: true })
    shareModules(new URL("../..", import.meta.url).pathname, tree)
    const linked = (name: string) => realpathSync(join(tree, "node_modules", name))
    expect(linked("@bursar/engine-core")).toBe(realpathSync(join(tree, "packages/engine-core")))
    expect(linked("effect")).not.toContain(folder)
    rmSync(folder, { recursive: true })
  })
})

describe("the page of the last table", () => {
  it("replaces the rows that were measured and keeps the others", () => {
    const first = Table.page({ rows: [rowOf("lists"), rowOf("cycles")], at, before: "" })
    const second = Table.page({
      rows: [rowOf("lists"), rowOf("deliveries")],
      at: { ...at, commit: "def5678" },
      before: first
    })
    const lines = second.split("\n").filter((line) => line.startsWith("| "))
    expect(lines.map((line) => line.split(" | ")[0])).toEqual([
      "| Row",
      "| lists",
      "| cycles",
      "| deliveries"
    ])
    expect(lines.filter((line) => line.includes("abc1234"))).toHaveLength(1)
    expect(lines[1]).toContain("| 1.00 (0.50–2.00) | ≥ 0.4 | 20.0 (10.0–40.0) operations/s |")
  })

  it("prints a row in the same way whichever run it is of", () => {
    const page = Table.page({ rows: [rowOf("lists")], at, before: "" })
    expect(Table.page({ rows: [], at, before: page })).toBe(page)
  })
})
