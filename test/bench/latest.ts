/**
 * A page of the latest versions after many ledger updates against the same page after few, and a
 * page at an old offset against the latest one. Both databases are on one server.
 */
import { Queries } from "@bursar/engine-core"
import { Offset } from "@bursar/engine-core/kernel"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { caller, engineOn, listOf, recordInstrument, registrar, withDatabase } from "./database.ts"
import { type Bench, inTurns, type Side, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Seeded from "./seeded.ts"

const few = 1_000
const pages = 200
const callers = 8
/** Instruments of the list; each update closes the version of one and opens its next. */
const instruments = 50

/** Adds ledger updates, each with one version of one of the instruments. Facts are not read here. */
const updates = (count: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const versions = Math.floor(count / instruments)
    yield* sql`
      insert into bursar.ledger_update
        ("offset", prev_offset, update_id, effective_at, record_time, ledger_time, raw)
      select n, n - 1, 'update-' || n, t, t, t, '{}'
      from generate_series(1, ${count}::int8) n,
        lateral (select to_char(timestamp '2026-01-01' + n * interval '1 second',
          'YYYY-MM-DD"T"HH24:MI:SS".000000000Z"') as t)`
    yield* sql`
      create temporary table seeded as
      select *, row_number() over (order by record_id) as place from bursar.document
      where collection = 'instrument'`
    yield* sql`delete from bursar.document where collection = 'instrument'`
    yield* sql`
      insert into bursar.document (collection, record_id, version, sort_key, body, filters,
        created_at, from_offset, to_offset, from_instant, to_instant)
      select collection, record_id, v, sort_key, body, filters, created_at,
        (v - 1) * ${instruments}::int8 + place,
        case when v < ${versions}::int8 then v * ${instruments}::int8 + place end,
        created_at, case when v < ${versions}::int8 then created_at end
      from seeded, generate_series(1, ${versions}::int8) v`
    yield* sql`drop table seeded`
    yield* sql`update bursar.head set projection_offset = ${count}::int8`
    yield* sql`analyze`
  })

/** Engine on a database of its own, with so many ledger updates in it. */
const after = (count: number, storage: Layer.Layer<Postgres.ProvidedPorts>) =>
  Effect.gen(function* () {
    const engine = yield* Layer.build(engineOn(storage))
    return yield* Effect.gen(function* () {
      yield* recordInstrument("aaa-first")
      yield* Seeded.instruments({ like: "aaa-first", count: instruments - 1, registrar })
      const sql = yield* SqlClient.SqlClient
      yield* sql.withTransaction(updates(count))
      const queries = yield* Queries
      const meter = Meters.of(sql)
      const page = (point: { readonly at?: Offset.Offset }) =>
        Effect.tap(
          queries.page(listOf("instruments.list"), {
            caller,
            params: {},
            point,
            page: { limit: instruments }
          }),
          ({ value }) =>
            value.length === instruments
              ? Effect.void
              : Effect.die(new Error(`a page of ${value.length} records`))
        )
      return (point: {
        readonly at?: Offset.Offset
      }): Side<Effect.Error<ReturnType<typeof page>>> => ({
        meter,
        run: () =>
          timed(
            pages,
            Effect.forEach(Array.from({ length: pages }), () => page(point), {
              concurrency: callers,
              discard: true
            })
          )
      })
    }).pipe(Effect.provide(engine))
  })

export const bench: Bench = ({ rounds, size = 1_000_000 }) =>
  withDatabase(({ url, storage }) =>
    Effect.gen(function* () {
      const large = yield* after(size, storage)
      const second = new URL(url)
      second.pathname = "/after_few"
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`create database after_few`).pipe(
        Effect.provide(Postgres.layerClient({ url: Redacted.make(url) }))
      )
      const small = yield* after(
        few,
        Layer.orDie(Postgres.layer({ url: Redacted.make(second.href) }))
      )
      const name = size.toLocaleString("en-US")
      const note = `${instruments} records, ${callers} callers`
      return [
        {
          bench: `latest page after ${name} ledger updates`,
          unit: "pages/s",
          against: `the same after ${few.toLocaleString("en-US")}`,
          goal: 0.83,
          note,
          ...(yield* inTurns({ rounds, ours: large({}), bound: small({}) }))
        },
        {
          bench: `page half way through ${name} ledger updates`,
          unit: "pages/s",
          against: "the latest page of the same database",
          goal: 0.5,
          note,
          ...(yield* inTurns({
            rounds,
            ours: large({ at: Offset.of(Math.floor(size / 2)) }),
            bound: large({})
          }))
        }
      ]
    }).pipe(Effect.scoped)
  )
