/** Projection log in SQLite: its head is the feed's row, so both move in one transaction. */
import {
  type AsOf,
  type ProjectionHead,
  type ProjectionLog,
  type UpdateRow,
  WriterFenced
} from "@bursar/engine-core/ports"
import { Option, Result } from "effect"
import { stamp } from "../memory/Stamp.ts"
import * as Columns from "./Columns.ts"
import type { Database } from "./Database.ts"
import type { SqliteTransactions } from "./Transactions.ts"

export const make = (transactions: SqliteTransactions): ProjectionLog["Service"] => ({
  store: transactions.store,
  head: transactions.read((db) => headOf(db).shown),
  takeOver: ({ participant }) =>
    transactions.write(({ db }) => {
      db.run("update head set writer_epoch = writer_epoch + 1, participant = ? where id = 1", [
        participant
      ])
      return headOf(db).shown
    }),
  advance: ({ epoch, from, to, ledgerTime, updates }) =>
    transactions.attempt(({ db }) => {
      const head = headOf(db)
      if (head.shown.writerEpoch !== epoch || head.shown.offset !== from) {
        return Result.fail(new WriterFenced({ epoch }))
      }
      if (to < from) throw new Error(`ProjectionLog.advance: ${to} is before ${from}`)
      let last = from
      for (const row of updates) {
        if (row.offset <= last || row.offset > to) {
          throw new Error(`ProjectionLog.advance: update ${row.offset} is out of place`)
        }
        last = row.offset
        insert(db, row)
      }
      if (to > from) leave(db, head)
      db.run(
        `update head set projection_offset = ?, ledger_time = coalesce(?, ledger_time)
         where id = 1`,
        [to, ledgerTime]
      )
      return Result.void
    }),
  bootstrap: ({ epoch, ledgerEpoch, offset, ledgerTime, horizonTime }) =>
    transactions.attempt(({ db }) => {
      const head = headOf(db)
      if (head.shown.writerEpoch !== epoch) return Result.fail(new WriterFenced({ epoch }))
      // Updates after the previous snapshot are projected again.
      db.run(`delete from ledger_update where "offset" > ?`, [offset])
      leave(db, head)
      db.run(
        `update head set projection_offset = ?, horizon_offset = ?, ledger_time = ?,
           horizon_ledger_time = ?, horizon_time = ?, ledger_epoch = ? where id = 1`,
        [offset, offset, ledgerTime, ledgerTime, horizonTime, ledgerEpoch]
      )
      return Result.void
    }),
  prune: ({ offset, limit }) =>
    transactions.write(({ db }) => {
      const { shown } = headOf(db)
      const to = Math.min(offset, shown.offset)
      if (to > shown.horizonOffset) {
        const time = timeAt(db, to)
        db.run(
          `update head set horizon_offset = ?, horizon_ledger_time = ?,
             horizon_time = coalesce(?, horizon_time) where id = 1`,
          [to, time, time]
        )
      }
      const horizon = Math.max(to, shown.horizonOffset)
      db.run(`delete from answered where "offset" < ?`, [horizon])
      return db.run(
        `delete from ledger_update where "offset" in (
           select "offset" from ledger_update where "offset" <= ? order by "offset" limit ?)`,
        [horizon, Math.max(0, limit)]
      )
    }),
  ledgerTimeAt: (offset) => transactions.read((db) => Option.fromNullOr(timeAt(db, offset))),
  offsetAsOf: (instant) => transactions.read((db) => asOf(db, instant)),
  offsetBefore: ({ instant, through = Number.MAX_SAFE_INTEGER }) =>
    transactions.read((db) => {
      const { horizonLedgerTime, shown } = headOf(db)
      const { horizonOffset, ledgerTime, offset } = shown
      const found = (last: number) => Option.some(Math.min(last, through))
      if (ledgerTime === null || ledgerTime < instant) return found(offset)
      const last = lastUpdate(db, { condition: "ledger_time < ?", value: instant })
      if (last !== undefined && last > horizonOffset) return found(last)
      return horizonLedgerTime === null || horizonLedgerTime < instant
        ? found(horizonOffset)
        : Option.none<number>()
    }),
  hasCommand: (commandId) =>
    transactions.read(
      (db) =>
        db.get("select 1 from ledger_update where command_id = ? limit 1", [commandId]) !==
        undefined
    ),
  read: ({ after, limit }) =>
    transactions.read((db) =>
      db
        .all(`select * from ledger_update where "offset" > ? order by "offset" limit ?`, [
          after,
          Math.max(0, limit)
        ])
        .map(updateOf)
    )
})

/** The head, and what it holds besides what callers read. */
interface Head {
  readonly shown: ProjectionHead
  readonly at: string
  /** Ledger time of the horizon, where the history begins with a snapshot. */
  readonly horizonLedgerTime: string | null
  /** Instants of the first and the last answer at the projected offset; null: none. */
  readonly answered: { readonly first: string; readonly last: string } | null
}

