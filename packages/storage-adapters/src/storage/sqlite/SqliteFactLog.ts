/** Fact log in SQLite: the version is part of a unique index, which makes the optimistic lock. */
import { type FactLog, type FactRow, VersionMoved } from "@bursar/engine-core/ports"
import { Result } from "effect"
import * as Columns from "./Columns.ts"
import type { Database } from "./Database.ts"
import type { SqliteTransactions } from "./Transactions.ts"

const COLUMNS = `f.collection, f.record_id, f.version, f.fact, f.cause, f."offset", f.recorded_at`

export const make = (transactions: SqliteTransactions): FactLog["Service"] => ({
  store: transactions.store,
  append: (rows) =>
    transactions.attempt(({ db }) => {
      const moved = firstMoved(db, rows)
      if (moved !== undefined) return Result.fail(moved)
      for (const row of rows) {
        db.run(
          `insert into fact (collection, record_id, version, fact, cause, "offset", recorded_at)
           values (?, ?, ?, ?, ?, ?, ?)`,
          [
            row.collection,
            row.recordId,
            row.version,
            row.fact,
            row.cause,
            row.offset,
            row.recordedAt
          ]
        )
      }
      return Result.void
    }),
  read: ({ collection, recordId, through }) =>
    transactions.read((db) =>
      db
        .all(
          `select ${COLUMNS} from fact f
           where f.collection = ? and f.record_id = ? and f.version <= ? order by f.version`,
          [collection, recordId, through ?? Number.MAX_SAFE_INTEGER]
        )
        .map(factOf)
    ),
  forget: ({ collection, recordIds }) =>
    transactions.write(({ db }) => {
      for (const recordId of recordIds) {
        db.run("delete from fact where collection = ? and record_id = ?", [collection, recordId])
      }
    }),
  scan: ({ collection, after, limit }) =>
    transactions.read((db) => {
      const from =
        after === undefined
          ? { position: 0, recordId: "" }
          : positionOf(db, { collection, ...after })
      if (from === undefined) return []
      return db
        .all(
          `select ${COLUMNS} from fact born indexed by fact_born
           cross join fact f on f.collection = born.collection and f.record_id = born.record_id
           where born.collection = ? and born.version = 1 and born.position >= ?
             and (f.record_id <> ? or f.version > ?)
           order by born.position, f.version limit ?`,
          [collection, from.position, from.recordId, after?.version ?? 0, Math.max(0, limit)]
        )
        .map(factOf)
    })
})

/** Finds the first row whose version is not one more than the record's latest. */
const firstMoved = (db: Database, rows: ReadonlyArray<FactRow>): VersionMoved | undefined => {
  const latest = new Map<string, number>()
  for (const { collection, recordId, version } of rows) {
    const record = JSON.stringify([collection, recordId])
    if (version !== 1 + (latest.get(record) ?? latestOf(db, { collection, recordId }))) {
      return new VersionMoved({ collection, recordId, expected: version })
    }
    latest.set(record, version)
  }
  return undefined
}

const latestOf = (
  db: Database,
  { collection, recordId }: Pick<FactRow, "collection" | "recordId">
): number => {
  const row = db.get(
    `select version from fact where collection = ? and record_id = ?
     order by version desc limit 1`,
    [collection, recordId]
  )
  return row === undefined ? 0 : Columns.number(row, "version")
}

/** Place of a record in the order of a scan; undefined where it is gone. */
const positionOf = (
  db: Database,
  { collection, recordId }: Pick<FactRow, "collection" | "recordId">
) => {
  const row = db.get(
    "select position from fact where collection = ? and record_id = ? and version = 1",
    [collection, recordId]
  )
  return row === undefined ? undefined : { position: Columns.number(row, "position"), recordId }
}

const factOf = (row: Columns.Row): FactRow => ({
  collection: Columns.text(row, "collection"),
  recordId: Columns.text(row, "record_id"),
  version: Columns.number(row, "version"),
  fact: Columns.text(row, "fact"),
  cause: Columns.text(row, "cause"),
  offset: Columns.number(row, "offset"),
  recordedAt: Columns.text(row, "recorded_at")
})
