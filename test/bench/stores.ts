/** The same work on each store: operations through the engine, and pages of a list, beside PostgreSQL. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Engine } from "@bursar/engine-core"
import { Documents, WorkQueue } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Sqlite from "@bursar/storage-adapters/sqlite"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Database, withDatabase } from "./database.ts"
import { type Bench, inTurns, type Options, type Row, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import { clients, layerOn, many, operation } from "./operations.ts"

const readers = 8
const pageSize = 50
const pages = 400
const records = 20_000

/** Waits until no operation is queued. */
const settled = Effect.gen(function* () {
  const { depth } = yield* WorkQueue
  for (;;) {
    const { leased, waiting } = yield* depth("operations")
    if (leased + waiting === 0) return
    yield* Effect.sleep(5)
  }
})

const placeOf = (n: number): string => String(n).padStart(8, "0")

/** Records of which every other one is open, each with a body of about a kilobyte. */
const filled = (count: number) =>
  Effect.gen(function* () {
    const { put } = yield* Documents
    const body = JSON.stringify({ text: "x".repeat(1_000) })
    for (let from = 0; from < count; from += 500) {
      const numbers = Array.from({ length: Math.min(500, count - from) }, (_, n) => from + n)
      yield* put(
        numbers.map((n) => ({
          collection: "bench",
          recordId: placeOf(n),
          version: 1,
          closes: 0,
          body,
          sortKey: placeOf(n),
          filters: { state: n % 2 === 0 ? "open" : "shut", holderId: `h${n % 97}` },
          createdAt: "2026-01-01T00:00:00.000000000Z",
          fromOffset: 0,
          fromInstant: "2026-01-01T00:00:00.000000000Z"
        }))
      )
    }
  })

const pagesRead = Effect.gen(function* () {
  const { list } = yield* Documents
  yield* Effect.forEach(
    Array.from({ length: pages }, (_, n) => placeOf(((n * 7_919) % records) - 1)),
    (after) =>
      list({
        collection: "bench",
        pin: { by: "latest" },
        where: [{ column: "state", anyOf: ["open"] }],
        direction: "asc",
        limit: pageSize,
        after
      }),
    { concurrency: readers, discard: true }
  )
})

type Services = Engine.Services | Engine.Ports

/** An engine at work on a store of its own, whose records are filled. */
const started = (storage: Layer.Layer<Memory.Storage>) =>
  Effect.gen(function* () {
    // Cast: the layer's client of PostgreSQL is not asked for here.
    const services = yield* Layer.build(layerOn(storage as Database["storage"]))
    const engine = Context.get(services, Engine.Engine)
    yield* Effect.forkScoped(engine.run)
    yield* Effect.provideContext(filled(records), services)
    return services
  })

const rowsOf = ({ rounds, size = 1_000 }: Options, postgres: Database["storage"]) =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "bursar-bench-sqlite-"))),
      (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
    )
    const database = yield* Layer.build(postgres)
    const onPostgres = yield* started(Layer.succeedContext(database))
    const postgresMeter = Meters.of(Context.get(database, SqlClient.SqlClient))
    const others = [
      ["on SQLite", yield* started(Layer.orDie(Sqlite.layer({ folder })))],
      ["in memory", yield* started(Memory.layer)]
    ] as const
    const rows: Array<Row> = []
    for (const [where, services] of others) {
      const operations = (on: Context.Context<Services>) =>
        timed(size, Effect.provideContext(Effect.andThen(many(size, operation), settled), on))
      const listed = (on: Context.Context<Services>) =>
        timed(pages, Effect.provideContext(pagesRead, on))
      const compared = (run: typeof operations | typeof listed) =>
        inTurns({
          rounds,
          ours: { meter: Meters.ofThisProcess, run: () => run(services) },
          bound: { meter: postgresMeter, run: () => run(onPostgres) }
        })
      rows.push(
        {
          bench: `operations at ${clients} callers, ${where}`,
          unit: "operations/s",
          against: "the same on PostgreSQL",
          goal: null,
          note: "from the call to succeeded",
          ...(yield* compared(operations))
        },
        {
          bench: `page of ${pageSize} of ${records.toLocaleString("en-US")} records, ${where}`,
          unit: "pages/s",
          against: "the same on PostgreSQL",
          goal: null,
          note: `${readers} callers of the port, one filter that half of the records match`,
          ...(yield* compared(listed))
        }
      )
    }
    return rows
  })

export const bench: Bench = (options) =>
  withDatabase(({ storage }) => Effect.scoped(rowsOf(options, storage)))
