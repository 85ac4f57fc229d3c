/** Builds what is published: each package as ESM with its types, in its dist folder, ready to pack. */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, extname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { parseAst } from "rolldown/parseAst"
import { buildIfStale } from "../packages/http-host/scripts/console.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** In the order in which they need each other. */
export const packages = ["engine-core", "storage-adapters", "http-host"] as const

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string>>
  /** Modules that differ by the platform: by their name the condition and the source, or a package. */
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly bin?: Readonly<Record<string, string>>
  /** False, or the files that do something when they are loaded. */
  readonly sideEffects: false | ReadonlyArray<string>
  readonly [field: string]: unknown
}

/** The export by which the project's tests import any source (`#core/…`); it is not published. */
const sourcesEntry = "./src/*"

/** The manifest of a package in the workspace, with the entries that are published. */
const manifestOf = (name: string): Manifest => {
  const manifest: Manifest = JSON.parse(
    readFileSync(join(root, "packages", name, "package.json"), "utf8")
  )
  const { [sourcesEntry]: _, ...exports } = manifest.exports
  return { ...manifest, exports }
}

/** `./src/a/B.ts` in the sources is `./a/B.js` in what is built. */
const built = (source: string, extension: ".js" | ".d.ts"): string =>
  source.replace(/^\.\/src\//, "./").replace(/\.ts$/, extension)

/** Compiler paths of the packages already built: their declarations, not their sources. */
const paths = (): Readonly<Record<string, ReadonlyArray<string>>> =>
  Object.fromEntries(
    packages.flatMap((name) => {
      const { name: called, exports } = manifestOf(name)
      const dist = `./${join("packages", name, "dist")}`
      const entries = Object.entries(exports).map(([entry, source]) => [
        called + entry.slice(1),
        [`${dist}/${built(source, ".d.ts")}`]
      ])
      // By this the compiler finds what no entry exports under the file's own name; `named` mends it.
      return [...entries, [`${called}/*.js`, [`${dist}/*.d.ts`]]]
    })
  )

const distOf = (name: string): string => join(root, "packages", name, "dist")

const emitted = join("dist", ".emitted")

/**
 * Programs without comments or maps, since what is packed has no sources; the comments of what is exported
 * are in the declarations, and all others in the repository.
 */
const outputs = [
  ["--declaration", "--emitDeclarationOnly"],
  ["--removeComments", "--noCheck"]
] as const

const compile = (name: string): void => {
  const config = join(root, `tsconfig.${name}.json`)
  writeFileSync(
    config,
    JSON.stringify({
      extends: "./tsconfig.json",
      compilerOptions: {
        noEmit: false,
        rewriteRelativeImportExtensions: true,
        // The sources may read their own package.json, which lies above them.
        outDir: `./packages/${name}/${emitted}`,
        rootDir: `./packages/${name}`,
        paths: paths()
      },
      include: [`packages/${name}/src`]
    })
  )
  try {
    for (const output of outputs) {
      const { status } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", config, ...output], {
        cwd: root,
        stdio: "inherit"
      })
      if (status !== 0) throw new Error(`${name} does not compile`)
    }
    const folder = join(root, "packages", name)
    cpSync(join(folder, emitted, "src"), join(folder, "dist"), { recursive: true })
  } finally {
    rmSync(join(root, "packages", name, emitted), { recursive: true, force: true })
    rmSync(config)
  }
}

const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : []
  )

/** The compiler indents by four. */
const narrowed = (text: string): string =>
  text.replaceAll(/^(?: {4})+/gm, (indent) => " ".repeat(indent.length / 2))

/** Syntax tree of a program without places: what it says, whatever its layout. */
const meaningOf = (text: string): string =>
  JSON.stringify(parseAst(text), (key, value: unknown) => {
    if (key === "start" || key === "end") return undefined
    return typeof value === "bigint" ? `${value}n` : value
  })

/** A program indented by two; as it is, where a text over several lines would change by that. */
const program = (text: string): string => {
  const narrow = narrowed(text)
  return meaningOf(narrow) === meaningOf(text) ? narrow : text
}

/**
 * The compiler leaves a declaration's imports as the sources wrote them; what is built lies one folder nearer
 * to its package.json than the sources do.
 */
const mend = (dist: string): void => {
  for (const file of filesOf(dist)) {
    const text = readFileSync(file, "utf8")
    const mended = (
      file.endsWith(".d.ts")
        ? narrowed(named(text.replaceAll(/(["'])(\.{1,2}\/[^"']*)\.ts\1/g, "$1$2.js$1"), file))
        : file.endsWith(".js")
          ? program(text)
          : text
    ).replaceAll('"../package.json"', '"./package.json"')
    if (mended !== text) writeFileSync(file, mended)
  }
}

const inside = /import\("(@bursar\/[a-z-]+)\/([^"]+)\.js"\)\.([A-Za-z]+)/g

/**
 * The compiler names a type of another package by the file that declares it, which nobody outside may
 * import; it is named by the entry that exports it instead. One that no entry exports is a fault.
 */
const named = (text: string, file: string): string =>
  text.replaceAll(inside, (whole, called: string, declared: string, type: string) => {
    const found = ways(called).find(({ file }) => shows(called, file, { declared, type }))
    if (found === undefined) throw new Error(`${file} names ${whole}: no entry exports it`)
    return `import("${found.entry}").${found.as}.${type}`
  })

const namespace = /^export (?:type )?\* as (\w+) from "\.\/([^"]+)\.js";/gm

/** Every module that an entry of a package exports under a name, by the entry and the name. */
const ways = (called: string) => {
  const name = called.slice("@bursar/".length)
  return Object.entries(manifestOf(name).exports).flatMap(([entry, source]) => {
    const index = built(source, ".d.ts").slice("./".length)
    return [...readFileSync(join(distOf(name), index), "utf8").matchAll(namespace)].map(
      ([, as = "", from = ""]) => ({
        entry: called + entry.slice(1),
        as,
        file: join(dirname(index), from)
      })
    )
  })
}

/** Whether a module declares a type, or re-exports it, by its name or with all others, from the file that does. */
const shows = (
  called: string,
  module: string,
  { declared, type }: { readonly declared: string; readonly type: string }
): boolean => {
  if (module === declared) return true
  const text = readFileSync(join(distOf(called.slice("@bursar/".length)), `${module}.d.ts`), "utf8")
  return [...text.matchAll(/^export (?:type )?(?:\{([^}]*)\}|\*) from "([^"]+)\.js";/gm)].some(
    ([, names = type, from = ""]) =>
      join(dirname(module), from) === declared && names.split(/[\s,]+/).includes(type)
  )
}

