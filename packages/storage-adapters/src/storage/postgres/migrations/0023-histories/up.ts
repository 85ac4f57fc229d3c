/** Migration: the head says up to where journal events are pruned, and which restores the store has had. */
export const statements: ReadonlyArray<string> = [
  `alter table bursar.head
     add column journal_pruned_to int8 not null default 0,
     add column restores text not null default '[]'`,
  // Numbers have no gaps, so that a missing one was pruned; without a horizon no journal event was.
  `update bursar.head set journal_pruned_to = coalesce((
     select n from (
       select seq - 1 as n from bursar.event
       union all
       select (select seq from bursar.head where id = 1)
     ) as before_or_last
     where n > 0 and not exists (select from bursar.event where seq = n)
     order by n desc limit 1), 0)
   where id = 1 and horizon_offset > 0`
]
