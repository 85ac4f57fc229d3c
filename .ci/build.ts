/** Builds what is published: each package as ESM with its types, in its dist folder, ready to pack. */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** In the order in which they need each other. */
export const packages = ["engine-core", "storage-adapters", "http-host"] as const

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"))

/** `./src/a/B.ts` in the sources is `./a/B.js` in what is built. */
const built = (source: string, extension: ".js" | ".d.ts"): string =>
  source.replace(/^\.\/src\//, "./").replace(/\.ts$/, extension)

/** Where the compiler finds the packages that are built already: their types, not their sources. */
const paths = (): Readonly<Record<string, ReadonlyArray<string>>> =>
  Object.fromEntries(
    packages.flatMap((name) => {
      const { name: called, exports } = manifestOf(name)
      const dist = `./${join("packages", name, "dist")}`
      const entries = Object.entries(exports).map(([entry, source]) => [
        called + entry.slice(1),
        [`${dist}/${built(source, ".d.ts")}`]
      ])
      // By this a declaration names a type that no entry exports by a name of its own.
      return [...entries, [`${called}/*.js`, [`${dist}/*.d.ts`]]]
    })
  )

const emitted = join("dist", ".emitted")

const compile = (name: string): void => {
  const config = join(root, `tsconfig.${name}.json`)
  writeFileSync(
    config,
    JSON.stringify({
      extends: "./tsconfig.json",
      compilerOptions: {
        noEmit: false,
        declaration: true,
        // The sources may read their own package.json, which lies above them.
        outDir: `./packages/${name}/${emitted}`,
        rootDir: `./packages/${name}`,
        paths: paths()
      },
      include: [`packages/${name}/src`]
    })
  )
  try {
    const { status } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", config], {
      cwd: root,
      stdio: "inherit"
    })
    if (status !== 0) throw new Error(`${name} does not compile`)
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

/**
 * The compiler leaves a declaration's imports as the sources wrote them, and what is built lies one
 * folder nearer to its package.json than the sources do.
 */
const mend = (dist: string): void => {
  for (const file of filesOf(dist)) {
    const text = readFileSync(file, "utf8")
    const mended = (
      file.endsWith(".d.ts") ? text.replaceAll(/(["'])(\.{1,2}\/[^"']*)\.ts\1/g, "$1$2.js$1") : text
    ).replaceAll('"../package.json"', '"./package.json"')
    if (mended !== text) writeFileSync(file, mended)
  }
}

/** What is not compiled but belongs to the package: its data, its licence, its words. */
const copyRest = (name: string, dist: string): void => {
  const folder = join(root, "packages", name)
  const source = join(folder, "src")
  for (const file of filesOf(source).filter((one) => !one.endsWith(".ts"))) {
    cpSync(file, join(dist, relative(source, file)))
  }
  for (const file of ["README.md", "openapi.json"].map((one) => join(folder, one))) {
    if (existsSync(file)) cpSync(file, join(dist, relative(folder, file)))
  }
  cpSync(join(root, "LICENSE"), join(dist, "LICENSE"))
}

const writeManifest = (name: string, dist: string): void => {
  const manifest = manifestOf(name)
  const entries = Object.fromEntries(
    Object.entries(manifest.exports).map(([entry, source]) => [
      entry,
      { types: built(source, ".d.ts"), default: built(source, ".js") }
    ])
  )
  const mapped = {
    ...manifest,
    exports: {
      ...entries,
      // Declarations may name what lies inside; a program that runs may not import it.
      "./*.js": { types: "./*.d.ts" }
    },
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
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(mapped, null, 2)}\n`)
}

for (const name of packages) {
  const dist = join(root, "packages", name, "dist")
  rmSync(dist, { recursive: true, force: true })
  compile(name)
  mend(dist)
  copyRest(name, dist)
  writeManifest(name, dist)
  console.log(`built ${relative(root, dist)}`)
}
