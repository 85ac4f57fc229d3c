/** Every cache has its row in the table of caches, and a switch that finds what it edits. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { edited, type Size, switches } from "../caches/switches.ts"
import { root, sources } from "./sources.ts"

const page = readFileSync(join(root, "packages/engine-core/docs/ARCHITECTURE.md"), "utf8")
const table = page.slice(page.indexOf("\n## Caches\n"), page.indexOf("\n## Which file to change"))
/** Files that the table names. */
const rows = [...table.matchAll(/`([a-z-]+\/src\/[^`]+\.ts)`/gu)].map(([, file]) => file ?? "")

/** A comment that names the pattern of what follows it. */
const declared = /\/\*\*[\s*]*(?:[A-Z]\w+ )?(?:cache[ds]?|memo|memoises|memoised)\b/iu

describe("a cache", () => {
  it("has its row in the table of caches, and each row its cache", () => {
    const found = sources
      .filter(({ text }) => declared.test(text))
      .map(({ path }) => path.replace("packages/", ""))
    expect(found.filter((file) => !rows.includes(file))).toEqual([])
    const written = sources.map(({ path }) => path.replace("packages/", ""))
    expect(rows.filter((file) => !written.includes(file))).toEqual([])
  })
})

describe("a switch of a cache", () => {
  const sizes: ReadonlyArray<Size> = ["off", "one entry"]
  it.each(switches)("finds what it edits in $file", (cache) => {
    expect(rows).toContain(cache.file)
    const source = readFileSync(join(root, "packages", cache.file), "utf8")
    for (const size of sizes) expect(edited(source, cache, size)).toBeTypeOf("string")
    expect(edited(source, cache, "off")).not.toBe(source)
  })

  it.each(switches)("puts no name into $file that it does not have", ({ file, off, one = [] }) => {
    const source = readFileSync(join(root, "packages", file), "utf8")
    const names = [...off, ...one].flatMap(({ by }) => by.match(/(?<![.\w])[a-z]\w+/giu) ?? [])
    const words = new Set(source.match(/\w+/gu))
    expect(names.filter((name) => !words.has(name))).toEqual([])
  })
})
