/** Migration: an index for each filter column of the API's lists, and for clock moves that are due. */
const ordered = [
  { name: "document_instrument", column: "instrumentId" },
  { name: "document_holder", column: "holderId" },
  { name: "document_party", column: "party" },
  { name: "document_kind", column: "kind" },
  { name: "document_resource_kind", column: "resourceKind" },
  { name: "document_actor", column: "actor" },
  { name: "document_registrar", column: "registrar" },
  { name: "document_cycle", column: "cycleId" },
  { name: "document_open_order", column: "open" },
  { name: "document_live", column: "live" },
  { name: "document_listed", column: "listed" },
  { name: "document_mode", column: "mode" },
  { name: "document_reason", column: "reason" },
  { name: "document_source", column: "source" },
  { name: "document_standing_settlement", column: "standingSettlementId" },
  { name: "document_screening", column: "screening" }
]

export const statements: ReadonlyArray<string> = [
  ...ordered.map(
    ({ name, column }) => `create index ${name}
   on bursar.document (collection, (filters ->> '${column}'), sort_key)
   where to_offset is null and filters ->> '${column}' is not null`
  ),
  "drop index bursar.document_state_moved",
  "drop index bursar.document_state_moved_twice",
  ...[1, 2].map(
    (move) => `create index document_clock_${move}
   on bursar.document (collection, ((filters ->> 'clock:${move}') collate "C"))
   where to_offset is null and filters ->> 'clock:${move}' is not null`
  ),
  `create index document_changed on bursar.document (collection, from_instant)
   where to_offset is null and from_instant > ''`
]
