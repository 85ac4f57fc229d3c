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

/**
 * Writes facts. Looks up the fact before a record's first one of the call; each later one follows a
 * row of the call itself. A row whose version is taken is left out. The look-up is a subquery with a
 * limit, which no plan turns into a join that reads the table for each row.
 */
const APPEND = `
insert into bursar.fact (collection, record_id, version, fact, cause, "offset", recorded_at)
select r.collection, r.record_id, r.version, r.fact, r.cause, r."offset", r.recorded_at
from unnest($1::text[], $2::text[], $3::int8[], $4::text[], $5::text[], $6::int8[], $7::text[],
            $8::int8[])
  with ordinality as r(collection, record_id, version, fact, cause, "offset", recorded_at, before, n)
where r.before is null or r.before = (
  select f.version from bursar.fact f
  where f.collection = r.collection and f.record_id = r.record_id and f.version = r.before limit 1)
order by r.n
on conflict do nothing`

/** Finds the conflict of a refused append: the first record whose stored version is not the expected one. */
const MOVED = `
select r.n from unnest($1::text[], $2::text[], $3::int8[])
  with ordinality as r(collection, record_id, version, n)
where r.version <> 1 + coalesce((
  select f.version from bursar.fact f
  where f.collection = r.collection and f.record_id = r.record_id
  order by f.version desc limit 1), 0)
order by r.n limit 1`

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
  /** Names the record that moved; by itself, since what the call wrote would hide it. */
  const moved = Effect.fnUntraced(function* (rows: ReadonlyArray<FactRow>) {
    const { firsts, stray } = followed(rows)
    const { rows: found } = yield* sessions.look(MOVED, [
      Values.texts(firsts.map((row) => row.collection)),
      Values.texts(firsts.map((row) => row.recordId)),
      Values.integers(firsts.map((row) => row.version))
    ])
    const first = found[0] === undefined ? undefined : firsts[Values.number(found[0], "n") - 1]
    // If the other writer's rows are gone again, any row of the call names the conflict.
    const row = first ?? stray ?? rows[0]!
    return yield* new VersionMoved({
      collection: row.collection,
      recordId: row.recordId,
      expected: row.version
    })
  })

  /** All or none: rows that were written beside one that was not are taken back. */
  const append = (rows: ReadonlyArray<FactRow>) => {
    const { before, stray } = followed(rows)
    if (stray !== undefined) return moved(rows)
    const written = sessions.run(
      Effect.flatMap(
        sessions.ask(APPEND, [
          Values.texts(rows.map((row) => row.collection)),
          Values.texts(rows.map((row) => row.recordId)),
          Values.integers(rows.map((row) => row.version)),
          Values.texts(rows.map((row) => row.fact)),
          Values.texts(rows.map((row) => row.cause)),
          Values.integers(rows.map((row) => row.offset)),
          Values.texts(rows.map((row) => row.recordedAt)),
          Values.integers(before)
        ]),
        ({ rowCount }) => (rowCount === rows.length ? Effect.void : Effect.fail("moved" as const))
      )
    )
    return Effect.catchIf(
      written,
      (error): error is "moved" => error === "moved",
      () => moved(rows)
    )
  }

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
    store: sessions.store,
    append: (rows) => {
      const [first, ...more] = rows
      if (first === undefined) return Effect.void
      return more.length === 0 ? appendOne(first) : append(rows)
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

interface FactOrder {
  /** The rows that are the first of their record in the call, up to a stray one. */
  readonly firsts: ReadonlyArray<FactRow>
  /** The version that must be stored before each row; null where the call itself has it, or none. */
  readonly before: ReadonlyArray<number | null>
  /** The first row that does not follow the row before it of the same record. */
  readonly stray: FactRow | undefined
}

const followed = (rows: ReadonlyArray<FactRow>): FactOrder => {
  const versions = new Map<string, number>()
  const firsts: Array<FactRow> = []
  const before: Array<number | null> = []
  for (const row of rows) {
    const record = JSON.stringify([row.collection, row.recordId])
    const version = versions.get(record)
    if (version === undefined) firsts.push(row)
    else if (row.version !== version + 1) return { firsts, before, stray: row }
    versions.set(record, row.version)
    before.push(version === undefined && row.version !== 1 ? row.version - 1 : null)
  }
  return { firsts, before, stray: undefined }
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
