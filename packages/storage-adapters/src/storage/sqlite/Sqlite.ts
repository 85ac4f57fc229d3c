/**
 * Storage on SQLite: every storage port in the files of one folder, for a program on one machine. Node's
 * own `node:sqlite` runs it, in the program's thread.
 *
 * It is not for several machines, nor for a folder on a network file system: the processes that share the
 * files agree by locks and memory of one machine.
 */
import {
  Atomically,
  Blobs,
  Bulk,
  Documents,
  FactLog,
  Feed,
  Keys,
  ProjectionLog,
  RateWindow,
  StorageUnavailable,
  Terms,
  WorkQueue
} from "@bursar/engine-core/ports"
import { Cause, Context, Data, Effect, Layer, type Scope } from "effect"
import { mkdir, open, statfs } from "node:fs/promises"
import { join } from "node:path"
import * as DurableFiles from "../../node/DurableFiles.ts"
import type { Storage } from "../memory/Memory.ts"
import * as LocalWakes from "../memory/Wakes.ts"
import * as Columns from "./Columns.ts"
import * as Database from "./Database.ts"
import * as Faults from "./Faults.ts"
import * as Flushes from "./Flushes.ts"
import * as Owners from "./Owners.ts"
import * as Schema from "./Schema.ts"
import * as Snapshots from "./Snapshots.ts"
import * as SqliteBlobs from "./SqliteBlobs.ts"
import * as SqliteBulk from "./SqliteBulk.ts"
import * as SqliteDocuments from "./SqliteDocuments.ts"
import * as SqliteFactLog from "./SqliteFactLog.ts"
import * as SqliteFeed from "./SqliteFeed.ts"
import * as SqliteKeys from "./SqliteKeys.ts"
import * as SqliteProjectionLog from "./SqliteProjectionLog.ts"
import * as SqliteRateWindow from "./SqliteRateWindow.ts"
import * as SqliteTerms from "./SqliteTerms.ts"
import * as SqliteWorkQueue from "./SqliteWorkQueue.ts"
import * as Transactions from "./Transactions.ts"

export type { Storage } from "../memory/Memory.ts"

/** The folder cannot be used as the store: on a network, not writable, or of another application. */
export class SqliteFailed extends Data.TaggedError("SqliteFailed")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

interface SqliteOptions {
  /** Folder of the store's files, made where it is missing; on a disk of this machine. */
  readonly folder: string
  /**
   * Milliseconds that a call waits for a transaction of another process before it fails with
   * `StorageUnavailable`; one minute by default.
   */
  readonly lockMillis?: number
}

const LOCK_MILLIS = 60_000
/** Bytes to which the write-ahead log shrinks once it was emptied. */
const LOG_BYTES = 64 * 1024 * 1024
/** Kibibytes of pages that a connection keeps. */
const CACHE_KIBIBYTES = 16 * 1024

/** Network file systems, by the number that `statfs` answers. */
const NETWORKS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x01021997, "9P"]
])

/** Layer of the store in a folder: a new, empty one where the folder has none. */
export const layer = (options: SqliteOptions): Layer.Layer<Storage, SqliteFailed> =>
  Layer.effectContext(storage(options))

const storage = ({
  folder,
  lockMillis = LOCK_MILLIS
}: SqliteOptions): Effect.Effect<Context.Context<Storage>, SqliteFailed, Scope.Scope> =>
  Effect.gen(function* () {
    yield* checkFolder(folder)
    const records = yield* openFile({ folder, name: "records", lockMillis })
    const rows = yield* openFile({ folder, name: "rows", lockMillis })
    const rates = yield* openFile({ folder, name: "rates", lockMillis })
    yield* usable(
      folder,
      Faults.untilUnlocked(
        Faults.attempt(() => Owners.sweep(records.writer, rows.writer)),
        lockMillis
      )
    )
    const transactions = Transactions.make({ ...records, lockMillis })
    const snapshots = Snapshots.make({
      files: { records: records.file, rows: rows.file },
      lockMillis
    })
    const owners = Owners.make({
      db: rows.writer,
      flushes: rows.flushes,
      transactions,
      lockMillis
    })
    const wakes = LocalWakes.make()
    return Context.make(Atomically, {
      store: transactions.store,
      run: transactions.run,
      reading: transactions.reading,
      // Only one transaction runs at a time, over all processes, which excludes everybody else.
      lock: () => transactions.inside("Atomically.lock", () => {})
    }).pipe(
      Context.add(Blobs, SqliteBlobs.make({ transactions, owners })),
      Context.add(Bulk, SqliteBulk.make({ transactions, owners, snapshots })),
      Context.add(Documents, SqliteDocuments.make({ transactions, snapshots })),
      Context.add(FactLog, SqliteFactLog.make(transactions)),
      Context.add(Feed, SqliteFeed.make({ transactions, wakes })),
      Context.add(Keys, SqliteKeys.make(transactions)),
      Context.add(ProjectionLog, SqliteProjectionLog.make(transactions)),
      Context.add(
        RateWindow,
        SqliteRateWindow.make({ store: transactions.store, db: rates.writer, lockMillis })
      ),
      Context.add(Terms, SqliteTerms.make(transactions)),
      Context.add(WorkQueue, SqliteWorkQueue.make({ transactions, wakes }))
    )
  })

