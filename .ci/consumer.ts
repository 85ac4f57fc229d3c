/** Packs the built packages and uses them as anybody would: installed, type-checked and run elsewhere. */
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { install, npm, packages, versioned } from "./packed.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), "bursar-consumer-"))

const filesOf = (within: string): ReadonlyArray<string> =>
  readdirSync(within, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : []
  )

/** Targets of links in pages and of source maps that are missing from the package. */
const faultsOf = (within: string): ReadonlyArray<string> => {
  const files = filesOf(within)
  const links = files
    .filter((file) => file.endsWith(".md"))
    .flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
        .map(([, link = ""]) => link)
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => [file, decodeURI(link)] as const)
    )
  const maps = files
    .filter((file) => file.endsWith(".map"))
    .flatMap((file) =>
      JSON.parse(readFileSync(file, "utf8")).sources.map(
        (source: string) => [file, source] as const
      )
    )
  const needed = ["README.md", "LICENSE", "NOTICE"].map(
    (name) => [join(within, "package.json"), name] as const
  )
  return [
    ...[...links, ...maps, ...needed].filter(([file, to]) => !existsSync(join(dirname(file), to))),
    ...(maps.length === 0 || links.length === 0 ? [[within, "maps and links"] as const] : [])
  ].map(([file, to]) => `${file} leads to ${to}, which is not packed`)
}

try {
  cpSync(join(root, "test", "package", "consumer"), folder, { recursive: true })
  // The page's program, which is checked without Node's types.
  cpSync(join(root, "test", "package", "browser", "page.ts"), join(folder, "page.ts"))
  install(folder, ...["typescript", "@types/node"].map(versioned))
  const faults = packages.flatMap((name) => faultsOf(join(folder, "node_modules", "@bursar", name)))
  if (faults.length > 0) throw new Error(faults.join("\n"))
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
