/**
 * Base backup of the embedded PostgreSQL while it runs, by PostgreSQL's low-level backup functions: the
 * files of the cluster and the write-ahead log from the backup's start to its end. A server that is
 * started on the copy replays that log, and has every transaction that committed before the backup's end.
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { chmod, chown, copyFile, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import * as DurableFiles from "../../node/DurableFiles.ts"
import * as Account from "./Account.ts"
import * as Cluster from "./Cluster.ts"
import { EmbeddedFailed, step } from "./EmbeddedFailed.ts"
import * as Process from "./Process.ts"

/** Folders whose files a server makes anew at its start, or that belong to the running one. */
const emptied = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans"
])

/** Files of the running server. */
const leftOut = /^(?:postmaster\.(?:pid|opts)|backup_label|tablespace_map|pg_internal\.init.*)$/u

const temporary = /^pgsql_tmp/u

/** A file of the log, or of the history of its timelines. */
const logFile = /^[0-9A-F]{24}$/u
const historyFile = /^[0-9A-F]{8}\.history$/u

const notCopied = (detail: string): EmbeddedFailed => new EmbeddedFailed({ detail })

/** Folder of the database below a data folder. */
export const clusterOf = (dataFolder: string): string => Cluster.path(resolve(dataFolder))

/** Address of the server that runs on a data folder; null where none does. */
export const running = (dataFolder: string): Effect.Effect<string | null, EmbeddedFailed> =>
  step("The database of the data folder cannot be looked at", async () => {
    const cluster = clusterOf(dataFolder)
    const lines = (await textOf(join(cluster, "postmaster.pid"))).split("\n")
    const [pid, port] = [Number(lines[0]), Number(lines[3])]
    if (!Number.isInteger(pid) || pid <= 0 || lines[7]?.trim() !== "ready") return null
    if (!(await Process.commandLine(pid)).includes("postgres")) return null
    const password = await Cluster.password(cluster)
    return `postgres://${Cluster.USER}:${password}@127.0.0.1:${port}/postgres`
  })

const textOf = (file: string): Promise<string> => readFile(file, "utf8").catch(isMissing(""))

/** Answers in place of a file that is not there; any other fault stays. */
const isMissing =
  <A>(instead: A) =>
  (cause: NodeJS.ErrnoException): A => {
    if (cause.code === "ENOENT") return instead
    throw cause
  }

/** Copies a folder; what the server deletes meanwhile is left out, as its log knows of it. */
const copyFolder = async (from: string, to: string, isTop: boolean): Promise<void> => {
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const entry of await readdir(from, { withFileTypes: true }).catch(isMissing([]))) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (leftOut.test(entry.name) || temporary.test(entry.name)) continue
    if (entry.isDirectory()) {
      if (isTop && emptied.has(entry.name)) await mkdir(target, { recursive: true, mode: 0o700 })
      else await copyFolder(source, target, false)
    } else if (entry.isFile()) await copyFile(source, target).catch(isMissing(undefined))
    else throw notCopied(`${source} is neither a file nor a folder: it is not backed up.`)
  }
}

/** Copies the files of the log from the first that the backup needs to the last. */
const copyLog = async (
  cluster: string,
  to: string,
  range: { readonly first: string; readonly last: string }
): Promise<void> => {
  const names = await readdir(join(cluster, "pg_wal"))
  const needed = names.filter(
    (name) =>
      historyFile.test(name) || (logFile.test(name) && name >= range.first && name <= range.last)
  )
  if (!needed.includes(range.first) || !needed.includes(range.last)) {
    throw notCopied("The write-ahead log of the backup is not whole.")
  }
  for (const name of needed) {
    await copyFile(join(cluster, "pg_wal", name), join(to, "pg_wal", name))
  }
}

/**
 * Copies the cluster of a data folder, whose server is running at the address, into a folder that is not
 * there yet. Whoever copies needs the database's own user, and access to the folder's files.
 */
export const copy = ({
  dataFolder,
  to,
  url
}: {
  readonly url: string
  readonly dataFolder: string
  readonly to: string
}): Effect.Effect<void, EmbeddedFailed> =>
  Effect.gen(function* () {
    const cluster = clusterOf(dataFolder)
    const connection = yield* PgConnection.make({
      url: Redacted.make(url),
      applicationName: "bursar backup"
    })
    const ask = (sql: string) =>
      Effect.map(connection.query(sql, [], false), ({ rows }) => {
        const row = rows[0] ?? {}
        return (name: string): string => String(row[name] ?? "")
      })
    // A slot of this connection: until the backup ends, the server deletes no log that it needs.
    const slot = `bursar_backup_${randomBytes(6).toString("hex")}`
    yield* ask(
      `select slot_name::text as slot from pg_create_physical_replication_slot('${slot}', true, true)`
    )
    const began = yield* ask(
      "select pg_walfile_name(lsn) as file from pg_backup_start('bursar', true) as lsn"
    )
    yield* step("The database's files cannot be copied", () => copyFolder(cluster, to, true))
    const ended = yield* ask(
      "select pg_walfile_name(lsn) as file, labelfile as label from pg_backup_stop(false)"
    )
    yield* step("The database's log cannot be copied", async () => {
      await copyLog(cluster, to, { first: began("file"), last: ended("file") })
      await writeFile(join(to, "backup_label"), ended("label"), { mode: 0o600 })
    })
  }).pipe(
    Effect.scoped,
    Effect.catchTag("SqlError", (error) =>
      Effect.fail(notCopied(`The database refuses a backup: ${error.message}.`))
    )
  )

/**
 * Places a copied cluster in a data folder that has none, under the account that its server will run as.
 * The next start replays the log of the backup.
 */
export const place = ({
  dataFolder,
  from
}: {
  readonly from: string
  readonly dataFolder: string
}): Effect.Effect<void, EmbeddedFailed> =>
  step("The copied database cannot be placed", async () => {
    const cluster = clusterOf(dataFolder)
    const account = await Account.choose(cluster)
    await cp(from, cluster, { recursive: true, errorOnExist: true, force: false })
    await chmod(cluster, 0o700)
    if (account.switchTo !== null) {
      const { gid, uid } = account.switchTo
      const entries = await readdir(cluster, { recursive: true })
      for (const entry of ["", ...entries]) await chown(join(cluster, entry), uid, gid)
    }
    await DurableFiles.flushTree(cluster)
    await DurableFiles.flushFolder(dirname(cluster))
  })
