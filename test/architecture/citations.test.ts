/** Comments and pages cite sections of the project's own docs, and each of them is there. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "./sources.ts"

const at = (...patterns: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> =>
  globSync([...patterns], { cwd: root, exclude: (path) => path.includes("node_modules") })
    .toSorted()
    .map((path) => [path, readFileSync(join(root, path), "utf8")])

const code = at("{packages,test,examples}/**/*.{ts,mjs,sql,http}")
const pages = at("*.md", "{packages,test,examples}/**/*.md")

/** GitHub's anchors of a page's headings. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text.matchAll(/^#+ (?<heading>.*)$/gmu).map(({ groups }) =>
      (groups?.["heading"] ?? "")
        .toLowerCase()
        .replaceAll(/[^a-z0-9 _-]/gu, "")
        .replaceAll(" ", "-")
    )
  )

/** Whether a page of the project exists, and its heading if one is named. */
const isThere = (path: string, anchor: string | undefined): boolean =>
  existsSync(join(root, path)) &&
  (anchor === undefined || anchorsOf(readFileSync(join(root, path), "utf8")).has(anchor))

const docs = ["packages/engine-core", "packages/http-host", "packages/storage-adapters"]
const citation = /(?<![\w./-])(?<page>docs\/[A-Za-z0-9/-]+\.md)(?:#(?<anchor>[a-z0-9-]+))?/gu
const link = /\]\((?<to>[^)#\s]*)(?:#(?<anchor>[^)\s]+))?\)/gu

/** Names of specification documents, which readers of the repository do not have. */
const elsewhere =
  /(?<![\w./-])(?:contract|domain|routes|ledger|house|api-v1)\.md|(?<!RFC \d{4} )\bsections? \d/u

describe("citations", () => {
  it("of code name a page and a heading of docs/ of one package", () => {
    const dead = code.flatMap(([path, text]) =>
      text
        .matchAll(citation)
        .filter(
          ({ groups }) =>
            !docs.some((home) => isThere(`${home}/${groups?.["page"]}`, groups?.["anchor"]))
        )
        .map(([cited]) => `${path}: ${cited}`)
        .toArray()
    )
    expect(dead).toEqual([])
  })

  it("of pages lead to a file and a heading of the project", () => {
    const dead = pages.flatMap(([path, text]) =>
      text
        .matchAll(link)
        .filter(({ groups }) => !/^(?:https?|mailto):/u.test(groups?.["to"] ?? ""))
        .filter(({ groups }) => {
          const to = decodeURI(groups?.["to"] ?? "")
          const target = to === "" ? path : relative(root, join(root, dirname(path), to))
          return !isThere(target, groups?.["anchor"])
        })
        .map(([cited]) => `${path}: ${cited}`)
        .toArray()
    )
    expect(dead).toEqual([])
  })

  it("name only documents that the repository has", () => {
    const named = [...code, ...pages].flatMap(([path, text]) =>
      text
        .split("\n")
        .flatMap((line, index) => (elsewhere.test(line) ? [`${path}:${index + 1}: ${line}`] : []))
    )
    expect(named).toEqual([])
  })

  it("never leave a page of rules out of its table of contents", () => {
    const missing = [
      "packages/engine-core/docs/domain",
      "packages/http-host/docs/contract"
    ].flatMap((folder) => {
      const contents = readFileSync(join(root, folder, "README.md"), "utf8")
      return globSync("*.md", { cwd: join(root, folder) }).filter(
        (page) => page !== "README.md" && !contents.includes(`](${page})`)
      )
    })
    expect(missing).toEqual([])
  })
})
