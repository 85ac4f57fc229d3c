/** Packs the built packages and uses them as anybody would: installed, type-checked and run elsewhere. */
import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), "bursar-consumer-"))

const npm = (cwd: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("npm", [...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })

const versionOf = (name: string): string => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  return `${name}@${devDependencies[name]}`
}

try {
  for (const name of ["engine-core", "storage-adapters", "http-host"]) {
    npm(root, "pack", `./packages/${name}/dist`, "--pack-destination", folder, "--silent")
  }
  const tarballs = readdirSync(folder).map((file) => `./${file}`)
  cpSync(join(root, "test", "package", "consumer"), folder, { recursive: true })
  // The database's programs are large and not what is asked here: their install script stays off.
  npm(
    folder,
    "install",
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
    "--ignore-scripts",
    "--silent",
    ...tarballs,
    ...["effect", "typescript", "@types/node"].map(versionOf)
  )
  // Every declaration is checked too, ours and those it leans on.
  execFileSync("npm", ["run", "--silent", "check"], { cwd: folder, stdio: "inherit" })
  const said = npm(folder, "run", "--silent", "start").trim()
  console.log(said)
  const { third, operations, entries } = JSON.parse(said)
  if (third !== "0.3333333333" || operations === 0 || entries !== true) {
    throw new Error("the packed packages answer something else")
  }
  const bin = join(folder, "node_modules", ".bin", "bursar")
  const document = execFileSync(process.execPath, [bin, "openapi"], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
  if (!document.startsWith("{")) throw new Error("the bin prints no document")
} finally {
  rmSync(folder, { recursive: true, force: true })
}
