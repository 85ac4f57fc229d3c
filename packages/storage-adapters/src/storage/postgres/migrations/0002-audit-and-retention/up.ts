/** Migration: the audit log's table, and the indexes that retention needs. */
export const statements: ReadonlyArray<string> = [
  `alter table bursar.head
     add column webhooks_moved int8 not null default 0,
     add column pruned_to int8 not null default 0,
     add column audit_seq int8 not null default 0,
     add column audit_hash text collate "C" not null default repeat('0', 64),
     add column audit_checkpoint int8 not null default 0`,

  `create table bursar.audit (
     seq int8 primary key,
     at text collate "C" not null,
     action text collate "C" not null,
     actor text collate "C",
     resource_kind text collate "C",
     resource_id text collate "C",
     text text not null,
     prev_hash text collate "C" not null unique,
     hash text collate "C" not null
   )`,
  `create index audit_actor on bursar.audit (actor, seq) where actor is not null`,
  `create index audit_resource on bursar.audit (resource_id, seq) where resource_id is not null`,

  // A statement trigger fires for a truncation too, and for a change that matches no row.
  `create function bursar.audit_stays() returns trigger language plpgsql as $$
   begin
     if tg_op = 'DELETE' and current_user = 'bursar_pruner' then return null; end if;
     raise exception using errcode = 'BU002',
       message = format('The audit log is never changed: %s by %s is refused', tg_op, current_user);
   end $$`,
  `create trigger audit_stays before update or delete or truncate on bursar.audit
   for each statement execute function bursar.audit_stays()`,
  // Revoked from the owner too, which has the rights by default.
  `revoke update, delete, truncate on bursar.audit from public, current_user`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'bursar_pruner') then
       grant usage on schema bursar to bursar_pruner;
       grant select, delete on bursar.audit to bursar_pruner;
     end if;
   end $$`,

  // Items are leased by due time: items that wait for a later try are not scanned.
  `drop index bursar.work_place`,
  `create index work_due on bursar.work (queue, run_at, place)`,

  // Keys are deleted by their targets, which are compared and never ordered.
  `create index key_target on bursar.key using hash (target)`,
  `create index event_journal on bursar.event ("offset") where kind = 'journal'`
]
