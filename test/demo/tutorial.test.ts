/** Tutorial: its code is cut from the examples, which run, and its links lead somewhere. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { describe, expect, it, vi } from "vitest"

const root = new URL("../../", import.meta.url)
const folder = new URL("packages/http-host/docs/tutorial/", root)
const read = (path: string): string => readFileSync(new URL(path, root), "utf8")

const chapters = globSync("*.md", { cwd: folder })
  .toSorted()
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), "utf8") }))

/** Blocks of code of a language that a program or an editor runs. */
const blocks = chapters.flatMap(({ name, text }) =>
  [...text.matchAll(/(?:<!-- region (\S+?)(?: ([^>]+?))? -->\n)?```(ts|http)\n([^]*?)```/g)].map(
    ([, path = "", region = "", language = "", code = ""]) => ({
      name,
      path,
      region,
      language,
      code
    })
  )
)

/** Text of a region of an example; of a file of requests, as much of its start as is shown. */
const cut = (path: string, region: string, code: string): string | undefined => {
  const text = read(path)
  if (region === "") return text.includes(code.trim()) ? code : undefined
  return text.split(`// #region ${region}\n`)[1]?.split("// #endregion")[0]
}

describe("the tutorial", () => {
  it("has four chapters, each with code", () => {
    expect(chapters.map(({ name }) => name)).toEqual([
      "1-embed.md",
      "2-serve.md",
      "3-your-ledger.md",
      "4-your-room.md"
    ])
    expect(new Set(blocks.map(({ name }) => name)).size).toBe(4)
  })

  it.each(blocks)("$name shows the code that $path runs: $region", ({ code, path, region }) => {
    expect(path).not.toBe("")
    expect(cut(path, region, code)?.trim()).toBe(code.trim())
    const [, example = ""] = path.split("/")
    expect(read("examples/run.ts")).toContain(`"${example}/`.replace(/"0[34].*/u, `"${example}"`))
  })

  it("begins with a program that does what its comments say", async () => {
    const said: Array<ReadonlyArray<unknown>> = []
    const log = vi.spyOn(console, "log").mockImplementation((...words) => said.push(words))
    try {
      // A name that only the running program knows: the examples are no part of these types.
      const program = "../../examples/01-embed-the-engine/first-write.ts"
      await import(program)
    } finally {
      log.mockRestore()
    }
    expect(said[0]?.[0]).toBe("awaiting")
    expect(said.at(-1)).toEqual(["elf", ["anna"]])
  })

  it("links to files that are there", () => {
    const links = chapters.flatMap(({ text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, to = ""]) => to)
    )
    expect(links.length).toBeGreaterThan(5)
    expect(links.filter((to) => !existsSync(new URL(to, folder)))).toEqual([])
  })
})
