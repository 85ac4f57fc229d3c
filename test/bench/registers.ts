/** A register and movements as CSV, and a portfolio among 100,000 holders against the plain statements that answer the same. */
import { Reads } from "@bursar/engine-core"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { InstrumentId } from "#core/instruments/instrument/Instrument.ts"
import * as MovementReads from "#core/overviews/register/MovementReads.ts"
import * as RegisterReads from "#core/overviews/register/RegisterReads.ts"
import * as Csv from "#host/wire/Csv.ts"
import {
  caller,
  engineOn,
  printed,
  readOf,
  recordInstrument,
  registrar,
  type Services,
  withDatabase
} from "./database.ts"
import {
  type Bench,
  figureOf,
  inTurns,
  type Options,
  quantity,
  type Side,
  timed
} from "./measure.ts"
import { heldWhile } from "./memory.ts"
import * as Meters from "./meter.ts"
import * as Seeded from "./seeded-register.ts"

const perRound = 400
const callers = 8

/** Prints the movements of the instrument as CSV, a chunk at a time, as the host does. */
const movementsPrinted = (count: number) =>
  Effect.gen(function* () {
    const reads = yield* Reads
    const { csv } = MovementReads.ofInstrument
    if (csv === undefined) return yield* Effect.die(new Error("movements have a table"))
    const { value } = yield* reads.all(MovementReads.ofInstrument, {
      caller,
      params: { instrumentId: InstrumentId.make("fund-a") },
      point: {},
      page: {}
    })
    let [lines, bytes] = [0, Buffer.byteLength(Csv.head(csv))]
    yield* Stream.runForEachArray(value, (chunk) =>
      Effect.sync(() => {
        lines += chunk.length
        bytes += Buffer.byteLength(Csv.body(csv, chunk))
      })
    )
    if (lines !== count || bytes < lines) {
      return yield* Effect.die(new Error(`${lines} movements of ${count}, ${bytes} bytes`))
    }
  })

/** Prints the register as CSV, a chunk at a time, as the host does. */
const whole = (holders: number) =>
  Effect.gen(function* () {
    const reads = yield* Reads
    const { csv } = RegisterReads.register
    if (csv === undefined) return yield* Effect.die(new Error("a register has a table"))
    const { rows } = yield* reads.streamed(RegisterReads.register, {
      caller,
      params: { instrumentId: InstrumentId.make("fund-a") },
      point: {}
    })
    let [lines, bytes] = [0, Buffer.byteLength(Csv.head(csv))]
    yield* Stream.runForEachArray(rows ?? Stream.empty, (chunk) =>
      Effect.sync(() => {
        lines += chunk.length
        bytes += Buffer.byteLength(Csv.body(csv, chunk))
      })
    )
    if (lines !== holders || bytes < lines) {
      return yield* Effect.die(new Error(`${lines} lines of ${holders}, ${bytes} bytes`))
    }
  })

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
    const reads = yield* Reads
    const ask = (name: string, params: unknown) =>
      Effect.map(reads.one(readOf(name), { caller, params, point: {} }), ({ value }) => value)

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
              sql`select d.body from bursar.document d
                where d.collection = 'movement' and d.to_offset is null
                  and d.filters ->> 'instrumentId' = 'fund-a'
                order by d.sort_key`,
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
        against,
        goal: 0.5,
        note: "printed as the host prints it; the bound holds all rows",
        ...moved
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
    ...(["register", "movements"] as const).map((report) => ({
      bench: `heap while the ${report} of ${size.toLocaleString("en-US")} holders are printed`,
      unit: "MiB",
      against: `of ${fewer.toLocaleString("en-US")}`,
      goal: 0.83,
      note: "held after full collections; the ratio is of the smaller heap to the larger, and at 0.83 one is 1.2 times the other",
      ours: quantity(mebibytes[report]),
      bound: quantity(mebibytesOfFewer[report]),
      ratio: figureOf([mebibytesOfFewer[report] / mebibytes[report]])
    }))
  ]
}
