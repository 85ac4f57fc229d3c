/**
 * Migration: terms by which records are searched. The engine fills in those of earlier records, since the
 * folding of texts is no part of the store; a store without records has nothing to fill.
 */
export const statements: ReadonlyArray<string> = [
  `create table bursar.term (
     collection text collate "C" not null,
     rank text collate "C" not null,
     text text collate "C" not null,
     record_id text collate "C" not null,
     shown text,
     primary key (collection, rank, text, record_id)
   )`,
  // Terms of which no record tells the text: they are deleted by their record.
  `create index term_shown on bursar.term (record_id) where shown is not null`,
  `create table bursar.term_mark (mark text collate "C" primary key)`,
  `insert into bursar.term_mark (mark)
   select '*:1' where not exists (select from bursar.document)`
]
