/** Migration: table of the instants that answers were given for, by offset. */
export const statements: ReadonlyArray<string> = [
  `alter table bursar.head
     add column answered_first text collate "C",
     add column answered_last text collate "C"`,

  `create table bursar.answered (
     "offset" int8 primary key,
     first text collate "C" not null,
     last text collate "C" not null check (last >= first)
   )`,
  `create index answered_first on bursar.answered (first)`,
  `create index answered_last on bursar.answered (last)`
]
