/** Complete operations through the engine on PostgreSQL, against set-based SQL that stores the same rows. */
import { Engine, FourEyes, Records } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import type { Ids } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { counters, single } from "../engine/toys.ts"
import { portsOn } from "../engine/world.ts"
import { caller, type Database, withDatabase } from "./database.ts"
import { type Bench, inTurns, type Options, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as StoredRows from "./stored-rows.ts"

export const clients = 64
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

/** Runs an effect so many times, as that many clients would. */
export const many = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }), () => effect, {
    concurrency: clients,
    discard: true
  })

const program = ({ rounds, size = 1_500 }: Options) =>
  Effect.gen(function* () {
    const rows = yield* StoredRows.make
    const meter = Meters.of(yield* SqlClient.SqlClient)
    let stored: Effect.Success<typeof rows.take> = []
    return yield* inTurns({
      rounds,
      ours: {
        meter,
        prepare: () => rows.begin,
        run: () => timed(size, Effect.andThen(many(size, operation), settled))
      },
      bound: {
        meter,
        prepare: () => Effect.map(rows.take, (found) => void (stored = found)),
        run: () => timed(size, rows.write(stored, Math.ceil(size / clients)))
      }
    })
  })

/** Engine with one write on a toy record, on these storage ports. */
export const layerOn = (
  storage: Database["storage"],
  around: Layer.Layer<never, never, Ids> = Layer.empty
) =>
  Engine.layerOf({ operations: [single], fromLedger: [] }).pipe(
    // Services of the caller are provided first, so that they replace the defaults below.
    Layer.provideMerge(around.pipe(Layer.provide(NodeCrypto.layer))),
    Layer.provideMerge(portsOn(storage, { settings: { operationsAtOnce: clients } }))
  )

/** Runs an effect against a running engine on a database of its own. */
export const onDatabase = <A, E>(
  effect: Effect.Effect<A, E, FourEyes | Records | SqlClient.SqlClient>,
  around?: Layer.Layer<never, never, Ids>
): Promise<A> =>
  withDatabase(({ storage }) =>
    Effect.gen(function* () {
      const engine = yield* Engine.Engine
      yield* Effect.forkScoped(engine.run)
      return yield* effect
    }).pipe(Effect.scoped, Effect.provide(layerOn(storage, around)))
  )

export const bench: Bench = async (options) => [
  {
    bench: `operations at ${clients} callers`,
    unit: "operations/s",
    against: `the same rows by set-based SQL, ${clients} operations a transaction`,
    goal: 0.4,
    note: "from the call to succeeded",
    ...(await onDatabase(program(options)))
  }
]
