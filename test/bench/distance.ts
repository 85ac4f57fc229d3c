/**
 * An engine whose database is five milliseconds away, against one whose database is near. Both
 * databases are on one server, each behind a proxy; the distant one's holds back every answer.
 */
import { Engine, Queries } from "@bursar/engine-core"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as DatabaseProxy from "../database-proxy.ts"
import {
  caller,
  type Database,
  engineOn,
  listOf,
  recordInstrument,
  registrar,
  withDatabase
} from "./database.ts"
import { type Bench, type Compared, inTurns, type Row, type Side, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Operations from "./operations.ts"
import * as Seeded from "./seeded.ts"
import { digits } from "./table.ts"

const distantMillis = 5
const instruments = 50
const pages = 100

interface Place {
  readonly storage: Database["storage"]
  readonly proxy: DatabaseProxy.Proxy
}

/** A new database of the server, reached through a proxy. */
const place = (url: string, name: string, delayMillis: number) =>
  Effect.gen(function* () {
    yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`create database ${name}`)).pipe(
      Effect.provide(Postgres.layerClient({ url: Redacted.make(url) }))
    )
    const own = new URL(url)
    own.pathname = `/${name}`
    const proxy = yield* Effect.acquireRelease(
      Effect.promise(() => DatabaseProxy.start(own.href, { delayMillis })),
      ({ end }) => Effect.promise(end)
    )
    return {
      proxy,
      storage: Layer.orDie(Postgres.layer({ url: Redacted.make(proxy.url) }))
    }
  })

/** A side, and the round trips of its rounds so far. */
interface Counted {
  readonly side: Side
  readonly roundTrips: () => number
}

/** Counts the round trips of a run; those of the meter's own statement are left out. */
const counted = (proxy: DatabaseProxy.Proxy, side: Side): Counted => {
  let [trips, units] = [0, 0]
  return {
    roundTrips: () => trips / units,
    side: {
      ...side,
      run: (round) =>
        Effect.gen(function* () {
          const before = proxy.roundTrips()
          const work = yield* side.run(round)
          trips += proxy.roundTrips() - before
          units += work.units
          return work
        })
    }
  }
}

const operations = ({ storage, proxy }: Place, size: number) =>
  Effect.gen(function* () {
    const built = yield* Layer.build(Operations.layerOn(storage))
    yield* Effect.forkScoped(Context.get(built, Engine.Engine).run)
    const run = Effect.andThen(Operations.many(size, Operations.operation), Operations.settled)
    return counted(proxy, {
      meter: Meters.of(Context.get(built, SqlClient.SqlClient)),
      run: () => timed(size, Effect.orDie(Effect.provideContext(run, built)))
    })
  })

const lists = ({ storage, proxy }: Place) =>
  Effect.gen(function* () {
    const built = yield* Layer.build(engineOn(storage))
    yield* Effect.gen(function* () {
      yield* recordInstrument("aaa-first")
      yield* Seeded.instruments({ like: "aaa-first", count: instruments - 1, registrar })
    }).pipe(Effect.provideContext(built))
    const page = Context.get(built, Queries).page(listOf("instruments.list"), {
      caller,
      params: {},
      point: {},
      page: { limit: instruments }
    })
    return counted(proxy, {
      meter: Meters.of(Context.get(built, SqlClient.SqlClient)),
      run: () => timed(pages, Effect.orDie(Effect.forEach(Array(pages).fill(page), (each) => each)))
    })
  })

const rowOf = (
  row: Pick<Row, "bench" | "unit"> & {
    readonly callers: number
    readonly distant: Counted
    readonly near: Counted
    readonly compared: Compared
  }
): Row => {
  const millis = ({ speed }: Compared["ours"]) => digits((row.callers * 1000) / speed.median)
  const { ours, bound } = row.compared
  return {
    bench: row.bench,
    unit: row.unit,
    against: "the same with the database on this machine",
    goal: null,
    note: `${row.callers} callers; ${millis(ours)} ms each, ${millis(bound)} near; round trips a unit: ${digits(row.distant.roundTrips())}, ${digits(row.near.roundTrips())} near`,
    ...row.compared
  }
}

const compare = (options: {
  readonly rounds: number
  readonly distant: Effect.Effect<Counted, unknown, Scope.Scope>
  readonly near: Effect.Effect<Counted, unknown, Scope.Scope>
}) =>
  Effect.gen(function* () {
    const [distant, near] = [yield* options.distant, yield* options.near]
    const compared = yield* inTurns({
      rounds: options.rounds,
      ours: distant.side,
      bound: near.side
    })
    return { distant, near, compared }
  }).pipe(Effect.scoped)

export const bench: Bench = ({ rounds, size = 500 }) =>
  withDatabase(({ url }) =>
    Effect.gen(function* () {
      const distant = yield* place(url, "distant", distantMillis)
      const near = yield* place(url, "near", 0)
      const away = `database ${distantMillis} ms away`
      return [
        rowOf({
          bench: `operations, ${away}`,
          unit: "operations/s",
          callers: Operations.clients,
          ...(yield* compare({
            rounds,
            distant: operations(distant, size),
            near: operations(near, size)
          }))
        }),
        rowOf({
          bench: `list of ${instruments} instruments, ${away}`,
          unit: "pages/s",
          callers: 1,
          ...(yield* compare({ rounds, distant: lists(distant), near: lists(near) }))
        })
      ]
    }).pipe(Effect.scoped)
  )
