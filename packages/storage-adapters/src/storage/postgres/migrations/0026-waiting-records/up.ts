/**
 * Migration: the index of waiting records. The engine fills it with what records waited for before, since
 * the rules of waiting are no part of the store; a store without records has nothing to fill.
 */
export const statements: ReadonlyArray<string> = [
  `create table bursar.waiting (
     collection text collate "C" not null,
     record_id text collate "C" not null,
     kept_by text collate "C" not null,
     role text collate "C" not null,
     action text collate "C" not null,
     resource_kind text collate "C" not null,
     state text collate "C",
     instrument_id text collate "C",
     holder_id text collate "C",
     by_at text collate "C",
     since text collate "C" not null,
     sort_key text collate "C" not null,
     clock_from text collate "C",
     clock_until text collate "C",
     condition text collate "C",
     condition_holds boolean,
     hidden_from text[] collate "C",
     body text not null,
     from_offset int8 not null,
     to_offset int8 check (to_offset >= from_offset),
     from_instant text collate "C" not null,
     to_instant text collate "C" check (to_instant >= from_instant),
     check ((to_offset is null) = (to_instant is null)),
     check ((condition is null) = (condition_holds is null))
   )`,
  `create index waiting_record on bursar.waiting (collection, record_id, to_instant)`,
  `create index waiting_listed on bursar.waiting (role, resource_kind, sort_key)
   where to_instant is null`,
  `create index waiting_instrument on bursar.waiting (instrument_id, role, resource_kind, sort_key)
   where to_instant is null and instrument_id is not null`,
  // A holder has few waits at a time, so that they are sorted when they are listed.
  `create index waiting_holder on bursar.waiting (holder_id)
   where to_instant is null and holder_id is not null`,
  `create index waiting_condition on bursar.waiting (condition)
   where to_instant is null and condition is not null`,
  // Waits that ended since a pin: a list at a point in the past reads them.
  `create index waiting_closed_at on bursar.waiting (to_instant) where to_instant is not null`,
  `create index waiting_closed_by on bursar.waiting (to_offset) where to_offset is not null`,
  `create table bursar.waiting_mark (mark text collate "C" primary key)`,
  `insert into bursar.waiting_mark (mark)
   select '*:1' where not exists (select from bursar.document)`
]
