/** Migration: indexes that hold a filter column together with the order of lists. */
const indexed = [
  { name: "document_asset", column: "asset" },
  { name: "document_state", column: "state" },
  { name: "document_state_moved", column: "state:1" },
  { name: "document_state_moved_twice", column: "state:2" }
]

export const statements: ReadonlyArray<string> = indexed.map(
  ({ name, column }) => `create index ${name}
   on bursar.document (collection, (filters ->> '${column}'), sort_key)
   where to_offset is null and filters ->> '${column}' is not null`
)
