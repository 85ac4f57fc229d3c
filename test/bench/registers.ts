/** The register and a portfolio at 100,000 holders against the plain statements that answer the same. */
import { Reads } from "@bursar/engine-core"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  caller,
  engineOn,
  printed,
  readOf,
  recordInstrument,
  registrar,
  withDatabase
} from "./database.ts"
import { type Bench, inTurns, type Options, type Side, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Seeded from "./seeded-register.ts"

const perRound = 400
const callers = 8

const program = ({ rounds, size: holders = 100_000 }: Options) =>
  Effect.gen(function* () {
    yield* recordInstrument("fund-a")
    yield* Seeded.register({ instrumentId: "fund-a", count: holders, registrar })
    const sql = yield* SqlClient.SqlClient
    yield* sql`analyze bursar.document`
    const meter = Meters.of(sql)
    const reads = yield* Reads
    const ask = (name: string, params: unknown) =>
      Effect.map(reads.one(readOf(name), { caller, params, point: {} }), ({ value }) => value)

    const register = yield* inTurns({
      rounds,
      ours: {
        meter,
        run: () => timed(1, ask("instruments.register", { instrumentId: "fund-a" }))
      },
      bound: {
        meter,
        run: () =>
          timed(
            1,
            Effect.map(
              sql`select a.body::json ->> 'holderId' as "holderId", e.body::json ->> 'party' as party,
                e.body::json -> 'units' as units, e.body::json -> 'locked' as locked,
                (e.body::json ->> 'units')::numeric / sum((e.body::json ->> 'units')::numeric) over () as share,
                a.body::json ->> 'state' as state, e.body::json ->> 'since' as since
              from bursar.document e
              left join bursar.document a on a.collection = 'admission' and a.to_offset is null
                and a.filters @> '{"instrumentId":"fund-a"}'
                and a.body::json ->> 'party' = e.body::json ->> 'party'
              where e.collection = 'register-entry' and e.to_offset is null
                and e.filters @> ${JSON.stringify({ asset: `${registrar}/fund-a` })}::jsonb
              order by e.sort_key`,
              printed
            )
          )
      }
    })
    const spot = (n: number) => (n * 7919) % holders
    const many = <A, E, R>(effect: (n: number) => Effect.Effect<A, E, R>): Side<E, R> => ({
      meter,
      run: () =>
        timed(
          perRound,
          Effect.forEach(Array.from({ length: perRound }), (_, n) => effect(n), {
            concurrency: callers,
            discard: true
          })
        )
    })
    const portfolio = yield* inTurns({
      rounds,
      ours: many((n) => ask("holders.portfolio", { holderId: Seeded.holderId(spot(n)) })),
      bound: many((n) =>
        Effect.map(
          // Given the party, which the read has to find: a join by it is planned as a scan.
          sql`select i.body as instrument, e.body as entry, q.body as quote
            from bursar.document e
            join bursar.document i on i.collection = 'instrument' and i.to_offset is null
              and i.record_id = 'fund-a'
            left join bursar.document q on q.collection = 'quote' and q.to_offset is null
              and q.record_id = (i.body::json -> 'manifest' ->> 'oracle') || '/' || i.record_id
            where e.collection = 'register-entry' and e.to_offset is null
              and e.filters @> ${JSON.stringify({ party: Seeded.partyOf(spot(n)) })}::jsonb`,
          printed
        )
      )
    })
    const name = holders.toLocaleString("en-US")
    const against = "one select and stringify, same driver"
    return [
      {
        bench: `register of ${name}`,
        unit: "registers/s",
        against,
        goal: 0.5,
        note: `${Math.round(register.ours.speed.median * holders).toLocaleString("en-US")} lines/s`,
        ...register
      },
      {
        bench: `portfolio among ${name}`,
        unit: "answers/s",
        against,
        goal: 0.5,
        note: `${callers} callers`,
        ...portfolio
      }
    ]
  })

export const bench: Bench = (options) =>
  withDatabase(({ storage }) =>
    program(options).pipe(Effect.scoped, Effect.provide(engineOn(storage)))
  )
