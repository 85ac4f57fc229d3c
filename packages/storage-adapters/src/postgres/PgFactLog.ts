/**
 * Fact log in PostgreSQL: the version is part of the primary key, which makes the optimistic lock.
 */
import {
  type FactLog,
  type FactRow,
  type StorageUnavailable,
  VersionMoved
} from "@bursar/engine-core/ports"
import { Effect } from "effect"
import type { Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

const APPEND = `
with given as materialized (
  select r.*, row_number() over (partition by collection, record_id order by n) as k
  from unnest($1::text[], $2::text[], $3::int8[], $4::text[], $5::text[], $6::int8[], $7::text[])
    with ordinality as r(collection, record_id, version, fact, cause, "offset", recorded_at, n)
), last as (
  select g.collection, g.record_id, coalesce(f.version, 0) as version
  from (select distinct collection, record_id from given) g
  left join lateral (
    select version from bursar.fact f
    where f.collection = g.collection and f.record_id = g.record_id
    order by version desc limit 1
  ) f on true
), moved as (
  select g.collection, g.record_id, g.version
  from given g join last l using (collection, record_id)
  where g.version <> l.version + g.k
  order by g.n limit 1
), written as (
  insert into bursar.fact (collection, record_id, version, fact, cause, "offset", recorded_at)
  select collection, record_id, version, fact, cause, "offset", recorded_at from given
  where not exists (select from moved)
  order by n
  on conflict do nothing
  returning collection, record_id, version
)
select g.collection, g.record_id, g.version, w.version is not null as written
from given g left join written w using (collection, record_id, version)
where exists (select from moved m where m.collection = g.collection
                and m.record_id = g.record_id and m.version = g.version)
   or (w.version is null and not exists (select from moved))
order by g.n`

/** One fact, which is nearly every call: several times cheaper than the general statement. */
const APPEND_ONE = `
insert into bursar.fact (collection, record_id, version, fact, cause, "offset", recorded_at)
select $1, $2, $3::int8, $4, $5, $6::int8, $7
where $3::int8 = 1 + coalesce((
  select version from bursar.fact where collection = $1 and record_id = $2
  order by version desc limit 1), 0)
on conflict do nothing
returning 1`

const COLUMNS = `collection, record_id, version, fact, cause, "offset", recorded_at`

export const make = (sessions: Sessions): FactLog["Service"] => {
  const append: FactLog["Service"]["append"] = Effect.fnUntraced(function* (rows) {
    const { rows: lost } = yield* sessions.ask(APPEND, [
      Values.texts(rows.map((row) => row.collection)),
      Values.texts(rows.map((row) => row.recordId)),
      Values.integers(rows.map((row) => row.version)),
      Values.texts(rows.map((row) => row.fact)),
      Values.texts(rows.map((row) => row.cause)),
      Values.integers(rows.map((row) => row.offset)),
      Values.texts(rows.map((row) => row.recordedAt))
    ])
    const first = lost[0]
    if (first === undefined) return
    return yield* new VersionMoved({
      collection: Values.text(first, "collection"),
      recordId: Values.text(first, "record_id"),
      expected: Values.number(first, "version")
    })
  })

  const appendOne = (row: FactRow): Effect.Effect<void, VersionMoved | StorageUnavailable> =>
    Effect.flatMap(
      sessions.ask(APPEND_ONE, [
        row.collection,
        row.recordId,
        String(row.version),
        row.fact,
        row.cause,
        String(row.offset),
        row.recordedAt
      ]),
      ({ rows }) =>
        rows.length > 0
          ? Effect.void
          : Effect.fail(
              new VersionMoved({
                collection: row.collection,
                recordId: row.recordId,
                expected: row.version
              })
            )
    )

  return {
    // Where another writer comes between our look and our write, some rows of several may have been
    // written: the part of the transaction that they are takes them back.
    append: (rows) => {
      const [first, ...more] = rows
      if (first === undefined) return Effect.void
      return more.length === 0 ? appendOne(first) : sessions.run(append(rows))
    },
    read: ({ collection, recordId, through }) =>
      Effect.map(
        sessions.look(
          `select ${COLUMNS} from bursar.fact
           where collection = $1 and record_id = $2 and ($3::int8 is null or version <= $3::int8)
           order by version`,
          [collection, recordId, through === undefined ? null : String(through)]
        ),
        ({ rows }) => rows.map(factOf)
      ),
    forget: ({ collection, recordIds }) =>
      sessions.send(
        "delete from bursar.fact where collection = $1 and record_id = any ($2::text[])",
        [collection, Values.texts(recordIds)]
      ),
    scan: ({ collection, after, limit }) =>
      Effect.map(
        sessions.look(
          `select f.collection, f.record_id, f.version, f.fact, f.cause, f."offset", f.recorded_at
           from bursar.fact born
           join bursar.fact f on f.collection = born.collection and f.record_id = born.record_id
           where born.collection = $1 and born.version = 1
             and born.position >= (
               case when $2::text is null then 0 else coalesce(
                 (select position from bursar.fact
                  where collection = $1 and record_id = $2 and version = 1),
                 9223372036854775807) end)
             and ($2::text is null or f.record_id <> $2 or f.version > $3::int8)
           order by born.position, f.version
           limit $4::int8`,
          [
            collection,
            after?.recordId ?? null,
            after === undefined ? null : String(after.version),
            String(limit)
          ]
        ),
        ({ rows }) => rows.map(factOf)
      )
  }
}

const factOf = (row: Values.Row): FactRow => ({
  collection: Values.text(row, "collection"),
  recordId: Values.text(row, "record_id"),
  version: Values.number(row, "version"),
  fact: Values.text(row, "fact"),
  cause: Values.text(row, "cause"),
  offset: Values.number(row, "offset"),
  recordedAt: Values.text(row, "recorded_at")
})
