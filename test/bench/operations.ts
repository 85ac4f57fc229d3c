/** Complete operations through the engine on PostgreSQL, against the database's own single inserts. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type Caller,
  Engine,
  FourEyes,
  Records,
  Settings,
  settingsDefaults
} from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import type { Ids } from "@bursar/engine-core/ports"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { counters, single } from "../engine/toys.ts"
import { ledgerOf } from "../engine/world.ts"
import { median, type Row, row } from "./measure.ts"

const clients = 64
/** Operations of a measured round, and the rounds. */
const perRound = 1_500
const rounds = 3

const caller: Caller.Caller = {
  sub: "bench",
  name: null,
  email: null,
  roles: ["operator"],
  holderId: null,
  party: null
}

let made = 0

/** One operation from its call to its end: opened, run, its events written. */
export const operation = Effect.gen(function* () {
  const door = yield* FourEyes
  const id = `c${++made}`
  return yield* door.submit(single, {
    caller,
    identity: { requestId: `req-${made}`, traceId: null, keyId: null },
    key: `k-${made}`,
    path: `/v1/counters/${id}:add`,
    query: "",
    body: Result.getOrThrow(PlainJson.parse('{"by":1}')),
    params: { counterId: id }
  })
})

/** Waits until as many counters stand as operations were made. */
export const settled = Effect.gen(function* () {
  const records = yield* Records
  for (;;) {
    const found = yield* records.find(counters, `c${made}`)
    const sql = yield* SqlClient.SqlClient
    const left = yield* sql<{
      n: string
    }>`select count(*)::text as n from bursar.work where queue = 'operations'`
    if (found._tag === "Some" && left[0]?.n === "0") return
    yield* Effect.sleep(5)
  }
})

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const began = performance.now()
    yield* effect
    return (performance.now() - began) / 1000
  })

/** Runs an effect so many times, as that many clients would. */
export const many = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }), () => effect, {
    concurrency: clients,
    discard: true
  })

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table if not exists public.bench_insert (id bigserial primary key, body text not null)`
  const body = "x".repeat(200)
  const insert = sql`insert into public.bench_insert (body) values (${body})`
  const operations: Array<number> = []
  const inserts: Array<number> = []
  yield* many(200, operation)
  yield* settled
  for (let round = 0; round < rounds; round++) {
    const took = yield* timed(Effect.andThen(many(perRound, operation), settled))
    operations.push(perRound / took)
    const count = perRound * 4
    inserts.push(count / (yield* timed(many(count, insert))))
  }
  return { operations: median(operations), inserts: median(inserts) }
})

/** Runs an effect against a running engine on a database of its own, with one write on a toy record. */
export const onDatabase = async <A, E>(
  effect: Effect.Effect<A, E, FourEyes | Records | SqlClient.SqlClient>,
  around: Layer.Layer<never, never, Ids> = Layer.empty
): Promise<A> => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-bench-"))
  try {
    const storage = Layer.unwrap(
      Effect.map(Embedded.start({ dataFolder: folder }), ({ url }) =>
        Postgres.layer({ url: Redacted.make(url) })
      )
    )
    const layer = Engine.layerOf({ operations: [single], readings: [] }).pipe(
      // What is given is nearer than what is usual.
      Layer.provideMerge(around.pipe(Layer.provide(NodeCrypto.layer))),
      Layer.provideMerge(
        Layer.mergeAll(
          storage,
          NodeCrypto.layer,
          ledgerOf(),
          Layer.succeed(Settings, { ...settingsDefaults, operationsAtOnce: clients })
        )
      )
    )
    return await Effect.runPromise(
      Effect.gen(function* () {
        const engine = yield* Engine.Engine
        yield* Effect.forkScoped(engine.run)
        return yield* effect
      }).pipe(Effect.scoped, Effect.provide(layer), Effect.orDie)
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const bench = async (): Promise<ReadonlyArray<Row>> => {
  const speeds = await onDatabase(program)
  return [
    row({
      bench: "complete operations",
      ours: speeds.operations,
      unit: "operations/s",
      against: "single-row inserts, same driver",
      theirs: speeds.inserts,
      target: 0.1,
      note: `${clients} clients, from the call to succeeded`
    })
  ]
}
