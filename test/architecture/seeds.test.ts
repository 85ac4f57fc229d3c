/** All that goes by chance in the tests goes by a seed that a run of CI has in common with the one before. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Seeds from "../seeds.ts"
import { root } from "./sources.ts"

const read = (path: string): string => readFileSync(join(root, path), "utf8")
const outside = (path: string): boolean => !path.includes("node_modules")

/** Commands that a person starts: they draw a seed where they are given none, and print it. */
const commands = ["test/mutation/mutate.ts", "test/simulation/sim.ts"]

describe("seeds", () => {
  it("never are drawn anew, or taken from the day, by a test", () => {
    const sources = globSync("test/**/*.ts", { cwd: root }).filter(outside).toSorted()
    expect(sources.length).toBeGreaterThan(500)
    const drawn = /Math\.random\(|Date\.now\(\) *(?:%|\/ *(?:86_?400|day))/u
    expect(sources.filter((path) => drawn.test(read(path)))).toEqual(commands)
  })

  it("are those of the one file in every run, since each config loads it before its tests", () => {
    const configs = globSync("test/**/vitest.config.ts", { cwd: root }).filter(outside)
    expect(configs.length).toBeGreaterThan(1)
    const loads = /setupFiles: \["test\/seeds\.ts"\]|\.\.\.tests\.test|mergeConfig\(base,/u
    expect(configs.filter((path) => !loads.test(read(path)))).toEqual([])
  })

  it("reach the properties: fast-check draws the same values in each of them", () => {
    expect(fc.readConfigureGlobal().seed).toBe(Seeds.seed)
    const drawn = () => fc.sample(fc.integer(), 5)
    expect(drawn()).toEqual(drawn())
  })
})
