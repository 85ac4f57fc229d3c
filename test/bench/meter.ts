/**
 * Meters of what a bench's work costs: processor time of PostgreSQL and of Node processes, and
 * PostgreSQL's own counts of statements and bytes of write-ahead log.
 */
import { readdir, readFile } from "node:fs/promises"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Totals since an instant before the first reading; only differences of two readings count. */
export interface Reading {
  /** Processor time of the server with all its processes. NaN where there is no /proc. */
  readonly postgresMillis: number
  /** Processor time of the Node processes that do the work. NaN where there is no /proc. */
  readonly nodeMillis: number
  /** Statements that clients sent to this database, `begin` and `commit` among them. */
  readonly statements: number
  readonly walBytes: number
}

export type Meter = Effect.Effect<Reading>

/** Settings of a server whose statements are counted. */
export const settings = { shared_preload_libraries: "pg_stat_statements" }

/** Clock ticks of /proc on Linux: 100 a second on every architecture that Node runs on. */
const tickMillis = 10

interface ProcessTimes {
  readonly pid: number
  readonly parent: number
  readonly millis: number
  /** Time of children that have ended. */
  readonly endedMillis: number
}

/** Reads a process's times; undefined where it has ended or where there is no /proc. */
const timesOf = async (pid: number): Promise<ProcessTimes | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined)
  if (text === undefined) return undefined
  // The name before the last parenthesis may contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  const ticks = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) * tickMillis
  return { pid, parent: Number(fields[1]), millis: ticks(11), endedMillis: ticks(13) }
}

/** Processor time of a server, found by one of its sessions. */
const serverMillis = async (session: number): Promise<number> => {
  const postmaster = (await timesOf(session))?.parent
  if (postmaster === undefined) return Number.NaN
  const pids = (await readdir("/proc")).map(Number).filter(Number.isInteger)
  const all = await Promise.all(pids.map(timesOf))
  return all
    .flatMap((times) => {
      if (times?.pid === postmaster) return [times.millis + times.endedMillis]
      return times?.parent === postmaster ? [times.millis] : []
    })
    .reduce((sum, millis) => sum + millis, 0)
}

const ownMillis = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const millisOf = async (pids: ReadonlyArray<number>): Promise<number> => {
  const all = await Promise.all(
    pids.map(async (pid) =>
      pid === process.pid ? ownMillis() : ((await timesOf(pid))?.millis ?? Number.NaN)
    )
  )
  return all.reduce((sum, millis) => sum + millis, 0)
}

/** Meter of a computation in this process, which uses no database. */
export const ofThisProcess: Meter = Effect.sync(() => ({
  postgresMillis: Number.NaN,
  nodeMillis: ownMillis(),
  statements: Number.NaN,
  walBytes: Number.NaN
}))

/** Meter of a wait, which is no cost of a unit of work. */
export const none: Meter = Effect.succeed({
  postgresMillis: Number.NaN,
  nodeMillis: Number.NaN,
  statements: Number.NaN,
  walBytes: Number.NaN
})

/** Meter of work on a database, done by the Node processes that run when it is read. */
export const of = (
  sql: SqlClient.SqlClient,
  pids: () => ReadonlyArray<number> = () => [process.pid]
): Meter => {
  let readings = 0
  return Effect.gen(function* () {
    if (readings === 0) yield* sql`create extension if not exists pg_stat_statements`
    const [row] = yield* sql<{
      readonly session: number
      readonly statements: string
      readonly wal: string
    }>`
      select pg_backend_pid() as session,
        (select coalesce(sum(calls), 0)::text from pg_stat_statements s
         join pg_database d on d.oid = s.dbid where d.datname = current_database()) as statements,
        pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as wal`
    return {
      postgresMillis: yield* Effect.promise(() => serverMillis(Number(row?.session))),
      nodeMillis: yield* Effect.promise(() => millisOf(pids())),
      // The statement of each reading is counted by the next one.
      statements: Number(row?.statements) - readings++,
      walBytes: Number(row?.wal)
    }
  }).pipe(Effect.orDie)
}
