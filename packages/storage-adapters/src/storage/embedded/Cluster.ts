/**
 * Database folder of the embedded PostgreSQL: made atomically, and cleared of a server that a
 * killed host left running.
 */
import { randomBytes } from "node:crypto"
import { chmod, chown, mkdir, readdir, readFile, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import * as DurableFiles from "../../node/DurableFiles.ts"
import type { Account } from "./Account.ts"
import type { Binaries } from "./Binaries.ts"
import { failed } from "./EmbeddedFailed.ts"
import * as Process from "./Process.ts"

export const USER = "bursar"
const PASSWORD = "bursar.password"
const UNFINISHED = "cluster.init-"
/** Name of the setting on the database's command line that identifies its host. */
export const HOST_SETTING = "bursar.host"
const STOP_FAST_MILLIS = 20_000
const STOP_MILLIS = 5_000

export const path = (dataFolder: string): string => join(dataFolder, "cluster")

/**
 * Path by which the programs reach the folder. The account may lack access to a parent folder, so
 * on Linux the process starts inside the folder and calls it `.`.
 */
export const nameOf = (cluster: string, account: Account): string =>
  account.switchTo !== null && process.platform === "linux" ? "/proc/self/cwd" : cluster

/**
 * Creates the database unless it exists, under a temporary name that is renamed once it is
 * complete.
 */
export const initialise = async ({
  dataFolder,
  account,
  binaries,
  signal
}: {
  readonly dataFolder: string
  readonly account: Account
  readonly binaries: Binaries
  readonly signal: AbortSignal
}): Promise<void> => {
  await mkdir(dataFolder, { recursive: true })
  await sweep(dataFolder)
  if (await isMade(path(dataFolder))) return
  const making = join(dataFolder, `${UNFINISHED}${process.pid}-${randomBytes(6).toString("hex")}`)
  const folder = join(making, "data")
  const password = randomBytes(24).toString("hex")
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await DurableFiles.write(join(making, PASSWORD), password, { isNew: true })
    for (const entry of [making, folder, join(making, PASSWORD)]) await give(account, entry)
    // initdb reads the password from the new folder, whose parent belongs to the account.
    const name = nameOf(folder, account)
    const ended = await Process.run({
      program: binaries.initdb,
      args: initArgs(name, `${name}/../${PASSWORD}`),
      account,
      folder,
      signal
    })
    if (ended.code !== 0) throw failed(`The database folder could not be made: ${ended.output}.`)
    // initdb has flushed what it made.
    await DurableFiles.renameTo(join(making, PASSWORD), join(folder, PASSWORD))
    await DurableFiles.renameTo(folder, path(dataFolder)).catch(async (cause) => {
      // Another host created it at the same time: its database is used.
      if (!(await isMade(path(dataFolder)))) throw cause
    })
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}

const initArgs = (folder: string, passwordFile: string): ReadonlyArray<string> => [
  "--pgdata",
  folder,
  "--username",
  USER,
  "--pwfile",
  passwordFile,
  "--auth",
  "scram-sha-256",
  "--encoding",
  "UTF8",
  "--no-locale",
  "--no-instructions"
]

const give = async (account: Account, file: string): Promise<void> => {
  if (account.switchTo !== null) await chown(file, account.switchTo.uid, account.switchTo.gid)
}

const isMade = (cluster: string): Promise<boolean> =>
  stat(join(cluster, "PG_VERSION")).then(
    () => true,
    () => false
  )

/**
 * Removes folders of hosts that were killed while they created a database. Their initdb may write
 * for a moment longer; the next start removes that rest.
 */
const sweep = async (dataFolder: string): Promise<void> => {
  for (const name of await readdir(dataFolder)) {
    if (!name.startsWith(UNFINISHED)) continue
    const pid = Number(name.slice(UNFINISHED.length).split("-")[0])
    if (pid === process.pid || Process.isAlive(pid)) continue
    await rm(join(dataFolder, name), {
      recursive: true,
      force: true,
      maxRetries: 4,
      retryDelay: 100
    }).catch(() => {})
  }
}

/** Reads the password of the folder's database, and restricts its file to the owner. */
export const password = async (cluster: string): Promise<string> => {
  const file = join(cluster, PASSWORD)
  await chmod(file, 0o600)
  return (await readFile(file, "utf8")).trim()
}

/**
 * Prepares a start: stops a server whose host has ended, removes a stale pid file whose id belongs
 * to another process, and refuses where another host uses the folder.
 */
export const clear = async (cluster: string): Promise<void> => {
  const file = join(cluster, "postmaster.pid")
  const pid = Number((await readFile(file, "utf8").catch(() => "")).split("\n")[0])
  if (!Number.isInteger(pid) || pid <= 0) return
  // PostgreSQL itself ignores a pid that does not run.
  if ((await Process.identity(pid)) === null) return
  const command = await Process.commandLine(pid)
  if (!command.includes("postgres")) {
    // PostgreSQL would take the process that now has the pid for a server, and refuse to start.
    await rm(file, { force: true })
    return
  }
  const host = new RegExp(`${HOST_SETTING}=(\\d+):(\\S+)`).exec(command)
  if (host === null) {
    throw failed(`The database in ${cluster} is run by process ${pid}, which no host started.`)
  }
  if ((await Process.identity(Number(host[1]))) === `${host[1]}:${host[2]}`) {
    throw failed(
      `Another host (process ${host[1]}) uses the database in ${cluster}, which belongs to one process at a time: stop that host first, or name another data folder; only a backup is made beside it.`
    )
  }
  await stop(pid)
}

/** Stops a database that is not a child process: fast, then immediate, then SIGKILL. */
const stop = async (pid: number): Promise<void> => {
  for (const [signal, millis] of [
    ["SIGINT", STOP_FAST_MILLIS],
    ["SIGQUIT", STOP_MILLIS],
    ["SIGKILL", STOP_MILLIS]
  ] as const) {
    const before = await Process.identity(pid)
    if (before === null) return
    process.kill(pid, signal)
    const until = Date.now() + millis
    while (Date.now() < until) {
      if ((await Process.identity(pid)) !== before) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  throw failed(`The database left by a killed host (process ${pid}) could not be stopped.`)
}
