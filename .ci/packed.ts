/**
 * Packs the built packages and installs them, with effect beside them, in a folder:
 * `node .ci/packed.ts <folder> [arguments of npm install]`.
 */
import { execFileSync } from "node:child_process"
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  existsSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

export const packages = ["engine-core", "storage-adapters", "http-host"] as const

/** Runs npm in a folder and returns what it printed. */
export const npm = (cwd: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("npm", [...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })

/** A package of the workspace's own manifest, by its name and the version that it has there. */
export const versioned = (name: string): string => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  return `${name}@${devDependencies[name]}`
}

/** Installs the packed packages and effect in a folder, which is made where it is not there. */
export const install = (folder: string, ...args: ReadonlyArray<string>): void => {
  mkdirSync(folder, { recursive: true })
  const manifest = join(folder, "package.json")
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true, "type": "module" }\n')
  const packed = mkdtempSync(join(tmpdir(), "bursar-packed-"))
  try {
    for (const name of packages) {
      npm(root, "pack", `./packages/${name}/dist`, "--pack-destination", packed, "--silent")
    }
    const tarballs = readdirSync(packed).map((file) => join(packed, file))
    // Install scripts stay off: the only ones are those of the embedded database's programs.
    const fixed = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", "--silent"]
    npm(folder, "install", ...fixed, ...args, ...tarballs, versioned("effect"))
  } finally {
    rmSync(packed, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const [folder, ...args] = process.argv.slice(2)
  if (folder === undefined) throw new Error("name the folder to install in")
  install(folder, ...args)
}
