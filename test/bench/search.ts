/** A search among many holders against a read of one of them by its id, on one database. */
import { Audit, AuditLog, Queries, Records } from "@bursar/engine-core"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as HolderQueries from "#core/holders/holder/HolderQueries.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import * as SearchQueries from "#core/overviews/search/SearchQueries.ts"
import { write } from "../engine/calls.ts"
import { caller, engineOn, withDatabase } from "./database.ts"
import { type Bench, inTurns, type Options, type Side, timed } from "./measure.ts"
import * as Meters from "./meter.ts"

const perRound = 400
const callers = 8
const perInsert = 50_000

const like = "holder-like"
const idOf = (n: number): string => `h-${String(n).padStart(9, "0")}`

/** Copies of a stored holder, each with a name of its own, as if each had been registered by itself. */
const seeded = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  for (let from = 0; from < count; from += perInsert) {
    const to = Math.min(from + perInsert, count) - 1
    yield* sql`
      insert into bursar.document (collection, record_id, version, sort_key, body, filters,
        created_at, from_offset, from_instant)
      select d.collection, s.id, 1, s.id,
        replace(replace(d.body, ${like}, s.id), 'Like Trust', 'Number ' || s.n || ' Trust'),
        replace(d.filters::text, ${like}, s.id)::jsonb, d.created_at, d.from_offset, d.from_instant
      from (select n, 'h-' || lpad(n::text, 9, '0') as id
            from generate_series(${String(from)}::int8, ${String(to)}::int8) n) s,
        bursar.document d
      where d.collection = 'holder' and d.record_id = ${like} and d.to_offset is null`
    yield* sql`
      insert into bursar.term (collection, rank, text, record_id)
      select 'holder', t.rank, t.text, 'h-' || lpad(n::text, 9, '0')
      from generate_series(${String(from)}::int8, ${String(to)}::int8) n,
        lateral (values ('whole', 'h-' || lpad(n::text, 9, '0')),
          ('whole', 'like::1220ab'), ('whole', '1220ab'),
          ('word', 'number ' || n || ' trust'), ('word', n || ' trust'), ('word', 'trust'))
          as t(rank, text)`
  }
  yield* sql`vacuum analyze bursar.document`
  yield* sql`vacuum analyze bursar.term`
})

const program = ({ rounds, size: count = 1_000_000 }: Options) =>
  Effect.gen(function* () {
    yield* write(
      "holder.register",
      {},
      { holderId: like, party: "like::1220ab", legalName: "Like Trust" }
    )
    yield* seeded(count)
    const queries = yield* Queries
    const auditLog = yield* AuditLog
    const meter = Meters.of(yield* SqlClient.SqlClient)
    const stream = (yield* Records).stream(holders, {})
    yield* Stream.runDrain(Stream.take(stream, 1))

    const nth = (n: number) => (n * 7_919) % count
    const search = (q: string) =>
      Effect.tap(
        queries.page(SearchQueries.list, {
          caller,
          params: { q },
          point: {},
          page: { limit: 20 }
        }),
        ({ value }) =>
          value.length === 0 ? Effect.die(new Error(`${q} is not found`)) : Effect.void
      )
    const side = <A, E, R>(effect: (n: number) => Effect.Effect<A, E, R>): Side<E, R> => ({
      meter,
      run: (round) =>
        timed(
          perRound,
          Effect.forEach(
            Array.from({ length: perRound }),
            (_, n) => effect(nth(round * perRound + n)),
            { concurrency: callers, discard: true }
          )
        )
    })
    const byId = side((n) =>
      queries.one(HolderQueries.get, {
        caller,
        params: { holderId: idOf(n) as never },
        point: {}
      })
    )
    const entry = Audit.entry({ action: "search.read", stage: "read", actor: caller.sub })
    const rows = [
      { what: "an id", ours: side((n) => search(idOf(n))) },
      { what: "a name", ours: side((n) => search(`${n} tr`)) },
      {
        what: "an id, logged",
        ours: side((n) => Effect.andThen(search(idOf(n)), auditLog.log(entry)))
      }
    ]
    return yield* Effect.forEach(rows, ({ ours, what }, index) =>
      Effect.map(inTurns({ rounds, ours, bound: byId }), (measured) => ({
        bench: `search by ${what} among ${count.toLocaleString("en-US")} holders`,
        unit: "searches/s",
        against: "a read of a holder by its id",
        goal: index < 2 ? 0.5 : null,
        note: `${callers} callers`,
        ...measured
      }))
    )
  })

export const bench: Bench = (options) =>
  withDatabase(({ storage }) =>
    program(options).pipe(Effect.scoped, Effect.provide(engineOn(storage)))
  )
