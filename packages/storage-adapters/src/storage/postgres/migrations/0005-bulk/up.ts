/** Migration: tables of bulk rows and their owners. */
export const statements: ReadonlyArray<string> = [
  `create table bursar.bulk (
     owner text collate "C" primary key,
     number int8 generated always as identity unique,
     rows int8 not null default 0,
     sealed_at timestamptz
   )`,
  `create table bursar.bulk_row (
     owner int8 not null,
     key text collate "C" not null,
     match text collate "C" not null,
     "group" text collate "C" not null,
     amounts numeric[] not null,
     body text not null,
     primary key (owner, key)
   )`
]
