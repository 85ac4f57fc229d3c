/**
 * The console's sources: what each may import, where floats are, and that what a page shows is computed
 * without a browser.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { describe, expect, it } from "vitest"
import {
  type Document,
  schemasOf,
  tableOf
} from "../../packages/http-host/scripts/console-interface.ts"
import { importsOf, root } from "./sources.ts"

const document: Document = JSON.parse(
  readFileSync(new URL("../../packages/http-host/openapi.json", import.meta.url), "utf8")
)

const folder = "packages/http-host/console/src"

const sources = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root })
  .toSorted()
  .map((path) => {
    const text = readFileSync(join(root, path), "utf8")
    return { path, text, imports: importsOf(text) }
  })

/** Libraries that the build bundles; each is a development dependency of an exact version. */
const libraries: ReadonlyArray<string> = [
  "preact",
  "preact/hooks",
  "@preact/signals",
  "preact-iso",
  "preact-iso/router",
  "@tanstack/query-core",
  "oauth4webapi",
  "@github/hotkey",
  "@github/combobox-nav",
  "uplot",
  "temporal-polyfill"
]

/** What of the project's own runs in the page: the thin client, and the formulas alone. */
const ownAtRunTime: ReadonlyArray<string> = [
  "@bursar/http-host/plain-client",
  "@bursar/engine-core/verify",
  "virtual:interface",
  "virtual:requests"
]

/** Types of the modules that the build makes of the interface's description. */
const interfaceTypes = "packages/http-host/scripts/console-interface.ts"

/** The one file that binds the cache to signals. */
const cacheFile = `${folder}/reads/Cache.ts`

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//gu, "").replaceAll(/^\s*\/\/.*$/gmu, "")

describe("the sources of the console", () => {
  it("are there", () => {
    expect(sources.length).toBeGreaterThan(30)
  })

  it("import at run time their own files, the thin client, the formulas and listed libraries", () => {
    const allowed = new Set([...libraries, ...ownAtRunTime])
    const breaches = sources.flatMap(({ imports, path }) =>
      imports
        .filter(({ kind, specifier }) => {
          if (specifier.startsWith(".")) {
            const target = normalize(join(dirname(path), specifier))
            return !target.startsWith(`${folder}/`) && target !== interfaceTypes
          }
          // A type import is gone when the page runs.
          return !allowed.has(specifier) && !(kind === "type" && /^@bursar\//u.test(specifier))
        })
        .map(({ specifier }) => `${path} imports ${specifier}`)
    )
    expect(breaches).toEqual([])
  })

  it("never make a float of an amount: Number, parseFloat and formatting stay with the charts", () => {
    const floats =
      /\b(?:Number(?!\.isSafeInteger)|parseFloat|parseInt|NumberFormat|toFixed|toLocaleString)\b/u
    const breaches = sources
      .filter(({ path }) => !path.startsWith(`${folder}/chart/`))
      .filter(({ text }) => floats.test(withoutComments(text)))
      .map(({ path }) => path)
    expect(breaches).toEqual([])
  })

  it("have the table of the interface and the schema of each request, which the build reads off openapi.json", () => {
    const { reads, writes } = tableOf(document)
    expect(Object.keys(reads).length).toBeGreaterThan(60)
    const { components, requests } = schemasOf(document)
    expect(Object.keys(requests).toSorted()).toEqual(Object.keys(writes).toSorted())
    const named = [...JSON.stringify({ components, requests }).matchAll(/"\$ref":"([^"]+)"/gu)]
    const lost = named
      .map(([, reference = ""]) => reference.replace("#/components/schemas/", ""))
      .filter((name) => !Object.hasOwn(components, name))
    expect(lost).toEqual([])
  })

  it("bind the cache of reads in one file", () => {
    const binding = sources
      .filter(({ imports }) =>
        imports.some(({ specifier }) => specifier === "@tanstack/query-core")
      )
      .map(({ path }) => path)
    expect(binding.filter((path) => path !== cacheFile)).toEqual([])
  })

  it("keep nothing in the browser beyond the tab", () => {
    const keeping = sources
      .filter(({ text }) =>
        /\b(?:localStorage|indexedDB|document\.cookie)\b/u.test(withoutComments(text))
      )
      .map(({ path }) => path)
    expect(keeping).toEqual([])
  })

  it("write no markup as text: the policy of the page would refuse it", () => {
    const writing = sources
      .filter(({ text }) =>
        /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|eval|new Function)\b/u.test(
          withoutComments(text)
        )
      )
      .map(({ path }) => path)
    expect(writing).toEqual([])
  })

  it("say at their head what they are", () => {
    const silent = sources.filter(({ text }) => !/^\/\*\*/u.test(text)).map(({ path }) => path)
    expect(silent).toEqual([])
  })

  it("name libraries that are development dependencies of exact versions, and nobody's else", () => {
    const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).devDependencies
    const host = JSON.parse(readFileSync(join(root, "packages/http-host/package.json"), "utf8"))
    for (const library of libraries) {
      const [scope = "", name = ""] = library.split("/")
      const called = scope.startsWith("@") ? `${scope}/${name}` : scope
      expect([called, own[called]]).toEqual([called, expect.stringMatching(/^\d+\.\d+\.\d+$/u)])
      expect(Object.keys({ ...host.dependencies, ...host.optionalDependencies })).not.toContain(
        called
      )
    }
  })
})
