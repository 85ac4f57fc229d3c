/**
 * Builds the venue console into dist/console where its sources have changed since the last build: hashed
 * names, an encoded form beside each file, and the licences of what is bundled.
 */
import { createHash } from "node:crypto"
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import type { Plugin } from "vite"
import { type Document, schemasOf, tableOf } from "./console-interface.ts"

const folder = fileURLToPath(new URL("..", import.meta.url))
const repository = join(folder, "..", "..")
const sources = join(folder, "console")
/** Where the host finds it. */
export const built = join(folder, "dist", "console")

const document = (): Document => JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8"))

/** Digest of all that decides what is built: sources, the plain client, the interface, exact versions. */
const digestOf = (): string => {
  const digest = createHash("sha256")
  const files = [
    ...globSync("packages/http-host/console/**/*", { cwd: repository, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(repository, join(entry.parentPath, entry.name))),
    ...globSync("packages/http-host/src/{plain-client,client}/*.ts", { cwd: repository }),
    ...globSync("packages/http-host/scripts/console*.ts", { cwd: repository }),
    "packages/http-host/src/plain-client.ts",
    "packages/http-host/openapi.json",
    "package-lock.json"
  ]
  for (const file of files.toSorted()) {
    const bytes = readFileSync(join(repository, file))
    digest.update(`${file} ${bytes.length}\n`).update(bytes)
  }
  return digest.digest("hex")
}

/** Modules of the interface's table, made of openapi.json. */
const interfaceTable = (): Plugin => {
  const modules: Readonly<Record<string, () => unknown>> = {
    "virtual:interface": () => tableOf(document()),
    "virtual:requests": () => schemasOf(document())
  }
  return {
    name: "interface",
    resolveId: (id) => (Object.hasOwn(modules, id) ? `\0${id}` : undefined),
    load: (id) => {
      const made = modules[id.slice(1)]
      // A text that is parsed is read faster than an object of the program.
      return made === undefined
        ? undefined
        : `export default JSON.parse(${JSON.stringify(JSON.stringify(made()))})`
    }
  }
}

interface Licensed {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly text: string
}

const licenceOf = (root: string): Licensed => {
  const { license, name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const [file] = globSync("{LICENSE,LICENCE,license}*", { cwd: root })
  if (file === undefined) throw new Error(`${name} has no file of its licence`)
  return { name, version, license, text: readFileSync(join(root, file), "utf8").trim() }
}

/** Root of the package that a module is of; null: it is the project's own. */
const packageOf = (id: string): string | null => {
  const [path = ""] = id.replace(/^\0/u, "").split("?")
  const at = path.lastIndexOf("/node_modules/")
  if (at < 0) return null
  const [scope = "", name = ""] = path.slice(at + "/node_modules/".length).split("/")
  return (
    path.slice(0, at + "/node_modules/".length) +
    (scope.startsWith("@") ? `${scope}/${name}` : scope)
  )
}

const licences = (): Plugin => ({
  name: "licences",
  generateBundle(_, bundle) {
    const roots = Object.values(bundle).flatMap((part) =>
      part.type === "chunk" ? Object.keys(part.modules).map(packageOf) : []
    )
    const all = [...new Set(roots.filter((root) => root !== null))]
      .map(licenceOf)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const text = all
      .map(({ license, name, text, version }) => `${name} ${version} (${license})\n\n${text}\n`)
      .join(`\n${"-".repeat(72)}\n\n`)
    this.emitFile({
      type: "asset",
      fileName: "licences.txt",
      source: `The venue console contains these works of others.\n\n${text}`
    })
  }
})

/**
 * Chunk of a module by its area: the client of the API; every other by its import. A chunk that is named
 * takes what its modules import with it: a drawing of the pages would take their parts into the first load.
 */
const chunks = [{ name: "engine", test: /\/src\/(?:plain-client|client)\b/u }]

const bundle = async (outDir: string): Promise<void> => {
  const { build } = await import("vite")
  await build({
    configFile: false,
    root: sources,
    base: "./",
    logLevel: "warn",
    publicDir: false,
    resolve: { conditions: ["browser", "module", "import", "default"] },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    plugins: [interfaceTable(), licences()],
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2024",
      modulePreload: { polyfill: false },
      // A file in the page would need a leave of its own in the policy.
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: {
        output: { codeSplitting: { groups: chunks } }
      }
    }
  })
}

const encode = (outDir: string): void => {
  for (const entry of globSync("**/*.{js,css,svg,txt}", { cwd: outDir })) {
    const file = join(outDir, entry)
    const bytes = readFileSync(file)
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length
    }
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
  }
}

/** Name of the file that has the digest of what was built; the host serves no file of this kind. */
const digestFile = "sources.sha256"

/** Builds where the digest of the sources is another than that of the last build. */
export const buildIfStale = async (): Promise<"built" | "current"> => {
  const digest = digestOf()
  const last = join(built, digestFile)
  if (existsSync(last) && readFileSync(last, "utf8") === digest) return "current"
  // Built beside its place and renamed, so that a host never finds half of it.
  mkdirSync(dirname(built), { recursive: true })
  const made = mkdtempSync(join(dirname(built), "console-"))
  try {
    await bundle(made)
    encode(made)
    writeFileSync(join(made, digestFile), digest)
    rmSync(built, { recursive: true, force: true })
    renameSync(made, built)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
  return "built"
}

if (import.meta.main) console.log(`the venue console is ${await buildIfStale()}`)
