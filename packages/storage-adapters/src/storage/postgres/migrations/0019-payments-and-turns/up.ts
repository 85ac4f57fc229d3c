/**
 * Migration: payments are found by holder and month of delivery, and a party's instruments by the
 * movements that began or ended its holding.
 */
const ordered = [
  { name: "document_paid_in", column: "paidIn" },
  { name: "document_turned", column: "turned" }
]

export const statements: ReadonlyArray<string> = [
  // Versions stored before lack the columns; at an old pin they are read by them too.
  `update bursar.document
   set filters = filters || jsonb_build_object('paidIn', concat(body::jsonb ->> 'holderId', ' ',
     left(coalesce(body::jsonb -> 'delivery' ->> 'ledgerTime', body::jsonb ->> 'deliveredAt'), 7)))
   where collection = 'distribution-line' and body::jsonb ->> 'holderId' is not null
     and body::jsonb ->> 'state' in ('delivered', 'rolled')`,
  `update bursar.document
   set filters = filters || jsonb_build_object('turned', body::jsonb ->> 'party')
   where collection = 'party-movement' and (
     (body::jsonb ->> 'balanceAfter')::numeric = 0
     or body::jsonb ->> 'to' = body::jsonb ->> 'party'
       and body::jsonb ->> 'from' is distinct from body::jsonb ->> 'to'
       and (body::jsonb ->> 'balanceAfter')::numeric = (body::jsonb ->> 'units')::numeric)`,
  ...ordered.map(
    ({ name, column }) => `create index ${name}
     on bursar.document (collection, (filters ->> '${column}'), sort_key)
     where to_offset is null and filters ->> '${column}' is not null`
  )
]
