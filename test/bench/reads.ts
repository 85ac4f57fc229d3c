/** A page far down a long list against its first page; a page of the feed against the plain statement. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Caller, Catalogue, Engine, EventReads, type Read, Reads } from "@bursar/engine-core"
import { Party } from "@bursar/engine-core/kernel"
import { RateWindow } from "@bursar/engine-core/ports"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { ledgerOf } from "../engine/world.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import { write } from "../operations/stage.ts"
import { median, type Row, row } from "./measure.ts"
import * as Seeded from "./seeded.ts"

const depth = 100_000
const feedLength = 100_000
const pageSize = 50
const rounds = 9
const perRound = 200
const callers = 8

const caller: Caller.Caller = {
  sub: "bench",
  name: null,
  email: null,
  roles: ["operator"],
  holderId: null,
  party: null
}

const instrumentsList = Catalogue.reads.find(
  (read): read is Read.List => read.name === "instruments.list" && read.shape === "list"
)

/** Runs per second of an effect, asked by so many callers at a time. */
const speed = <A, E, R>(effect: (n: number) => Effect.Effect<A, E, R>, times = perRound) =>
  Effect.gen(function* () {
    const began = performance.now()
    yield* Effect.forEach(Array.from({ length: times }), (_, n) => effect(n), {
      concurrency: callers,
      discard: true
    })
    return (times * 1000) / (performance.now() - began)
  })

/** Both contenders by turns; the median of each. */
const byTurns = <A, B, E, F, R, S>(
  ours: (n: number) => Effect.Effect<A, E, R>,
  theirs: (n: number) => Effect.Effect<B, F, S>,
  times = perRound
) =>
  Effect.gen(function* () {
    const one: Array<number> = []
    const two: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      one.push(yield* speed(ours, times))
      two.push(yield* speed(theirs, times))
    }
    return { ours: median(one.slice(1)), theirs: median(two.slice(1)) }
  })

const program = Effect.gen(function* () {
  const list = instrumentsList
  if (list === undefined) return yield* Effect.die(new Error("instruments are not listed"))
  const registrar = Party.make({ hint: "registrar", fingerprint: `1220${"cd".repeat(32)}` })
  const first = yield* write(
    "instrument.record",
    {},
    { ...bodyOf(), instrumentId: "aaa-first", registrar }
  )
  if (first.state !== "succeeded") return yield* Effect.die(new Error(first.why))
  yield* Seeded.instruments({
    like: "aaa-first",
    count: depth + pageSize * 2,
    registrar
  })
  yield* Seeded.events(feedLength)

  const sql = yield* SqlClient.SqlClient
  // As the database does by itself within a minute of such growth.
  yield* sql`analyze bursar.document`
  yield* sql`analyze bursar.event`
  const reads = yield* Reads
  const page = (after: string | null, limit: number) =>
    reads.page(list, {
      caller,
      params: {},
      point: {},
      page: { limit, ...(after === null ? {} : { after }) }
    })
  let after: string | null = null
  for (let read = 0; read < depth; read += 1_000) after = (yield* page(after, 1_000)).next
  const deep = yield* byTurns(
    () => page(after, pageSize),
    () => page(null, pageSize)
  )

  const events = yield* EventReads.EventReads
  const spots = Array.from({ length: 97 }, (_, n) => Math.floor((n * feedLength) / 97))
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
  const feed = yield* byTurns(
    (n) => events.page({ caller, params: {}, limit: 100, after: cursors[n % 97] ?? "" }),
    (n) =>
      Effect.map(
        sql`select * from bursar.event where seq > ${String(spots[n % 97])}::int8 order by seq limit 100`,
        (rows) =>
          JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value))
      )
  )

  const rate = yield* RateWindow
  const limiter = yield* byTurns(
    (n) => rate.take({ subject: `s${n % 32}`, cost: 1, interval: 1, tolerance: 60_000_000 }),
    () => sql`select 1`,
    2_000
  )
  return { deep, feed, limiter }
})

/** Runs an effect against the engine on a database of its own. */
const onDatabase = async () => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-bench-"))
  try {
    const storage = Layer.unwrap(
      Effect.map(Embedded.start({ dataFolder: folder }), ({ url }) =>
        Postgres.layer({ url: Redacted.make(url) })
      )
    )
    const layer = Engine.layer.pipe(
      Layer.provideMerge(Layer.mergeAll(storage, NodeCrypto.layer, ledgerOf()))
    )
    return await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(layer), Effect.orDie))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const bench = async (): Promise<ReadonlyArray<Row>> => {
  const { deep, feed, limiter } = await onDatabase()
  return [
    row({
      bench: `page of ${pageSize} at ${depth.toLocaleString("en-US")}`,
      ours: deep.ours,
      unit: "pages/s",
      against: "the first page of the same list",
      theirs: deep.theirs,
      target: 0.5,
      note: `${callers} callers`
    }),
    row({
      bench: "page of 100 events",
      ours: feed.ours,
      unit: "pages/s",
      against: "select and stringify, same driver",
      theirs: feed.theirs,
      target: null,
      note: `${Math.round(feed.ours * 100).toLocaleString("en-US")} events/s`
    }),
    row({
      bench: "rate limiter",
      ours: limiter.ours,
      unit: "requests/s",
      against: "select 1, same driver",
      theirs: limiter.theirs,
      target: null,
      note: `${((callers * 1e6) / limiter.ours).toFixed(0)} µs each of ${callers} at a time`
    })
  ]
}
