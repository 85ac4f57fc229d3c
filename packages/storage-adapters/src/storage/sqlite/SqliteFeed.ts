/** Event feed in SQLite: one writer at a time makes its numbers gapless and in commit order. */
import type { EventRow, Feed, FeedHead, FeedQuery, LegalHold } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import * as MemoryAudit from "../memory/MemoryAudit.ts"
import { stamp } from "../memory/Stamp.ts"
import type { Wakes } from "../memory/Wakes.ts"
import * as Restores from "../Restores.ts"
import { scannedTo } from "../ScannedTo.ts"
import * as Columns from "./Columns.ts"
import type { Database } from "./Database.ts"
import * as FeedSql from "./FeedSql.ts"
import * as SqliteAudit from "./SqliteAudit.ts"
import type { SqliteTransactions } from "./Transactions.ts"

const FEED = "feed"
const TAKEN = "feed.taken"

export const make = ({
  transactions,
  wakes
}: {
  readonly transactions: SqliteTransactions
  readonly wakes: Wakes
}): Feed["Service"] => ({
  store: transactions.store,
  take: (now) =>
    transactions.inside("Feed.take", ({ db, notes }) => {
      const last = headOf(db)
      const head = { ...last, at: stamp(last.at, now) }
      notes.set(TAKEN, head)
      return head
    }),
  append: (head, entries) =>
    transactions.inside("Feed.append", ({ afterCommit, db, notes }) => {
      if (notes.get(TAKEN) !== head) {
        throw new Error("Feed.append: the head was not taken in this transaction")
      }
      const { audit, events, webhooks } = entries
      const fault = faultOf(head, events) ?? MemoryAudit.faultOf(head.audit, audit)
      if (fault !== undefined) throw new Error(`Feed.append: ${fault}`)
      // The head is used up: another append of this transaction takes it again.
      notes.delete(TAKEN)
      const after = MemoryAudit.after(head.audit, entries)
      db.run(
        `update head set seq = ?, at = ?, audit_seq = ?, audit_hash = ?, audit_checkpoint = ?,
           webhooks_moved = webhooks_moved + ?, moves = moves + 1 where id = 1`,
        [
          head.seq + events.length,
          head.at,
          after.seq,
          after.hash,
          after.checkpoint,
          webhooks === "moved" ? 1 : 0
        ]
      )
      for (const event of events) insert(db, event)
      SqliteAudit.append(db, audit)
      if (events.length > 0) afterCommit.push(() => wakes.wake(FEED))
    }),
  read: (query) => transactions.read((db) => read(db, query)),
  head: transactions.read(headOf),
  answer: ({ now, since }) =>
    Effect.gen(function* () {
      const isOpen = (yield* transactions.current) !== undefined
      // Most answers are of an instant that was given out already: they take no writer's lock.
      const last = isOpen ? undefined : yield* transactions.read((db) => answeredAt(db, since))
      if (last !== undefined) return last
      return yield* transactions.writeUnsettled(({ db }) => {
        const answered = answeredAt(db, since)
        if (answered !== undefined) return answered
        db.run(
          `update head set at = max(at, ?), answered_last = max(at, ?),
             answered_first = coalesce(answered_first, max(at, ?)) where id = 1`,
          [now, now, now]
        )
        return headOf(db)
      })
    }),
  answersSettled: Effect.flatMap(transactions.current, (open) =>
    open === undefined ? transactions.settle : Effect.void
  ),
  pass: (instant) =>
    transactions.write(({ db }) => {
      db.run("update head set at = ? where id = 1 and at < ?", [instant, instant])
    }),
  published: (sources) =>
    transactions.read((db) =>
      sources.filter(
        (source) => db.get("select 1 from event where source = ?", [source]) !== undefined
      )
    ),
  readAudit: (query) => transactions.read((db) => SqliteAudit.read(db, query)),
  prune: ({ before, hold, limit }) =>
    transactions.write(({ db }) => {
      const front = db
        .all(
          `select seq, at, instrument_id, holder_ids from event indexed by event_control
           where kind = 'control' and seq > (select pruned_to from head where id = 1)
           order by seq limit ?`,
          [Math.max(0, limit)]
        )
        .map((row) => ({
          seq: Columns.number(row, "seq"),
          at: Columns.textOrNull(row, "at"),
          instrumentId: Columns.textOrNull(row, "instrument_id"),
          holderIds: Columns.texts(row, "holder_ids")
        }))
      // Control events carry stamps that rise with their numbers; one without a stamp is passed over.
      const end = front.findIndex(({ at }) => at !== null && at >= before)
      const passed = end < 0 ? front : front.slice(0, end)
      const expired = passed.filter((event) => event.at !== null && !isHeld(event, hold))
      for (const event of expired) forget(db, event)
      const last = passed.at(-1)
      if (last !== undefined) db.run("update head set pruned_to = ? where id = 1", [last.seq])
      return { deleted: expired.length, passed: passed.length }
    }),
  pruneJournal: ({ through, limit }) =>
    transactions.write(({ db }) => {
      const expired = db.all(
        `select seq, holder_ids from event indexed by event_journal
         where kind = 'journal' and "offset" <= ? order by "offset" limit ?`,
        [through, Math.max(0, limit)]
      )
      for (const row of expired) {
        forget(db, {
          seq: Columns.number(row, "seq"),
          holderIds: Columns.texts(row, "holder_ids")
        })
      }
      const last = Math.max(0, ...expired.map((row) => Columns.number(row, "seq")))
      db.run("update head set journal_pruned_to = max(journal_pruned_to, ?) where id = 1", [last])
      return expired.length
    }),
  pruneAudit: ({ before }) => transactions.write(({ db }) => SqliteAudit.prune(db, before)),
  noteRestore: (at) =>
    transactions.write(({ db }) => {
      const { audit, restores, seq } = headOf(db)
      const after = Restores.added(restores, { seq, auditSeq: audit.seq, at })
      db.run("update head set restores = ? where id = 1", [JSON.stringify(after)])
    }),
  wakes: wakes.stream(FEED)
})

