/** Migration: index of the open lots of a party, in the order in which units leave them. */
export const statements: ReadonlyArray<string> = [
  `create index document_entry
   on bursar.document (collection, (filters ->> 'entry'), sort_key)
   where to_offset is null and filters ->> 'entry' is not null`
]
