/** README: its code is cut from the examples, which run, and its links lead somewhere. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const root = new URL("../../", import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), "utf8")

/** Text between the two marks of a region, without the indentation of the marks. */
const region = (path: string): string | undefined => {
  const found = /^( *)\/\/ #region [^\n]*\n([^]*?) *\/\/ #endregion/m.exec(read(path))
  return found?.[2]?.replaceAll(new RegExp(`^${found[1] ?? ""}`, "gm"), "")
}

/** The code that a page shows, with the file it is cut from. */
const shownBy = (page: string) => [
  ...read(page).matchAll(/<!-- region (\S+) -->\n```ts\n([^]*?)```/g)
]
const shown = shownBy("README.md")

describe("the README", () => {
  it("shows code, and no more of it than a person reads at a glance", () => {
    expect(shown).toHaveLength(1)
    expect(shown[0]?.[2]?.trim().split("\n").length).toBeLessThanOrEqual(20)
  })

  it.each(shown.map(([, path = "", code = ""]) => ({ path, code })))(
    "shows the code that $path runs",
    ({ path, code }) => {
      expect(code).toBe(region(path))
    }
  )

  it("of the host shows the code that the clients' examples run", () => {
    const pieces = shownBy("packages/http-host/README.md")
    expect(pieces.length).toBeGreaterThan(0)
    expect(pieces.map(([, , code]) => code)).toEqual(pieces.map(([, path = ""]) => region(path)))
  })

  it("of embedding shows the code that the examples of distributions and statements run", () => {
    const pieces = shownBy("packages/engine-core/docs/embedding.md")
    expect(pieces.map(([, path]) => path)).toEqual([
      "examples/08-distribute-monthly/people.ts",
      "examples/01-embed-the-engine/main.ts"
    ])
    expect(pieces.map(([, , code]) => code)).toEqual(pieces.map(([, path = ""]) => region(path)))
  })

  it("links to files that are there", () => {
    const links = [...read("README.md").matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, to]) => to)
    expect(links.length).toBeGreaterThan(10)
    expect(links.filter((to = "") => !existsSync(new URL(to, root)))).toEqual([])
  })

  it("lists every example, and each of them is run", () => {
    const folders = readdirSync(new URL("examples", root)).filter((name) => /^[0-9]/.test(name))
    const listed = [...read("README.md").matchAll(/^\| \[([^\]]+)\]\(examples\/\1\)/gm)]
    expect(listed.map(([, name]) => name)).toEqual(folders.toSorted())
    const run = read("examples/run.ts")
    expect(folders.filter((name) => !run.includes(`"${name}`))).toEqual([])
  })

  it("names scripts that package.json has", () => {
    const { scripts } = JSON.parse(read("package.json"))
    const named = [...read("README.md").matchAll(/npm (?:run )?(start|test|demo|examples)\b/g)]
    expect(named.map(([, name = ""]) => name).filter((name) => !(name in scripts))).toEqual([])
  })

  it("shows of a start what a start prints", () => {
    const [, screen = ""] =
      /<!-- printed by packages\/http-host\/src\/demo\/Screen\.ts -->\n```\n([^]*?)```/.exec(
        read("README.md")
      ) ?? []
    // Lines that differ between starts are cut, or contain an address.
    const fixed = screen
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "" && !/^…$|::|127\.0\.0\.1|curl/.test(line))
      .map((line) => line.replace(/^[0-9]+ /, ""))
    expect(fixed.length).toBeGreaterThan(4)
    const start = ["cli/Demo.ts", "demo/Screen.ts"]
      .map((file) => read(`packages/http-host/src/${file}`))
      .join("\n")
    expect(fixed.filter((line) => !start.includes(line))).toEqual([])
    const labels = [...screen.matchAll(/^ {2}([a-zA-Z'-]+(?: [a-z]+)?) {2,}http/gm)].map(
      ([, label = ""]) => label
    )
    expect(labels).toHaveLength(7)
    expect(labels.filter((label) => !start.includes(`  ${label} `))).toEqual([])
  })

  it("leaves it to ARCHITECTURE.md to count approvers as the engine does, without the maker", () => {
    expect(read("README.md")).not.toContain("`approvers: ")
    expect(read("packages/engine-core/docs/ARCHITECTURE.md")).toMatch(
      /need a second person +\| `approvers: 1`: one besides the maker/
    )
  })
})
