/**
 * Migration: events of operations and four-eyes actions, and their records, state the instrument and
 * the holders of the record that the write acts on.
 */
const states = [
  "subscription",
  "redemption",
  "dealing-cycle",
  "standing-settlement",
  "reserve",
  "lock-agreement",
  "amendment",
  "mint",
  "reserve-redemption",
  "distribution",
  "standing-approval",
  "restriction",
  "hold"
]
  .map((collection) => `'${collection}'`)
  .join(", ")

/** Members of a stored write from its resource on, as they were printed: ids and paths have no quote. */
const printed =
  '^(\\{.*?"resource":\\{"kind":"[^"]*","id":"[^"]*","href":"[^"]*"\\},)' +
  '"instrumentId":(null|"[^"]*"),"holderId":(null|"[^"]*"),'

export const statements: ReadonlyArray<string> = [
  `create temporary table concerned on commit drop as
   select r.collection as kind, r.record_id as id, r.body::jsonb ->> 'instrumentId' as instrument_id,
     case when r.collection = 'standing-settlement' then coalesce(p.holder_ids, '{}')
       else array_remove(array[r.body::jsonb ->> 'holderId'], null) end as holder_ids
   from bursar.document r
   left join (
     select body::jsonb ->> 'standingSettlementId' as id,
       array_agg(body::jsonb ->> 'holderId' order by record_id) as holder_ids
     from bursar.document where collection = 'standing-party' and to_offset is null group by 1
   ) p on p.id = r.record_id
   where r.to_offset is null and r.collection in (${states})`,
  // A write that failed has made no record: the reserve that its path names states the instrument.
  `insert into concerned
   select distinct w.body::jsonb -> 'resource' ->> 'kind', w.body::jsonb -> 'resource' ->> 'id',
     r.instrument_id, '{}'::text[]
   from bursar.document w
   join concerned r on r.kind = 'reserve' and r.id = w.body::jsonb -> 'request' ->> 'reserveId'
   where w.collection in ('operation', 'approval') and w.to_offset is null
     and not exists (
       select from concerned c where c.kind = w.body::jsonb -> 'resource' ->> 'kind'
         and c.id = w.body::jsonb -> 'resource' ->> 'id')`,
  "create unique index on concerned (kind, id)",
  `update bursar.event e
   set instrument_id = coalesce(e.instrument_id, c.instrument_id),
     holder_ids = case when e.holder_ids = '{}' then c.holder_ids else e.holder_ids end
   from concerned c
   where c.kind = e.resource_kind and c.id = e.resource_id
     and (e.type like 'operation.%' or e.type like 'approval.%')`,
  // The records of writes are read for legal holds, and by the events that they announce later.
  `update bursar.document w
   set body = regexp_replace(w.body, '${printed}', '\\1"instrumentId":'
     || case when w.body::jsonb ->> 'instrumentId' is not null then '\\2'
          else coalesce(to_json(c.instrument_id)::text, 'null') end
     || ',"holderId":'
     || case when w.body::jsonb ->> 'holderId' is not null then '\\3'
          else coalesce(to_json(c.holder_ids[1])::text, 'null') end
     || case when w.body::jsonb ->> 'holderId' is null and cardinality(c.holder_ids) > 1
          then ',"holderIds":' || array_to_json(c.holder_ids)::text else '' end
     || ',')
   from concerned c
   where w.collection in ('operation', 'approval') and w.to_offset is null
     and c.kind = w.body::jsonb -> 'resource' ->> 'kind'
     and c.id = w.body::jsonb -> 'resource' ->> 'id'`,
  // Each of these names several holders in its request.
  `update bursar.event e
   set holder_ids = array(
     select distinct id from (
       select unnest(e.holder_ids) as id
       union all select x ->> 'holderId' from jsonb_array_elements(o.request -> 'entries') x
       union all select x ->> 'holderId' from jsonb_array_elements(o.request -> 'moves') x
       union all select x ->> 'toHolderId' from jsonb_array_elements(o.request -> 'moves') x
       union all select x from jsonb_array_elements_text(o.request -> 'holderIds') x
       union all select o.request ->> 'toHolderId'
       union all select o.request ->> 'successorId'
     ) named where id is not null order by id)
   from (
     select record_id as id, body::jsonb -> 'request' as request from bursar.document
     where collection = 'operation' and to_offset is null and body::jsonb ->> 'kind' in (
       'holder.restrict-batch', 'instrument.force-transfer', 'instrument.recover',
       'holder.force-transfer', 'holder.register-successor')
   ) o
   where e.type like 'operation.%' and e.payload::jsonb ->> 'operationId' = o.id`
]
