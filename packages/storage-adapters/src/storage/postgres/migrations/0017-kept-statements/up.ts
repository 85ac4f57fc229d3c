/** Migration: retention reads statements that still have lines and bytes, oldest first, from an index. */
export const statements: ReadonlyArray<string> = [
  `create index document_kept
   on bursar.document (collection, (filters ->> 'kept'), sort_key)
   where to_offset is null and filters ->> 'kept' is not null`
]
