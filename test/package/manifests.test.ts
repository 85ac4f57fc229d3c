/** Manifest and pages of each package, with the licences of the works that it contains. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, relative } from "node:path"
import { describe, expect, it } from "vitest"
import { root, sources } from "../architecture/sources.ts"

interface Manifest {
  readonly name: string
  readonly description: string
  readonly license: string
  readonly repository: { readonly url: string; readonly directory: string }
  readonly homepage: string
  readonly bugs: { readonly url: string }
  readonly keywords: ReadonlyArray<string>
  readonly exports: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly sideEffects: false | ReadonlyArray<string>
}

const text = (path: string): string => readFileSync(join(root, path), "utf8")
const folders = globSync("packages/*/package.json", { cwd: root }).map(dirname).toSorted()
const manifest = (folder: string): Manifest => JSON.parse(text(join(folder, "package.json")))

/** A statement that does something as soon as its file is loaded, rather than declare what it is. */
const acts = /^(?:await |void |[A-Za-z_$][\w$]*(?:\.[\w$]+)+\()/mu

describe.each(folders)("%s", (folder) => {
  const declared = manifest(folder)

  it("says where it comes from, where faults are told, and by which words it is found", () => {
    const { bugs, description, homepage, keywords, license, repository } = declared
    expect(repository.directory).toBe(folder)
    const at = /^git\+(https:\/\/.+)\.git$/u.exec(repository.url)?.[1]
    expect(homepage).toBe(`${at}/tree/main/${folder}#readme`)
    expect(bugs.url).toBe(`${at}/issues`)
    expect([license, description === ""]).toEqual(["Apache-2.0", false])
    expect(keywords.length).toBeGreaterThan(4)
    expect(new Set(keywords).size).toBe(keywords.length)
  })

  it("names every file of its own that does something when it is loaded", () => {
    const acting = sources
      .filter(({ path, text }) => path.startsWith(`${folder}/`) && acts.test(text))
      .map(({ path }) => `./${relative(folder, path)}`)
    expect(declared.sideEffects === false ? [] : [...declared.sideEffects].toSorted()).toEqual(
      acting
    )
  })

  it("has a README that tells each of its entries and commands", () => {
    const readme = text(join(folder, "README.md"))
    // The sources are exported to the project's tests alone: the build leaves them out.
    for (const entry of Object.keys(declared.exports).filter((entry) => entry !== "./src/*")) {
      expect(readme).toContain(`\`${declared.name}${entry.slice(1)}\``)
    }
    for (const command of Object.keys(declared.bin ?? {}))
      expect(readme).toContain(`\`${command} --help\``)
  })

  it("links only to what is packed with it", () => {
    // The packed folder has the README and docs where the sources have them; a link to a source leads
    // to the repository there.
    const packed = /^(README\.md|openapi\.json|(docs|operate|src)(\/|$))/u
    const pages = globSync("{README.md,docs/**/*.md,src/**/*.md}", { cwd: join(root, folder) })
    expect(pages.length).toBeGreaterThan(0)
    const lost = pages.flatMap((page) =>
      [...text(join(folder, page)).matchAll(/\]\((?<to>[^)#]+)(?:#[^)]*)?\)/gu)]
        .map(({ groups }) => decodeURI(groups?.["to"] ?? ""))
        .filter((to) => !/^[a-z]+:/u.test(to))
        .map((to) => join(dirname(page), to))
        .filter((to) => !packed.test(to) || !existsSync(join(root, folder, to)))
        .map((to) => `${page}: ${to}`)
    )
    expect(lost).toEqual([])
  })
})

describe("NOTICE", () => {
  const notice = text("NOTICE")

  it("names the viewer at /docs in the version that is served", () => {
    const effect = dirname(createRequire(import.meta.url).resolve("effect/package.json"))
    const viewer = readFileSync(join(effect, "dist/http-api/internal/httpApiScalar.js"), "utf8")
    const served = /\/npm\/(@scalar\/api-reference)@([0-9.]+)\//u.exec(viewer)
    expect(served).not.toBeNull()
    expect(notice).toContain(`${served?.[1]} ${served?.[2]}`)
  })

  it("names every table of figures that the examples carry, and where it comes from", () => {
    const tables = globSync("examples/**/*.csv", { cwd: root })
    expect(tables).toEqual(["examples/demo/buidl-i.csv"])
    for (const table of tables) {
      expect(notice).toContain(table)
      const origin = /repository (\S+\/\S+?);/u.exec(text(table))?.[1]
      expect(notice).toContain(`github.com/${origin}`)
    }
  })
})
