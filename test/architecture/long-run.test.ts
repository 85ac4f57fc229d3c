/** Every test that does more in the long run is played there, and each file that is listed there exists. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "./sources.ts"

const config = readFileSync(join(root, "test/long/vitest.config.ts"), "utf8")
const include = config.slice(config.indexOf("include: ["), config.indexOf("env: {"))
const listed = [...include.matchAll(/^\s*"(test\/[^"]+)",?$/gmu)].map(([, glob]) => glob ?? "")
const played = new Set(listed.flatMap((glob) => globSync(glob, { cwd: root })))

const tests = globSync("test/**/*.{test,spec,prop,model,suite,process,slow}.ts", {
  cwd: root,
  exclude: (path) => path.includes("node_modules")
})
const doMore = tests.filter((path) =>
  /^import .* from "(?:\.\.\/)+long-run\.ts"$/mu.test(readFileSync(join(root, path), "utf8"))
)

describe("the long run", () => {
  it("never leaves out a test that does more in it", () => {
    expect(doMore.length).toBeGreaterThan(3)
    expect(doMore.filter((path) => !played.has(path))).toEqual([])
  })

  it("never lists a file that is not there", () => {
    expect(listed.length).toBeGreaterThan(10)
    expect(listed.filter((glob) => globSync(glob, { cwd: root }).length === 0)).toEqual([])
  })
})
