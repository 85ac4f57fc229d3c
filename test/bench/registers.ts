/** A register and movements as CSV, against plain statements that answer the same. */
import { type Export, Queries } from "@bursar/engine-core"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { InstrumentId } from "#core/instruments/instrument/Instrument.ts"
import * as MovementQueries from "#core/overviews/register/MovementQueries.ts"
import * as RegisterQueries from "#core/overviews/register/RegisterQueries.ts"
import * as Csv from "#core/reads/Csv.ts"
import {
  caller,
  engineOn,
  printed,
  recordInstrument,
  registrar,
  type Services,
  withDatabase
} from "./database.ts"
import { type Bench, inTurns, type Options, timed } from "./measure.ts"
import { heapRow, heldWhile } from "./memory.ts"
import * as Meters from "./meter.ts"
import * as Seeded from "./seeded-register.ts"

/** Prints rows as CSV, a chunk at a time, as the host does. */
const asTable = Effect.fnUntraced(function* <V, E, R>(
  rows: Stream.Stream<V, E, R>,
  options: {
    readonly csv: Export.Export<never, ReadonlyArray<V>> | undefined
    readonly count: number
  }
) {
  const { csv, count } = options
  if (csv === undefined) return yield* Effect.die(new Error("the read has no table"))
  let [lines, bytes] = [0, Buffer.byteLength(Csv.head(csv))]
  yield* Stream.runForEachArray(rows, (chunk) =>
    Effect.sync(() => {
      lines += chunk.length
      bytes += Buffer.byteLength(Csv.body(csv, chunk))
    })
  )
  if (lines !== count || bytes < lines) {
    return yield* Effect.die(new Error(`${lines} lines of ${count}, ${bytes} bytes`))
  }
})

const params = { instrumentId: InstrumentId.make("fund-a") }

const movementsPrinted = (count: number) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const read = MovementQueries.ofInstrument
    const { value } = yield* queries.all(read, { caller, params, point: {}, page: {} })
    yield* asTable(value, { csv: read.csv, count })
  })

const whole = (count: number) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const read = RegisterQueries.register
    const { rows } = yield* queries.streamed(read, { caller, params, point: {} })
    yield* asTable(rows ?? Stream.empty, { csv: read.csv, count })
  })

/** Columns of the table of movements, but for who must act next: nobody. */
const columns = (MovementQueries.ofInstrument.csv?.columns ?? []).filter(
  (column) => column !== "waitingOn"
)

/** An instrument in so many hands. */
const seeded = Effect.fnUntraced(function* (holders: number) {
  yield* recordInstrument("fund-a")
  yield* Seeded.register({ instrumentId: "fund-a", count: holders, registrar })
  const sql = yield* SqlClient.SqlClient
  yield* sql`analyze bursar.document`
  return sql
})

const program = ({ rounds, size: holders }: Options & { readonly size: number }) =>
  Effect.gen(function* () {
    const sql = yield* seeded(holders)
    const meter = Meters.of(sql)
    const register = yield* inTurns({
      rounds,
      ours: { meter, run: () => timed(holders, whole(holders)) },
      bound: {
        meter,
        run: () =>
          timed(
            holders,
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
    const moved = yield* inTurns({
      rounds,
      ours: { meter, run: () => timed(holders, movementsPrinted(holders)) },
      bound: {
        meter,
        run: () =>
          timed(
            holders,
            Effect.map(
              sql<{ readonly body: string; readonly version: number }>`
                select d.body, d.created_at, d.from_instant, d.version from bursar.document d
                where d.collection = 'movement' and d.to_offset is null
                  and d.filters ->> 'instrumentId' = 'fund-a'
                order by d.sort_key`,
              (rows) =>
                rows.map(({ body, ...kept }) => {
                  const record = { ...JSON.parse(body), ...kept }
                  return columns.map((column) => printed(record[column] ?? null)).join(",")
                })
            )
          )
      }
    })
    const mebibytes = {
      register: yield* heldWhile(whole(holders)),
      movements: yield* heldWhile(movementsPrinted(holders))
    }
    const name = holders.toLocaleString("en-US")
    const against = "one select and stringify, same driver"
    const rows = [
      {
        bench: `register of ${name} as CSV`,
        unit: "lines/s",
        against,
        goal: 0.5,
        note: "printed as the host prints it; the bound holds all rows",
        ...register
      },
      {
        bench: `${name} movements as CSV`,
        unit: "movements/s",
        against: "one select of the same rows, parsed and printed cell by cell, same driver",
        goal: 0.5,
        note: "printed as the host prints it; the bound holds all rows",
        ...moved
      }
    ]
    return { rows, mebibytes }
  })

const heldBy = (holders: number) =>
  Effect.gen(function* () {
    yield* seeded(holders)
    return {
      register: yield* heldWhile(whole(holders)),
      movements: yield* heldWhile(movementsPrinted(holders))
    }
  })

const onDatabase = <A, E>(program: Effect.Effect<A, E, Services>) =>
  withDatabase(({ storage }) => program.pipe(Effect.scoped, Effect.provide(engineOn(storage))))

export const bench: Bench = async ({ rounds, size = 100_000 }) => {
  const { rows, mebibytes } = await onDatabase(program({ rounds, size }))
  const fewer = Math.round(size / 10)
  const mebibytesOfFewer = await onDatabase(heldBy(fewer))
  return [
    ...rows,
    ...(["register", "movements"] as const).map((report) =>
      heapRow(`the ${report} of ${size.toLocaleString("en-US")} holders are printed`, {
        ...{ held: mebibytes[report], fewer: mebibytesOfFewer[report] },
        ofFewer: `of ${fewer.toLocaleString("en-US")}`
      })
    )
  ]
}
