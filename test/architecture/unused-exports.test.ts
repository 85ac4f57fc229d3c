/** No exported name is without an importer: what nobody imports is private to its file, or is not there. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { fileOf, root, sources } from "./sources.ts"

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//gu, "").replaceAll(/^\s*\/\/.*$/gmu, "")

/** Every program of the project: packages, their scripts, examples, tests and what judges a change. */
const programs = globSync(
  ["packages/*/{src,scripts}/**/*.ts", "examples/**/*.ts", "test/**/*.ts", ".ci/*.ts"],
  { cwd: root }
)
  .filter((path) => !path.includes("node_modules"))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))

/** Classes stay exported where nobody imports them: declarations of other files name them. */
const values = /^export (?:const|let|function\*?) (?<name>[\w$]+)/gmu
const types = /^export (?:interface|type) (?<name>[\w$]+)/gmu
/** Types that the declarations of other files name, as the compiler infers them: a build needs their names. */
const inferred = new Set([
  "AnswerProgress",
  "HiddenRequest",
  "LiveMarket",
  "OpenOrderFilter",
  "OperationTypes",
  "PaidOrder",
  "ReadTypes",
  "ReversedTaking",
  "Subject",
  "SupposedPrice",
  "Supposition"
])
const dynamic = /\bimport\(\s*["'](?<from>[^"']+)["']\s*\)/gu
const clause =
  /^[ \t]*(?<keyword>import|export)\b(?:\s+type\b(?=\s*[{*]|\s+\w+\s+from))?(?<names>[^;"'=()]*?)\bfrom\s*["'](?<from>[^"']+)["']/gmu

/** Names that programs take from a file, by its path; `*` where a file passes on all of them. */
const taken = new Map<string, Set<string>>()
const takes = (path: string, name: string): void => {
  const names = taken.get(path) ?? new Set()
  taken.set(path, names.add(name))
}

for (const { path, text } of programs) {
  for (const { groups } of text.matchAll(dynamic)) {
    const file = fileOf(path, groups?.["from"] ?? "")
    if (file !== null) takes(file, "*")
  }
  for (const { groups } of text.matchAll(clause)) {
    const file = fileOf(path, groups?.["from"] ?? "")
    if (file === null) continue
    const names = groups?.["names"] ?? ""
    const space = /\*\s+as\s+(?<as>[\w$]+)/u.exec(names)?.groups?.["as"]
    if (names.includes("*") && groups?.["keyword"] === "export") takes(file, "*")
    else if (space !== undefined) {
      for (const [, member] of text.matchAll(new RegExp(`\\b${space}\\.([\\w$]+)`, "gu"))) {
        takes(file, member ?? "")
      }
      // Given on whole, as a table of the names in it is.
      if (new RegExp(`(?<!as )\\b${space}\\b(?!\\.)(?!\\s+from)`, "u").test(text)) takes(file, "*")
    }
    for (const [, name] of names.matchAll(/(?:\{|,)\s*(?:type\s+)?([\w$]+)/gu))
      takes(file, name ?? "")
  }
}

const namesOf = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  [...text.matchAll(pattern)].map(({ groups }) => groups?.["name"] ?? "")

/** Exported names that no program takes from their file, of those that a pattern finds. */
const unused = (
  pattern: RegExp,
  isKept: (name: string, text: string) => boolean
): ReadonlyArray<string> =>
  sources.flatMap(({ path, text }) => {
    const names = taken.get(path) ?? new Set<string>()
    if (names.has("*")) return []
    const plain = withoutComments(text)
    return namesOf(plain, pattern)
      .filter((name) => !names.has(name) && !isKept(name, plain))
      .map((name) => `${path} ${name}`)
  })

describe("an exported name", () => {
  it("never is a value without an importer", () => {
    // A schema and its type are one name.
    expect(unused(values, (name, text) => namesOf(text, types).includes(name))).toEqual([])
  })

  it("never is a type without an importer", () => {
    const isValue = (name: string, text: string) => namesOf(text, values).includes(name)
    expect(unused(types, (name, text) => inferred.has(name) || isValue(name, text))).toEqual([])
  })
})
