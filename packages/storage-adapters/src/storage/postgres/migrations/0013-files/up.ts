/** Migration: tables of files in chunks. */
export const statements: ReadonlyArray<string> = [
  `create table bursar.file (
     name text collate "C" primary key,
     number int8 generated always as identity unique,
     chunks int8 not null default 0,
     sealed_at timestamptz
   )`,
  `create table bursar.file_chunk (
     file int8 not null,
     chunk int8 not null,
     bytes bytea not null,
     primary key (file, chunk)
   )`,
  // Encrypted bytes do not compress, so that the attempt would only cost time.
  "alter table bursar.file_chunk alter column bytes set storage external"
]
