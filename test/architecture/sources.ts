/** Sources of the packages, and the imports of each, parsed from their text. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, normalize, relative } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../..", import.meta.url))

export interface Import {
  readonly specifier: string
  /** A type import is gone when the code runs. */
  readonly kind: "type" | "value"
  /** The names in braces. */
  readonly names: ReadonlyArray<string>
}

export interface Source {
  /** From the root of the project, with slashes. */
  readonly path: string
  readonly text: string
  readonly imports: ReadonlyArray<Import>
}

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//gu, "").replaceAll(/^\s*\/\/.*$/gmu, "")

const statement =
  /^[ \t]*(?:import|export)\b(?<type>\s+type\b(?=\s*[{*]|\s+\w+\s+from))?(?<what>[^;"'=()]*?)\bfrom\s*["'](?<from>[^"']+)["']/gmu
const bare = /^[ \t]*import\s*["'](?<from>[^"']+)["']/gmu
const dynamic = /\bimport\(\s*["'](?<from>[^"']+)["']\s*\)/gu

/** The names a clause takes, by what they are called where they come from. */
const namesIn = (clause: string): ReadonlyArray<string> =>
  (/\{(?<names>[\s\S]*)\}/u.exec(clause)?.groups?.["names"] ?? "")
    .split(",")
    .map(
      (name) =>
        name
          .trim()
          .replace(/^type\s+/u, "")
          .split(/\s+as\s+/u)[0] ?? ""
    )
    .filter((name) => name !== "")

export const importsOf = (text: string): ReadonlyArray<Import> => {
  const plain = withoutComments(text)
  const from = (groups: Record<string, string | undefined> | undefined) => groups?.["from"] ?? ""
  return [
    ...plain.matchAll(statement).map(
      ({ groups }): Import => ({
        specifier: from(groups),
        kind: groups?.["type"] === undefined ? "value" : "type",
        names: namesIn(groups?.["what"] ?? "")
      })
    ),
    ...plain
      .matchAll(bare)
      .map(({ groups }): Import => ({ specifier: from(groups), kind: "value", names: [] })),
    ...plain
      .matchAll(dynamic)
      .map(({ groups }): Import => ({ specifier: from(groups), kind: "value", names: [] }))
  ]
}

export const sources: ReadonlyArray<Source> = globSync("packages/*/src/**/*.ts", { cwd: root })
  .toSorted()
  .map((path) => {
    const text = readFileSync(join(root, path), "utf8")
    return { path, text, imports: importsOf(text) }
  })

const packages: Readonly<Record<string, { readonly folder: string; readonly exports: object }>> =
  Object.fromEntries(
    globSync("packages/*/package.json", { cwd: root }).map((path) => {
      const { exports, name } = JSON.parse(readFileSync(join(root, path), "utf8"))
      return [name, { folder: dirname(path), exports }]
    })
  )

/** `#core/` of the tests, `#demo/` of the examples, and the folder of sources that each leads to. */
const aliases: ReadonlyArray<readonly [alias: string, folder: string]> = [
  "test/package.json",
  "examples/package.json"
]
  .flatMap((path) =>
    Object.entries(JSON.parse(readFileSync(join(root, path), "utf8")).imports as object)
  )
  .map(([alias, target]) => {
    const [name = "", inside = ""] = String(target).split(/(?<=^@bursar\/[a-z-]+)\//u)
    return [alias.replace("*", ""), join(packages[name]?.folder ?? "", inside.replace("*", ""))]
  })

/** The file of the project that an import names, or null for a package from outside. */
export const fileOf = (from: string, specifier: string): string | null => {
  if (specifier.startsWith(".")) return normalize(join(dirname(from), specifier))
  const alias = aliases.find(([alias]) => specifier.startsWith(alias))
  if (alias !== undefined) return join(alias[1], specifier.slice(alias[0].length))
  const name = specifier.split("/").slice(0, 2).join("/")
  const target = packages[name]
  if (target === undefined) return null
  const entry = Object.entries(target.exports).find(
    ([key]) => key === `.${specifier.slice(name.length)}`
  )
  return entry === undefined ? null : normalize(join(target.folder, String(entry[1])))
}

export const isThere = (path: string): boolean => existsSync(join(root, path))

/** `engine-core` of `packages/engine-core/src/kernel/Decimal.ts`, and what follows `src/`. */
export const placeOf = (path: string): { readonly home: string; readonly inside: string } => {
  const home = path.split("/")[1] ?? ""
  return { home, inside: relative(`packages/${home}/src`, path) }
}
