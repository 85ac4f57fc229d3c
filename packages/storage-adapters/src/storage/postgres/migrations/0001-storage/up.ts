/** The tables of the nine storage ports. */
export const statements: ReadonlyArray<string> = [
  `create function bursar.defect(what text) returns boolean language plpgsql as
   $$ begin raise exception using errcode = 'BU001', message = what; end $$`,

  `create table bursar.fact (
     collection text collate "C" not null,
     record_id text collate "C" not null,
     version int8 not null check (version > 0),
     position int8 generated always as identity,
     fact text not null,
     cause text not null,
     "offset" int8 not null,
     recorded_at text collate "C" not null,
     primary key (collection, record_id, version)
   )`,
  // Records in the order of their creation, for replays.
  `create index fact_born on bursar.fact (collection, position) where version = 1`,

  `create table bursar.document (
     collection text collate "C" not null,
     record_id text collate "C" not null,
     version int8 not null check (version > 0),
     sort_key text collate "C" not null,
     body text not null,
     filters jsonb not null,
     created_at text collate "C" not null,
     from_offset int8 not null,
     to_offset int8 check (to_offset >= from_offset),
     from_instant text collate "C" not null,
     to_instant text collate "C" check (to_instant >= from_instant),
     primary key (collection, record_id, version),
     check ((to_offset is null) = (to_instant is null))
   )`,
  `create unique index document_open on bursar.document (collection, sort_key)
   where to_offset is null`,
  `create index document_filters on bursar.document using gin (filters jsonb_path_ops)
   where to_offset is null`,
  // Versions closed since a pin: a list at a point in the past reads them.
  `create index document_closed_at on bursar.document (collection, to_instant)
   where to_instant is not null`,
  `create index document_closed_by on bursar.document (collection, to_offset)
   where to_offset is not null`,

  `create table bursar.key (
     scope text collate "C" not null,
     key text collate "C" not null,
     fingerprint text not null,
     target text not null,
     binds_until text collate "C",
     primary key (scope, key)
   )`,
  `create index key_lapsing on bursar.key (binds_until) where binds_until is not null`,
  `create table bursar.nonce (
     scope text collate "C" not null,
     nonce text collate "C" not null,
     until text collate "C" not null,
     primary key (scope, nonce)
   )`,
  `create index nonce_lapsing on bursar.nonce (until)`,

  `create sequence bursar.work_fence`,
  `create table bursar.work (
     queue text collate "C" not null,
     item_id text collate "C" not null,
     place int8 generated always as identity,
     resource text collate "C" not null,
     payload text not null,
     run_at timestamptz not null,
     leased_until timestamptz,
     worker text,
     fence int8 not null default 0,
     attempt int4 not null default 0,
     started_at timestamptz,
     primary key (queue, item_id)
   ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)`,
  `create index work_place on bursar.work (queue, place)`,
  `create index work_line on bursar.work (queue, resource, place)`,

  `create table bursar.head (
     id int4 primary key check (id = 1),
     seq int8 not null,
     at text collate "C" not null,
     projection_offset int8 not null,
     ledger_time text collate "C",
     horizon_offset int8 not null,
     horizon_time text collate "C",
     horizon_ledger_time text collate "C",
     writer_epoch int8 not null,
     participant text,
     ledger_epoch int8 not null
   ) with (fillfactor = 10, autovacuum_vacuum_threshold = 1000)`,
  `insert into bursar.head (id, seq, at, projection_offset, horizon_offset, writer_epoch, ledger_epoch)
   values (1, 0, '', 0, 0, 0, 1)`,
  `create table bursar.event (
     seq int8 primary key,
     kind text collate "C" not null,
     type text collate "C" not null,
     at text collate "C",
     "offset" int8,
     instrument_id text collate "C",
     party text collate "C",
     resource_kind text collate "C" not null,
     resource_id text collate "C" not null,
     holder_ids text[] collate "C" not null,
     payload text not null,
     source text collate "C"
   )`,
  `create unique index event_source on bursar.event (source) where source is not null`,
  `create index event_resource on bursar.event (resource_id, seq)`,
  `create index event_instrument on bursar.event (instrument_id, seq)
   where instrument_id is not null`,
  `create index event_holder on bursar.event using gin (holder_ids)
   where holder_ids <> '{}'`,

  `create table bursar.ledger_update (
     "offset" int8 primary key,
     prev_offset int8 not null,
     update_id text not null,
     command_id text collate "C",
     workflow_id text,
     effective_at text collate "C" not null,
     record_time text collate "C" not null,
     ledger_time text collate "C" not null,
     raw text not null
   )`,
  `create index ledger_update_command on bursar.ledger_update (command_id, "offset")
   where command_id is not null`,
  `create index ledger_update_time on bursar.ledger_update (ledger_time, "offset")`,

  `create table bursar.blob (hash text collate "C" primary key, bytes bytea not null)`,

  `create unlogged table bursar.rate (
     subject text collate "C" primary key,
     arrival int8 not null,
     admitted boolean not null
   ) with (fillfactor = 50)`
]
