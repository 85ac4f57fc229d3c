/** What the README shows is what runs: its code is cut from the examples, its links lead somewhere. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const root = new URL("../../", import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), "utf8")

/** What stands between the two marks of a region. */
const region = (path: string): string | undefined =>
  /\/\/ #region [^\n]*\n([^]*?)\/\/ #endregion/.exec(read(path))?.[1]

const shown = [...read("README.md").matchAll(/<!-- region (\S+) -->\n```ts\n([^]*?)```/g)]

describe("the README", () => {
  it("shows no code, or more than a person reads at a glance", () => {
    expect(shown).toHaveLength(1)
    expect(shown[0]?.[2]?.trim().split("\n").length).toBeLessThanOrEqual(20)
  })

  it.each(shown.map(([, path = "", code = ""]) => ({ path, code })))(
    "shows other code than $path runs",
    ({ path, code }) => {
      expect(code).toBe(region(path))
    }
  )

  it("links to a file that is not there", () => {
    const links = [...read("README.md").matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, to]) => to)
    expect(links.length).toBeGreaterThan(10)
    expect(links.filter((to = "") => !existsSync(new URL(to, root)))).toEqual([])
  })

  it("leaves out an example that is there, or one is never run", () => {
    const folders = readdirSync(new URL("examples", root)).filter((name) => /^[0-9]/.test(name))
    const listed = [...read("README.md").matchAll(/^\| \[([^\]]+)\]\(examples\/\1\)/gm)]
    expect(listed.map(([, name]) => name)).toEqual(folders.toSorted())
    const run = read("examples/run.ts")
    expect(folders.filter((name) => !run.includes(`"${name}`))).toEqual([])
  })

  it("names a script that package.json does not have", () => {
    const { scripts } = JSON.parse(read("package.json"))
    const named = [...read("README.md").matchAll(/npm (?:run )?(start|test|demo|examples)\b/g)]
    expect(named.map(([, name = ""]) => name).filter((name) => !(name in scripts))).toEqual([])
  })
})
