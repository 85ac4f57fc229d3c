/** Connections of streams and comparisons, each of which reads one snapshot of the records and the rows. */
import type { StorageUnavailable } from "@bursar/engine-core/ports"
import { Effect, Exit, type Scope, Semaphore } from "effect"
import * as DatabaseFile from "./Database.ts"
import * as Faults from "./Faults.ts"

export interface Snapshots {
  /** A snapshot that lasts as long as the scope; the file of rows is attached as `rows`. */
  readonly open: Effect.Effect<DatabaseFile.Database, StorageUnavailable, Scope.Scope>
}

/** Snapshots at a time; a further one waits. A long one keeps the write-ahead log from being emptied. */
const AT_ONCE = 16

export const make = ({
  files,
  lockMillis
}: {
  readonly files: { readonly records: string; readonly rows: string }
  readonly lockMillis: number
}): Snapshots => {
  const places = Semaphore.makeUnsafe(AT_ONCE)
  const begin = (): DatabaseFile.Database => {
    const db = DatabaseFile.open(files.records)
    try {
      db.run("attach database ? as rows", [files.rows])
      db.run("pragma query_only = on")
      db.run("begin")
      // Each file's snapshot begins with its first read.
      db.get("select 1 from head")
      db.get("select 1 from rows.owner limit 1")
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }
  const opened = Faults.untilUnlocked(Faults.attempt(begin), lockMillis)
  return {
    open: Effect.gen(function* () {
      yield* Effect.acquireRelease(places.take(1), () => places.release(1))
      return yield* Effect.acquireRelease(opened, (db, exit) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit) && db.isInTransaction()) db.run("rollback")
          db.close()
        })
      )
    })
  }
}