/** Head at the last answer's instant, which is given out again where nothing was stamped since. */
const answeredAt = (db: Database, since: string): FeedHead | undefined =>
  db.get("select 1 from head where id = 1 and answered_last = at and at >= ?", [since]) ===
  undefined
    ? undefined
    : headOf(db)

const faultOf = (head: FeedHead, events: ReadonlyArray<EventRow>): string | undefined => {
  const gap = events.findIndex((row, index) => row.seq !== head.seq + index + 1)
  return gap < 0 ? undefined : `${events[gap]?.seq} is not the next number`
}

const insert = (db: Database, event: EventRow): void => {
  db.run(
    `insert into event (seq, kind, type, at, "offset", instrument_id, party, resource_kind,
       resource_id, holder_ids, payload, source) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      event.seq,
      event.kind,
      event.type,
      event.at,
      event.offset,
      event.instrumentId,
      event.party,
      event.resourceKind,
      event.resourceId,
      JSON.stringify(event.holderIds),
      event.payload,
      event.source
    ]
  )
  for (const holderId of new Set(event.holderIds)) {
    db.run("insert into event_holder (holder_id, seq) values (?, ?)", [holderId, event.seq])
  }
}

const forget = (db: Database, { holderIds, seq }: Pick<EventRow, "holderIds" | "seq">): void => {
  db.run("delete from event where seq = ?", [seq])
  for (const holderId of holderIds) {
    db.run("delete from event_holder where holder_id = ? and seq = ?", [holderId, seq])
  }
}

const isHeld = (
  { holderIds, instrumentId }: Pick<EventRow, "holderIds" | "instrumentId">,
  hold: LegalHold
): boolean =>
  holderIds.some((holderId) => hold.holderIds.includes(holderId)) ||
  (instrumentId !== null && hold.instrumentIds.includes(instrumentId))

const read = (db: Database, query: FeedQuery) => {
  const { seq: head, ...bounds } = headOf(db)
  const page = FeedSql.page(query)
  page.anyOf("kind", query.kind)
  page.anyOf("type", query.type)
  page.is("instrument_id =", query.instrumentId)
  const { sql, values } = page.done(
    query.holderId === undefined
      ? { from: "event e" }
      : { from: page.ofHolder(query.holderId), numbered: "h" }
  )
  const events = db.all(sql, values).map(eventOf)
  return {
    events,
    scanned: scannedTo(query, { rows: events, head }),
    prunedTo: bounds.prunedTo,
    journalPrunedTo: bounds.journalPrunedTo,
    end: head,
    restores: bounds.restores
  }
}

const headOf = (db: Database): FeedHead => {
  const row = db.get("select * from head where id = 1") ?? {}
  return {
    seq: Columns.number(row, "seq"),
    at: Columns.text(row, "at"),
    moves: Columns.number(row, "moves"),
    projectionOffset: Columns.number(row, "projection_offset"),
    ledgerEpoch: Columns.number(row, "ledger_epoch"),
    webhooksMoved: Columns.number(row, "webhooks_moved"),
    prunedTo: Columns.number(row, "pruned_to"),
    journalPrunedTo: Columns.number(row, "journal_pruned_to"),
    restores: Restores.parse(Columns.text(row, "restores")),
    audit: {
      seq: Columns.number(row, "audit_seq"),
      hash: Columns.text(row, "audit_hash"),
      checkpoint: Columns.number(row, "audit_checkpoint")
    }
  }
}

const eventOf = (row: Columns.Row): EventRow => ({
  seq: Columns.number(row, "seq"),
  kind: Columns.text(row, "kind"),
  type: Columns.text(row, "type"),
  at: Columns.textOrNull(row, "at"),
  offset: Columns.numberOrNull(row, "offset"),
  instrumentId: Columns.textOrNull(row, "instrument_id"),
  party: Columns.textOrNull(row, "party"),
  resourceKind: Columns.text(row, "resource_kind"),
  resourceId: Columns.text(row, "resource_id"),
  holderIds: Columns.texts(row, "holder_ids"),
  payload: Columns.text(row, "payload"),
  source: Columns.textOrNull(row, "source")
})
