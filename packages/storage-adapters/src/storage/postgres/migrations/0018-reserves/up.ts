/** Migration: what belongs to a reserve is listed by it, in the order of the list. */
export const statements: ReadonlyArray<string> = [
  `create index document_reserve
   on bursar.document (collection, (filters ->> 'reserveId'), sort_key)
   where to_offset is null and filters ->> 'reserveId' is not null`
]