/** Makes the folder, and refuses one on a network. */
const checkFolder = (folder: string): Effect.Effect<void, SqliteFailed> =>
  Effect.flatMap(
    Effect.tryPromise({
      try: async () => {
        await mkdir(folder, { recursive: true })
        return (await statfs(folder)).type
      },
      catch: (error) => new SqliteFailed({ detail: `${folder} cannot be used: ${reasonOf(error)}` })
    }),
    (type) => {
      const network = NETWORKS.get(type >>> 0)
      return network === undefined
        ? Effect.void
        : Effect.fail(
            new SqliteFailed({
              detail: `${folder} lies on a network file system (${network}), where SQLite's locks do not hold; name a folder on a disk of this machine, or use PostgreSQL.`
            })
          )
    }
  )

/** The connections of a file, and the flushes of its write-ahead log. */
const openFile = ({
  folder,
  name,
  lockMillis
}: {
  readonly folder: string
  readonly name: Schema.FileName
  readonly lockMillis: number
}) =>
  Effect.gen(function* () {
    const file = join(folder, `${name}.sqlite`)
    const connection = (isReader: boolean) =>
      Effect.acquireRelease(
        usable(
          file,
          Faults.untilUnlocked(
            Faults.attempt(() => prepared(file, { isReader, name })),
            lockMillis
          )
        ),
        (db) =>
          Effect.sync(() => {
            if (db.isInTransaction()) db.run("rollback")
            db.close()
          })
      )
    const writer = yield* connection(false)
    const reader = yield* connection(true)
    const version = () => Columns.number(reader.get("pragma data_version") ?? {}, "data_version")
    // The log is made with the first read, and stays as long as a connection is open.
    version()
    const log = yield* Effect.acquireRelease(
      usable(
        file,
        Effect.tryPromise({
          try: async () => {
            const handle = await open(`${file}-wal`, "r+")
            // SQLite flushes the log's name with its own flushes, of which commits make none.
            await DurableFiles.flushFolder(folder)
            return handle
          },
          catch: (error) => error
        })
      ),
      (handle) => Effect.promise(() => handle.close())
    )
    return { file, writer, reader, flushes: Flushes.make({ version, flush: () => log.datasync() }) }
  })

/** A connection in WAL mode on a file that has the tables of this program. */
const prepared = (
  file: string,
  { isReader, name }: { readonly isReader: boolean; readonly name: Schema.FileName }
): Database.Database => {
  const db = Database.open(file)
  try {
    const mode = db.get("pragma journal_mode = wal")?.["journal_mode"]
    if (mode !== "wal") {
      throw new Schema.FileUnusable({
        detail: `${file} cannot keep a write-ahead log (${String(mode)}); name a folder on a disk of this machine.`
      })
    }
    // Commits are flushed together (`Flushes.ts`); windows of the rate limiter may be forgotten.
    db.run(`pragma synchronous = ${name === "rates" ? "off" : "normal"}`)
    db.run(`pragma journal_size_limit = ${LOG_BYTES}`)
    db.run(`pragma cache_size = -${CACHE_KIBIBYTES}`)
    if (isReader) db.run("pragma query_only = on")
    else Schema.migrate(db, name)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Adds the file's path to the cause for which the file cannot be opened. */
const usable = <A, E>(file: string, opened: Effect.Effect<A, E>): Effect.Effect<A, SqliteFailed> =>
  Effect.catchCause(opened, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.interrupt
      : Effect.fail(
          new SqliteFailed({ detail: `${file} cannot be used: ${reasonOf(Cause.squash(cause))}` })
        )
  )

const reasonOf = (error: unknown): string => {
  if (error instanceof StorageUnavailable) return error.detail
  return error instanceof Error ? error.message : String(error)
}
