/** Migration: distribution lines that a ledger epoch lost are in no list of lines that are waited for. */
export const statements: ReadonlyArray<string> = [
  // Versions of before are read by their filters too, at an old pin.
  `update bursar.document
   set filters = filters || jsonb_build_object(
     'open', null, 'owedTo', null, 'undirected', null, 'lostTally', filters -> 'tally')
   where collection = 'distribution-line'
     and record_id in (
       select substr(record_id, length('distribution-line/') + 1) from bursar.document
       where collection = 'lost-record' and starts_with(record_id, 'distribution-line/'))
     and (body::jsonb -> 'lost') = 'true'`
]
