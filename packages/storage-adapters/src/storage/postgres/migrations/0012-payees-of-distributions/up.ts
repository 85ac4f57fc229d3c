/** Migration: an index for each filter column by which a step of a distribution looks its payees up. */
const ordered = [
  { name: "document_pair", column: "pair" },
  { name: "document_payee", column: "payee" },
  { name: "document_tally", column: "tally" }
]

export const statements: ReadonlyArray<string> = ordered.map(
  ({ name, column }) => `create index ${name}
   on bursar.document (collection, (filters ->> '${column}'), sort_key)
   where to_offset is null and filters ->> '${column}' is not null`
)
