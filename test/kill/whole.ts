/**
 * Invariants of a database at every moment, however its writers ended: a write has all its rows, or
 * none.
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"

/**
 * Settings of every host whose rows are judged. No receiver answers there: every event has its
 * delivery, and each stays due.
 */
export const settings = {
  BURSAR_WEBHOOKS_ALLOW_HTTP: "true",
  BURSAR_WEBHOOKS_PORTS: "1",
  BURSAR_WEBHOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
  BURSAR_WEBHOOKS_CONFIGURED: JSON.stringify([
    {
      webhookId: "keeper",
      url: "http://localhost:1/",
      events: [],
      secrets: [`whsec_${Buffer.alloc(32, 9).toString("base64")}`]
    }
  ])
}

/** Queries by the name of a fault; each selects the rows with the fault. */
const wrongs: ReadonlyArray<readonly [what: string, sql: string]> = [
  [
    "a version that is not of the last fact at its offset and instant, or no version of such a fact",
    `select coalesce(f.collection, d.collection) || '/' || coalesce(f.record_id, d.record_id)
       || '@' || coalesce(f.version, d.version) as wrong
     from (
       select collection, record_id, max(version) as version from bursar.fact
       group by collection, record_id, "offset", recorded_at) f
     full join bursar.document d
       on (d.collection, d.record_id, d.version) = (f.collection, f.record_id, f.version)
     where f.version is null or d.version is null`
  ],
  [
    "a gap in the feed, or a head beside its end",
    `select h.seq || ' ' || count(e.seq) || ' ' || coalesce(max(e.seq), 0) as wrong
     from bursar.head h left join bursar.event e on true group by h.seq
     having count(e.seq) <> h.seq or coalesce(max(e.seq), 0) <> h.seq`
  ],
  [
    "an audit record that does not follow the one before it",
    `select a.seq::text as wrong from bursar.audit a left join bursar.audit b on b.seq = a.seq - 1
     where a.prev_hash <> coalesce(b.hash, decode(repeat('00', 32), 'hex')) or (b.seq is null and a.seq > 1)`
  ],
  [
    "a head beside the audit log's end",
    `select h.audit_seq || ' ' || coalesce(a.seq, 0) as wrong from bursar.head h
     left join (select seq, hash from bursar.audit order by seq desc limit 1) a on true
     where (h.audit_seq, h.audit_hash) <> (coalesce(a.seq, 0), coalesce(a.hash, decode(repeat('00', 32), 'hex')))`
  ],
  [
    "an event without its one delivery, or a delivery without its event",
    `select coalesce(e.seq::text, d.record_id) as wrong
     from (select * from bursar.event where kind = 'control') e
     full join (
       select record_id, (body::json ->> 'seq')::int8 as seq from bursar.document
       where collection = 'delivery' and to_offset is null) d on d.seq = e.seq
     where e.seq is null or d.seq is null
     union all
     select body::json ->> 'seq' from bursar.document
     where collection = 'delivery' and to_offset is null
     group by 1 having count(*) > 1`
  ],
  [
    "a delivery that is due and not queued, or queued and over",
    `select coalesce(d.record_id, w.item_id) as wrong
     from (select record_id from bursar.document
           where collection = 'delivery' and to_offset is null
             and body::json ->> 'state' = 'pending') d
     full join (select item_id from bursar.work where queue like 'deliveries:%') w
       on w.item_id = d.record_id
     where d.record_id is null or w.item_id is null`
  ],
  [
    "an operation that is to run and not queued, or queued and over",
    `select coalesce(o.record_id, w.item_id) as wrong
     from (select record_id from bursar.document
           where collection = 'operation' and to_offset is null
             and body::json ->> 'state' in ('queued', 'running')) o
     full join (select item_id from bursar.work where queue = 'operations') w
       on w.item_id = o.record_id
     where o.record_id is null or w.item_id is null`
  ],
  [
    "an operation without its one key, or a key without its operation",
    `select coalesce(o.record_id, k.target) as wrong
     from (select record_id from bursar.document where collection = 'operation' and to_offset is null
             and body::json ->> 'actionKey' is null) o
     full join (select target from bursar.key where target like 'operation:%') k on k.target = 'operation:' || o.record_id
     where o.record_id is null or k.target is null`
  ],
  [
    "an operation whose state, events and audit records tell different stories",
    `with operation as (
       select record_id as id, body::json ->> 'state' as state from bursar.document
       where collection = 'operation' and to_offset is null
     ), told as (
       select payload::json ->> 'operationId' as id, string_agg(type, ' ' order by seq) as events
       from bursar.event where type like 'operation.%' group by 1
     ), logged as (
       select text::json ->> 'operationId' as id,
         string_agg(text::json ->> 'stage', ' ' order by seq) as stages
       from bursar.audit where text::json ->> 'operationId' is not null group by 1
     )
     select coalesce(o.id, t.id, l.id) || ' is ' || coalesce(o.state, 'nowhere') || ', told '
       || coalesce(t.events, 'nothing') || ', logged ' || coalesce(l.stages, 'nothing') as wrong
     from operation o full join told t on t.id = o.id
       full join logged l on l.id = coalesce(o.id, t.id)
     where (o.state, coalesce(t.events, ''), coalesce(l.stages, '')) not in (
       ('queued', '', 'requested'),
       ('running', '', 'requested started'),
       ('succeeded', 'operation.succeeded', 'requested started succeeded'),
       ('succeeded', 'operation.succeeded', 'approved started succeeded'))
       or o.state is null`
  ],
  [
    "a statement or a run without its one event, or such an event without its record",
    `select coalesce(r.record_id, e.resource_id) || ' ' || coalesce(r.type, e.type) as wrong
     from (select record_id, case collection when 'external-statement' then 'statement.received'
             else 'reconciliation.run' end as type
           from bursar.document
           where collection in ('external-statement', 'reconciliation-run') and to_offset is null) r
     full join (select type, resource_id, count(*) as events from bursar.event
           where type in ('statement.received', 'reconciliation.run') group by 1, 2) e
       on (e.type, e.resource_id) = (r.type, r.record_id)
     where r.record_id is null or e.events is distinct from 1`
  ],
  [
    "a statement or a run that is logged otherwise than once",
    `select coalesce(r.record_id, a.id) as wrong
     from (select record_id from bursar.document
           where collection in ('external-statement', 'reconciliation-run') and to_offset is null) r
     full join (select text::json ->> 'resourceId' as id, count(*) as logged from bursar.audit
           where text::json ->> 'action' in ('statement.receive', 'reconciliation.start')
             and text::json ->> 'stage' = 'succeeded'
           group by 1) a on a.id = r.record_id
     where r.record_id is null or a.logged is distinct from 1`
  ],
  [
    "a statement without its sealed lines or bytes, or such lines or bytes without a statement",
    `with statement as (
       select 'statement/' || record_id as name, (body::json ->> 'lineCount')::int8 as lines
       from bursar.document where collection = 'external-statement' and to_offset is null
     ), sealed_rows as (
       select owner, rows from bursar.bulk where owner like 'statement/%'
         and sealed_at is not null
     ), sealed_file as (
       select name, chunks, (select count(*) from bursar.file_chunk c where c.file = f.number) as kept
       from bursar.file f where name like 'statement/%' and sealed_at is not null
     )
     select coalesce(s.name, r.owner, f.name) as wrong
     from statement s full join sealed_rows r on r.owner = s.name
       full join sealed_file f on f.name = coalesce(s.name, r.owner)
     where s.name is null or r.rows is distinct from s.lines
       or f.name is null or f.chunks <> f.kept`
  ],
  [
    "a statement that is to be swept, or bytes or lines of none that nothing will sweep",
    `with statement as (
       select record_id as id from bursar.document
       where collection = 'external-statement' and to_offset is null
     ), swept as (select item_id as id from bursar.work where queue = 'statement-stages'),
     kept as (
       select split_part(name, '/', 2) as id from bursar.file where name like 'statement/%'
       union select split_part(owner, '/', 2) from bursar.bulk where owner like 'statement/%'
     )
     select id as wrong from statement join swept using (id)
     union all
     select id from kept where id not in (select id from statement)
       and id not in (select id from swept)`
  ],
  [
    "as many runs by statements, made or queued, as there are not statements",
    `select s.n || ' ' || r.n as wrong
     from (select count(*) as n from bursar.document
           where collection = 'external-statement' and to_offset is null) s,
       (select (select count(*) from bursar.document
           where collection = 'reconciliation-run' and to_offset is null
             and body::json ->> 'trigger' = 'statement')
         + (select count(*) from bursar.work
           where queue = 'reconciliation' and item_id like 'statement/%') as n) r
     where s.n <> r.n`
  ],
  [
    "a slot of a date that does not hold the one statement in force of the date",
    `select coalesce(s.id, d.id) as wrong
     from (select record_id as id from bursar.document
           where collection = 'external-statement' and to_offset is null
             and body::json ->> 'supersededBy' is null) s
     full join (select body::json ->> 'externalStatementId' as id from bursar.document
           where collection = 'statement-of-date' and to_offset is null) d on d.id = s.id
     where s.id is null or d.id is null`
  ],
  [
    "a bulk row without its owner, or an owner with another number of rows than it counts",
    `select coalesce(r.owner, b.number)::text as wrong
     from (select owner, count(*) as rows from bursar.bulk_row group by owner) r
     full join bursar.bulk b on b.number = r.owner
     where b.number is null or b.rows <> coalesce(r.rows, 0)`
  ]
]

/** Waits until no connection uses the database, and returns all faults of its rows. */
export const wrong = (url: string): Promise<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const connection = yield* PgConnection.make({ url: Redacted.make(url) })
    // Statements that a killed host sent may still run for a moment.
    for (;;) {
      const { rows } = yield* connection.query(
        "select 1 from pg_stat_activity where datname = current_database() and application_name like 'bursar%'"
      )
      if (rows.length === 0) break
      yield* Effect.sleep("20 millis")
    }
    const found: Array<string> = []
    for (const [what, sql] of wrongs) {
      const { rows } = yield* connection.query(sql)
      found.push(...rows.map((row) => `${what}: ${String(row["wrong"])}`))
    }
    return found
  }).pipe(Effect.scoped, Effect.runPromise)
