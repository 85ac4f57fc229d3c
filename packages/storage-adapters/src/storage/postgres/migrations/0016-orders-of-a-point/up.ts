/** Migration: orders are found by the point that priced them, whose filter column has an index. */
export const statements: ReadonlyArray<string> = [
  // Versions stored before lack the column; at an old pin they are read by it too.
  `update bursar.document
   set filters = filters || jsonb_build_object('pointCid', body::jsonb ->> 'pointCid')
   where collection in ('subscription', 'redemption') and body::jsonb ->> 'pointCid' is not null`,
  `create index document_point
   on bursar.document (collection, (filters ->> 'pointCid'), sort_key)
   where to_offset is null and filters ->> 'pointCid' is not null`
]
