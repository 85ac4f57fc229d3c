/**
 * Migration: findings are listed by the instant they were first seen, and each filter column of that
 * list has an index.
 */
const ordered = [
  { name: "document_severity", column: "severity" },
  { name: "document_check", column: "check" },
  { name: "document_run", column: "runId" },
  { name: "document_hold", column: "holdId" }
]

export const statements: ReadonlyArray<string> = [
  // The sort key was the id alone. Its instant has 9 fraction digits, where the record may print 6.
  `update bursar.document
   set sort_key = left(body::jsonb ->> 'firstSeenAt', 20)
         || rpad(rtrim(substr(body::jsonb ->> 'firstSeenAt', 21), 'Z'), 9, '0')
         || 'Z ' || record_id,
       filters = filters
         || jsonb_strip_nulls(jsonb_build_object('holderId', body::jsonb ->> 'holderId'))
   where collection = 'finding'`,
  ...ordered.map(
    ({ name, column }) => `create index ${name}
   on bursar.document (collection, (filters ->> '${column}'), sort_key)
   where to_offset is null and filters ->> '${column}' is not null`
  )
]