const imported = /(?:\bfrom\s+|\bimport\(?\s*)"(\.[^"]+)\.js"/g

/**
 * Deletes the declarations that no entry leads to: the compiler writes one for each module, and nobody
 * outside can import most of them.
 */
const prune = (name: string, dist: string): void => {
  const reached = new Set<string>()
  const waiting = Object.values(manifestOf(name).exports).map((source) =>
    join(dist, built(source, ".d.ts"))
  )
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    const folder = dirname(file)
    for (const [, from = ""] of readFileSync(file, "utf8").matchAll(imported)) {
      waiting.push(join(folder, `${from}.d.ts`))
    }
  }
  for (const file of filesOf(dist)) {
    if (file.endsWith(".d.ts") && !reached.has(file)) rmSync(file)
  }
}

/** Pages for whoever changes the package, which stay in the repository. */
const unpacked = [
  "ARCHITECTURE.md",
  "HACKING.md",
  "STYLE.md",
  "benchmarks.md",
  "performance.md",
  "decisions"
].map((name) => join("docs", name))

/** Copies the files that are not compiled: data, licence and pages, whose links to what is not packed lead to the repository. */
const copyRest = (name: string, dist: string): void => {
  const folder = join(root, "packages", name)
  const source = join(folder, "src")
  for (const file of filesOf(source).filter((path) => !/\.(ts|md)$/.test(path))) {
    cpSync(file, join(dist, relative(source, file)))
  }
  for (const path of ["README.md", "openapi.json", "docs", "operate"].map((each) =>
    join(folder, each)
  )) {
    const filter = (from: string) => !unpacked.includes(relative(folder, from))
    if (existsSync(path))
      cpSync(path, join(dist, relative(folder, path)), { recursive: true, filter })
  }
  const repository = String(manifestOf(name)["homepage"]).replace(/#.*$/, "")
  for (const page of filesOf(dist).filter((path) => path.endsWith(".md"))) {
    const text = readFileSync(page, "utf8")
    const linked = text.replaceAll(/\]\((?![a-z]+:)([^)#]+)([^)]*)\)/g, (link, path, anchor) => {
      const to = relative(dist, join(dirname(page), decodeURI(path)))
      return existsSync(join(dist, to)) || !existsSync(join(folder, to))
        ? link
        : `](${repository}/${to}${anchor})`
    })
    if (linked !== text) writeFileSync(page, linked)
  }
  for (const file of ["LICENSE", "NOTICE"]) cpSync(join(root, file), join(dist, file))
}

/** The manifest's `files`: every folder, and a pattern for each extension of files beside them. */
const filesField = (dist: string): ReadonlyArray<string> =>
  [
    ...new Set(
      readdirSync(dist, { withFileTypes: true }).map((entry) =>
        entry.isFile() && entry.name.includes(".") ? `*${extname(entry.name)}` : entry.name
      )
    )
  ].toSorted()

const builtImports = (imports: NonNullable<Manifest["imports"]>) =>
  Object.fromEntries(
    Object.entries(imports).map(([name, targets]) => [
      name,
      Object.fromEntries(
        Object.entries(targets).map(([condition, target]) => [
          condition,
          target.startsWith("./src/") ? built(target, ".js") : target
        ])
      )
    ])
  )

const writeManifest = (name: string, dist: string): void => {
  const manifest = manifestOf(name)
  const entries = Object.fromEntries(
    Object.entries(manifest.exports).map(([entry, source]) => [
      entry,
      { types: built(source, ".d.ts"), default: built(source, ".js") }
    ])
  )
  const packed = {
    ...manifest,
    exports: { ...entries, "./package.json": "./package.json" },
    sideEffects: manifest.sideEffects && manifest.sideEffects.map((source) => built(source, ".js")),
    files: filesField(dist),
    ...(manifest.imports === undefined ? {} : { imports: builtImports(manifest.imports) }),
    ...(manifest.bin === undefined
      ? {}
      : {
          bin: Object.fromEntries(
            Object.entries(manifest.bin).map(([command, source]) => [command, built(source, ".js")])
          )
        })
  }
  for (const target of Object.values(entries)) {
    for (const file of Object.values(target)) {
      if (!existsSync(join(dist, file))) throw new Error(`${name} exports ${file}: there is none`)
    }
  }
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(packed, null, 2)}\n`)
}

for (const name of packages) {
  const dist = distOf(name)
  rmSync(dist, { recursive: true, force: true })
  compile(name)
  mend(dist)
  copyRest(name, dist)
  if (name === "http-host") await buildIfStale()
  writeManifest(name, dist)
  console.log(`built ${relative(root, dist)}`)
}
// Last: a package names types of an earlier one by any of its declarations until they have an entry's name.
for (const name of packages) prune(name, distOf(name))
