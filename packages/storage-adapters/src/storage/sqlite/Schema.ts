/** Tables of the store's files, and the steps by which a file of an earlier release is brought to them. */
import { Data } from "effect"
import type { Database } from "./Database.ts"

/** The file has tables that this program does not know, or is of another application. */
export class FileUnusable extends Data.TaggedError("FileUnusable")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** Marks a file as one of this store: `burs` in ASCII. */
const APPLICATION_ID = 0x62757273

/** Files of a store; each has a lock of its own for its one writer. */
export type FileName = "records" | "rows" | "rates"

/** Clause for the versions of distribution lines since a ledger epoch lost them. */
const LOST_LINE = `collection = 'distribution-line'
  and record_id in (
    select substr(record_id, length('distribution-line/') + 1) from document
    where collection = 'lost-record' and record_id glob 'distribution-line/*')
  and json_extract(body, '$.lost')`

/** Versions of admissions whose offer was accepted past its time, while the credential is on the ledger. */
const ACCEPTED_LATE = `collection = 'admission'
  and filters ->> '$.state' = 'expired'
  and body ->> '$.admittedAt' is null
  and body ->> '$.credentialCid' is not null`

/** Steps of each file in order, each immutable once it is released: a change of the tables is a new step. */
const STEPS: Readonly<Record<FileName, ReadonlyArray<ReadonlyArray<string>>>> = {
  records: [
    [
      `create table fact (
         position integer primary key,
         collection text not null,
         record_id text not null,
         version integer not null check (version > 0),
         fact text not null,
         cause text not null,
         "offset" integer not null,
         recorded_at text not null
       ) strict`,
      "create unique index fact_version on fact (collection, record_id, version)",
      // Records in the order of their creation, for replays.
      "create index fact_born on fact (collection, position) where version = 1",

      `create table document (
         id integer primary key,
         collection text not null,
         record_id text not null,
         version integer not null check (version > 0),
         sort_key text not null,
         body text not null,
         filters text not null,
         created_at text not null,
         from_offset integer not null,
         to_offset integer check (to_offset >= from_offset),
         from_instant text not null,
         to_instant text check (to_instant >= from_instant),
         check ((to_offset is null) = (to_instant is null))
       ) strict`,
      "create unique index document_version on document (collection, record_id, version)",
      `create unique index document_open on document (collection, sort_key)
       where to_offset is null`,
      "create index document_changed on document (collection, from_instant) where to_offset is null",
      // Versions closed since a pin: a list at a point in the past reads them.
      `create index document_closed_offset on document (collection, to_offset)
       where to_offset is not null`,
      `create index document_closed_instant on document (collection, to_instant)
       where to_instant is not null`,
      // The version of one record at a pin, however many came after it. Records with few versions are
      // read from the index of their versions, so that most writes cost no index entry more.
      `create index document_begun_offset on document (collection, record_id, from_offset, version)
       where version > 8`,
      `create index document_begun_instant on document (collection, record_id, from_instant, version)
       where version > 8`,
      // Inverted index of the open versions: every filter column, together with the order of lists.
      `create table document_filter (
         collection text not null,
         name text not null,
         value text not null,
         sort_key text not null,
         primary key (collection, name, value, sort_key)
       ) strict, without rowid`,

      `create table key (
         scope text not null,
         key text not null,
         fingerprint text not null,
         target text not null,
         binds_until text,
         primary key (scope, key)
       ) strict, without rowid`,
      "create index key_lapsing on key (binds_until) where binds_until is not null",
      "create index key_target on key (target)",
      `create table nonce (
         scope text not null,
         nonce text not null,
         until integer not null,
         primary key (scope, nonce)
       ) strict, without rowid`,
      "create index nonce_lapsing on nonce (until)",

      `create table work (
         place integer primary key autoincrement,
         queue text not null,
         item_id text not null,
         resource text not null,
         payload text not null,
         run_at integer not null,
         leased_until integer,
         worker text,
         fence integer not null default 0,
         attempt integer not null default 0,
         started_at text
       ) strict`,
      "create unique index work_item on work (queue, item_id)",
      "create index work_due on work (queue, run_at, place)",
      "create index work_line on work (queue, resource, place)",
      "create table work_fence (id integer primary key check (id = 1), last integer not null) strict",
      "insert into work_fence (id, last) values (1, 0)",

      `create table head (
         id integer primary key check (id = 1),
         seq integer not null,
         at text not null,
         moves integer not null,
         webhooks_moved integer not null,
         pruned_to integer not null,
         audit_seq integer not null,
         audit_hash text not null,
         audit_checkpoint integer not null,
         projection_offset integer not null,
         ledger_time text,
         horizon_offset integer not null,
         horizon_time text,
         horizon_ledger_time text,
         writer_epoch integer not null,
         participant text,
         ledger_epoch integer not null,
         answered_first text,
         answered_last text
       ) strict`,
      `insert into head (id, seq, at, moves, webhooks_moved, pruned_to, audit_seq, audit_hash,
         audit_checkpoint, projection_offset, horizon_offset, writer_epoch, ledger_epoch)
       values (1, 0, '', 0, 0, 0, 0, '${"0".repeat(64)}', 0, 0, 0, 0, 1)`,
      `create table answered (
         "offset" integer primary key,
         first text not null,
         last text not null check (last >= first)
       ) strict`,
      "create index answered_first on answered (first)",
      "create index answered_last on answered (last)",

      `create table event (
         seq integer primary key,
         kind text not null,
         type text not null,
         at text,
         "offset" integer,
         instrument_id text,
         party text,
         resource_kind text not null,
         resource_id text not null,
         holder_ids text not null,
         payload text not null,
         source text
       ) strict`,
      "create unique index event_source on event (source) where source is not null",
      "create index event_resource on event (resource_id, seq)",
      "create index event_instrument on event (instrument_id, seq) where instrument_id is not null",
      "create index event_control on event (seq) where kind = 'control'",
      `create index event_journal on event ("offset") where kind = 'journal'`,
      `create table event_holder (
         holder_id text not null,
         seq integer not null,
         primary key (holder_id, seq)
       ) strict, without rowid`,

      `create table audit (
         seq integer primary key,
         at text not null,
         action text not null,
         actor text,
         resource_kind text,
         resource_id text,
         text text not null,
         prev_hash text not null unique,
         hash text not null
       ) strict`,
      "create index audit_actor on audit (actor, seq) where actor is not null",
      "create index audit_resource on audit (resource_id, seq) where resource_id is not null",
      "create index audit_checkpoint on audit (seq) where action = 'audit.checkpoint'",
      `create trigger audit_stays before update on audit
       begin select raise(abort, 'The audit log is never changed'); end`,
      // The log is pruned at its front alone, up to a checkpoint that stays.
      `create trigger audit_pruned before delete on audit
       when not exists (
         select 1 from audit where action = 'audit.checkpoint' and seq > old.seq)
       begin select raise(abort, 'The audit log is pruned before a checkpoint alone'); end`,

      `create table ledger_update (
         "offset" integer primary key,
         prev_offset integer not null,
         update_id text not null,
         command_id text,
         workflow_id text,
         effective_at text not null,
         record_time text not null,
         ledger_time text not null,
         raw text not null
       ) strict`,
      `create index ledger_update_command on ledger_update (command_id)
       where command_id is not null`,
      `create index ledger_update_time on ledger_update (ledger_time, "offset")`,

      "create table blob (hash text primary key, bytes blob not null) strict",

      // Seals of what the file of rows has: each counts for one state of an owner alone.
      `create table sealed (
         kind text not null,
         owner text not null,
         number integer not null,
         state integer not null,
         primary key (kind, owner)
       ) strict, without rowid`
    ],
    [
      "alter table head add column journal_pruned_to integer not null default 0",
      "alter table head add column restores text not null default '[]'",
      // Numbers have no gaps, so that a missing one was pruned; without a horizon no journal event was.
      `update head set journal_pruned_to = coalesce((
         select n from (
           select seq - 1 as n from event union all select seq from head where id = 1
         )
         where n > 0 and not exists (select 1 from event where seq = n)
         order by n desc limit 1), 0)
       where id = 1 and horizon_offset > 0`
    ],
    [
      // Distribution lines that a ledger epoch lost are in no list of lines that are waited for.
      `delete from document_filter
       where collection = 'distribution-line' and name in ('open', 'owedTo', 'undirected')
         and sort_key in (select sort_key from document where to_offset is null and ${LOST_LINE})`,
      `update document
       set filters = json_set(filters, '$.open', null, '$.owedTo', null, '$.undirected', null,
         '$.lostTally', filters ->> '$.tally')
       where ${LOST_LINE}`,
      `insert into document_filter (collection, name, value, sort_key)
       select collection, 'lostTally', filters ->> '$.lostTally', sort_key from document
       where to_offset is null and ${LOST_LINE}`
    ],
    [
      `create table term (
         collection text not null,
         rank text not null,
         text text not null,
         record_id text not null,
         shown text,
         primary key (collection, rank, text, record_id)
       ) strict, without rowid`,
      // Terms of which no record tells the text: they are deleted by their record.
      "create index term_shown on term (record_id) where shown is not null",
      "create table term_mark (mark text primary key) strict, without rowid",
      // The engine fills the terms of the records of a store that has some.
      "insert into term_mark (mark) select '*:1' where not exists (select 1 from document)"
    ],
    // The index of waiting records, which the engine fills with what records waited for before.
    [
      `create table waiting (
         id integer primary key,
         collection text not null,
         record_id text not null,
         kept_by text not null,
         role text not null,
         action text not null,
         resource_kind text not null,
         state text,
         instrument_id text,
         holder_id text,
         by_at text,
         since text not null,
         sort_key text not null,
         clock_from text,
         clock_until text,
         condition text,
         condition_holds integer,
         hidden_from text,
         item text not null,
         from_offset integer not null,
         to_offset integer check (to_offset >= from_offset),
         from_instant text not null,
         to_instant text check (to_instant >= from_instant),
         check ((to_offset is null) = (to_instant is null)),
         check ((condition is null) = (condition_holds is null))
       ) strict`,
      "create index waiting_record on waiting (collection, record_id, to_instant)",
      `create index waiting_listed on waiting (role, resource_kind, sort_key)
       where to_instant is null`,
      `create index waiting_condition on waiting (condition)
       where to_instant is null and condition is not null`,
      // Waits that ended since a pin: a list at a point in the past reads them.
      "create index waiting_closed_instant on waiting (to_instant) where to_instant is not null",
      "create index waiting_closed_offset on waiting (to_offset) where to_offset is not null",
      "create table waiting_mark (mark text primary key) strict, without rowid",
      `insert into waiting_mark (mark)
       select '*:1' where not exists (select 1 from document)`
    ],
    // Credentials of offers that were accepted past their time are counted under the holder cap.
    [
      `update document
       set filters = json_set(filters, '$.acceptedLate', filters ->> '$.instrumentId')
       where ${ACCEPTED_LATE}`,
      `insert or ignore into document_filter (collection, name, value, sort_key)
       select collection, 'acceptedLate', filters ->> '$.acceptedLate', sort_key from document
       where to_offset is null and ${ACCEPTED_LATE}`
    ]
  ],
  rows: [
    [
      // Owners of rows and chunks. The state rises with every discard, so that a seal of before counts no
      // more; `closing` is set before a transaction seals the owner, and stays if it fails.
      `create table owner (
         number integer primary key autoincrement,
         kind text not null,
         owner text not null,
         state integer not null default 0,
         parts integer not null default 0,
         closing integer not null default 0,
         unique (kind, owner)
       ) strict`,
      `create table bulk_row (
         owner integer not null,
         key text not null,
         match text not null,
         "group" text not null,
         amounts text not null,
         body text not null,
         entry integer not null,
         amount text,
         day text,
         primary key (owner, key)
       ) strict, without rowid`,
      // Booked entries alone (1), and those that are reversals (2).
      "create index bulk_row_entry on bulk_row (match, amount, day) where entry > 0",
      "create index bulk_row_reversal on bulk_row (amount) where entry = 2",
      "create index bulk_row_reversal_owner on bulk_row (owner) where entry = 2",
      `create table chunk (
         id integer primary key,
         owner integer not null,
         chunk integer not null,
         bytes blob not null,
         unique (owner, chunk)
       ) strict`
    ]
  ],
  rates: [
    [
      `create table rate (subject text primary key, arrival integer not null)
       strict, without rowid`,
      "create index rate_arrival on rate (arrival)"
    ]
  ]
}

/** Brings a file to the tables of this program, in one transaction; a file of nobody is made one of the store. */
export const migrate = (db: Database, name: FileName): void => {
  db.run("begin immediate")
  try {
    const steps = STEPS[name]
    const made = Number(db.get("pragma user_version")?.["user_version"])
    const application = Number(db.get("pragma application_id")?.["application_id"])
    if (application !== APPLICATION_ID && (made > 0 || !isEmpty(db))) {
      throw new FileUnusable({
        detail: `${name}.sqlite is a database of another application; name another folder.`
      })
    }
    if (made > steps.length) {
      throw new FileUnusable({
        detail: `${name}.sqlite is newer than this program: it has step ${made} of its tables, and this program knows ${steps.length}; run the program that wrote it.`
      })
    }
    for (const statement of steps.slice(made).flat()) db.run(statement)
    db.run(`pragma user_version = ${steps.length}`)
    db.run(`pragma application_id = ${APPLICATION_ID}`)
    db.run("commit")
  } finally {
    if (db.isInTransaction()) db.run("rollback")
  }
}

const isEmpty = (db: Database): boolean =>
  db.get("select 1 from sqlite_schema limit 1") === undefined
