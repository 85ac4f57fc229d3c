/** Migration: statements are listed by their source, whose filter column has an index of its own. */
export const statements: ReadonlyArray<string> = [
  `create index document_external_source
   on bursar.document (collection, (filters ->> 'externalSourceId'), sort_key)
   where to_offset is null and filters ->> 'externalSourceId' is not null`
]
