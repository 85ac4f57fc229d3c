/** A page far down a long list against its first page; a page of the feed against the plain statement. */
import { EventQueries, Queries } from "@bursar/engine-core"
import { RateWindow } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  caller,
  engineOn,
  listOf,
  printed,
  recordInstrument,
  registrar,
  withDatabase
} from "./database.ts"
import { type Bench, inTurns, type Options, type Side, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Seeded from "./seeded.ts"

const pageSize = 50
const perRound = 200
const callers = 8

/** Side of so many answers, asked by several callers at a time. */
const answersSide = <A, E, R>(
  meter: Meters.Meter,
  effect: (n: number) => Effect.Effect<A, E, R>,
  times = perRound
): Side<E, R> => ({
  meter,
  run: () =>
    timed(
      times,
      Effect.forEach(Array.from({ length: times }), (_, n) => effect(n), {
        concurrency: callers,
        discard: true
      })
    )
})

const program = ({ rounds, size: depth = 100_000 }: Options) =>
  Effect.gen(function* () {
    const list = listOf("instruments.list")
    yield* recordInstrument("aaa-first")
    yield* Seeded.instruments({
      like: "aaa-first",
      count: depth + pageSize * 2,
      registrar
    })
    yield* Seeded.events(depth)

    const sql = yield* SqlClient.SqlClient
    // The database runs this by itself within a minute of such growth.
    yield* sql`analyze bursar.document`
    yield* sql`analyze bursar.event`
    const queries = yield* Queries
    const meter = Meters.of(sql)
    const page = (after: string | null, limit: number) =>
      queries.page(list, {
        caller,
        params: {},
        point: {},
        page: { limit, ...(after === null ? {} : { after }) }
      })
    let after: string | null = null
    for (let read = 0; read < depth; read += 1_000) after = (yield* page(after, 1_000)).next
    const deep = yield* inTurns({
      rounds,
      ours: answersSide(meter, () => page(after, pageSize)),
      bound: answersSide(meter, () => page(null, pageSize))
    })

    const events = yield* EventQueries.EventQueries
    const spots = Array.from({ length: 97 }, (_, n) => Math.floor((n * depth) / 97))
    const cursors: Array<string> = []
    let cursor: string | undefined
    for (let read = 0; read < 97; read++) {
      const { next }: { readonly next: string } = yield* events.page({
        caller,
        params: {},
        limit: 1_000,
        ...(cursor === undefined ? {} : { after: cursor })
      })
      cursors.push(next)
      cursor = next
    }
    const feed = yield* inTurns({
      rounds,
      ours: answersSide(meter, (n) =>
        events.page({ caller, params: {}, limit: 100, after: cursors[n % 97] ?? "" })
      ),
      bound: answersSide(meter, (n) =>
        Effect.map(
          sql`select * from bursar.event where seq > ${String(spots[n % 97])}::int8 order by seq limit 100`,
          printed
        )
      )
    })

    const rate = yield* RateWindow
    const limiter = yield* inTurns({
      rounds,
      ours: answersSide(
        meter,
        (n) => rate.take({ subject: `s${n % 32}`, cost: 1, interval: 1, tolerance: 60_000_000 }),
        2_000
      ),
      bound: answersSide(meter, () => sql`select 1`, 2_000)
    })
    return [
      {
        bench: `page of ${pageSize} at ${depth.toLocaleString("en-US")}`,
        unit: "pages/s",
        against: "the first page of the same list",
        goal: 0.5,
        note: `${callers} callers`,
        ...deep
      },
      {
        bench: "page of 100 events",
        unit: "pages/s",
        against: "select and stringify, same driver",
        goal: null,
        note: `${callers} callers`,
        ...feed
      },
      {
        bench: "rate limiter",
        unit: "requests/s",
        against: "select 1, same driver",
        goal: null,
        note: `${callers} callers`,
        ...limiter
      }
    ]
  })

export const bench: Bench = (options) =>
  withDatabase(({ storage }) =>
    program(options).pipe(Effect.scoped, Effect.provide(engineOn(storage)))
  )