const headOf = (db: Database): Head => {
  const row = db.get("select * from head where id = 1") ?? {}
  const first = Columns.textOrNull(row, "answered_first")
  const last = Columns.textOrNull(row, "answered_last")
  return {
    shown: {
      offset: Columns.number(row, "projection_offset"),
      ledgerTime: Columns.textOrNull(row, "ledger_time"),
      horizonOffset: Columns.number(row, "horizon_offset"),
      horizonTime: Columns.textOrNull(row, "horizon_time"),
      writerEpoch: Columns.number(row, "writer_epoch"),
      participant: Columns.textOrNull(row, "participant"),
      ledgerEpoch: Columns.number(row, "ledger_epoch")
    },
    at: Columns.text(row, "at"),
    horizonLedgerTime: Columns.textOrNull(row, "horizon_ledger_time"),
    answered: first === null || last === null ? null : { first, last }
  }
}

/** Stores the answers that were given at the offset which the head leaves. */
const leave = (db: Database, { answered, at, shown }: Head): void => {
  if (answered === null) return
  db.run(
    `insert into answered ("offset", first, last) values (?, ?, ?)
     on conflict ("offset") do update set last = excluded.last`,
    [shown.offset, answered.first, answered.last]
  )
  // The next answer has another offset, so it is given a later instant.
  db.run("update head set answered_first = null, answered_last = null, at = ? where id = 1", [
    stamp(at, at)
  ])
}

/** Offset of the last update that meets a condition on its time or offset. */
const lastUpdate = (
  db: Database,
  {
    condition,
    value
  }: { readonly condition: "ledger_time < ?" | "ledger_time <= ?"; readonly value: string }
): number | undefined => {
  const row = db.get(
    `select "offset" from ledger_update where ${condition}
     order by ledger_time desc, "offset" desc limit 1`,
    [value]
  )
  return row === undefined ? undefined : Columns.number(row, "offset")
}

/** The running ledger time at an offset, also once the updates up to it are gone. */
const timeAt = (db: Database, offset: number): string | null => {
  const { horizonLedgerTime, shown } = headOf(db)
  const last = db.get(
    `select "offset", ledger_time from ledger_update where "offset" <= ?
     order by "offset" desc limit 1`,
    [offset]
  )
  const time = last === undefined ? null : Columns.text(last, "ledger_time")
  const lastOffset = last === undefined ? 0 : Columns.number(last, "offset")
  // The snapshot covers every offset up to the horizon.
  return offset >= shown.horizonOffset && lastOffset <= shown.horizonOffset
    ? (horizonLedgerTime ?? time)
    : time
}

/** The last offset that an instant is not before, by the updates' times. */
const datedBy = (
  db: Database,
  { head, instant }: { readonly head: Head; readonly instant: string }
) => {
  const { horizonOffset, horizonTime, ledgerTime, offset } = head.shown
  if (horizonTime !== null && instant < horizonTime) return undefined
  if (ledgerTime !== null && ledgerTime <= instant) return offset
  const last = lastUpdate(db, { condition: "ledger_time <= ?", value: instant })
  return (last ?? 0) <= horizonOffset &&
    head.horizonLedgerTime !== null &&
    head.horizonLedgerTime <= instant
    ? horizonOffset
    : last
}

const asOf = (db: Database, instant: string): Option.Option<AsOf> => {
  const head = headOf(db)
  const { horizonOffset, ledgerTime, offset } = head.shown
  const { answered } = head
  const stored = (condition: string): number | undefined => {
    const row = db.get(
      `select "offset" from answered where "offset" >= ? and ${condition} limit 1`,
      [horizonOffset, instant]
    )
    return row === undefined ? undefined : Columns.number(row, "offset")
  }
  const before =
    answered !== null && answered.first <= instant
      ? offset
      : stored("first <= ? order by first desc")
  const after =
    stored("last >= ? order by last") ??
    (answered !== null && answered.last >= instant ? offset : undefined)
  const dated = datedBy(db, { head, instant })
  if (dated === undefined && before === undefined) return Option.none()
  return Option.some({
    offset: Math.min(Math.max(dated ?? 0, before ?? 0), after ?? Number.MAX_SAFE_INTEGER),
    settled: after !== undefined || (ledgerTime !== null && ledgerTime > instant),
    answered: before !== undefined && before === after
  })
}

const insert = (db: Database, row: UpdateRow): void => {
  db.run(
    `insert into ledger_update ("offset", prev_offset, update_id, command_id, workflow_id,
       effective_at, record_time, ledger_time, raw) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      row.offset,
      row.prevOffset,
      row.updateId,
      row.commandId,
      row.workflowId,
      row.effectiveAt,
      row.recordTime,
      row.ledgerTime,
      row.raw
    ]
  )
}

const updateOf = (row: Columns.Row): UpdateRow => ({
  offset: Columns.number(row, "offset"),
  prevOffset: Columns.number(row, "prev_offset"),
  updateId: Columns.text(row, "update_id"),
  commandId: Columns.textOrNull(row, "command_id"),
  workflowId: Columns.textOrNull(row, "workflow_id"),
  effectiveAt: Columns.text(row, "effective_at"),
  recordTime: Columns.text(row, "record_time"),
  ledgerTime: Columns.text(row, "ledger_time"),
  raw: Columns.text(row, "raw")
})
