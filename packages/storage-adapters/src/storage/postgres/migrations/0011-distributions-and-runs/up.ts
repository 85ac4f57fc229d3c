/** Migration: an index for each filter column of the lists of distributions, lines and runs. */
const ordered = [
  { name: "document_distribution", column: "distributionId" },
  { name: "document_shown_state", column: "shownState" },
  { name: "document_month", column: "month" },
  { name: "document_trigger", column: "trigger" },
  { name: "document_verdict", column: "verdict" },
  { name: "document_covers", column: "covers" }
]

export const statements: ReadonlyArray<string> = ordered.map(
  ({ name, column }) => `create index ${name}
   on bursar.document (collection, (filters ->> '${column}'), sort_key)
   where to_offset is null and filters ->> '${column}' is not null`
)
