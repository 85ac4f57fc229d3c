/**
 * Complete jobs through the lease queue of the storage adapter, against other work queues on the
 * same database: enqueued with an order in one transaction, taken, run to a step, finished.
 */
import { Effect, References } from "effect"
import { SqlClient } from "effect/sql"
import { type Database, withDatabase } from "./database.ts"
import { type Bench, inTurns, type Options, type Side, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import { many } from "./operations.ts"
import { createTables, type Kind, layerClient, unfinishedOf } from "./queues/job-queue.ts"
import * as LeaseQueue from "./queues/lease-queue.ts"
import { others } from "./queues/kinds.ts"

const jobsAtOnce = 64
const leaseMillis = 30_000

/** Opens a queue with its worker in this process, and runs so many jobs to their end in each round. */
const sideOf = Effect.fnUntraced(function* (options: {
  readonly kind: Kind
  readonly url: string
  readonly size: number
}) {
  const sql = yield* SqlClient.SqlClient
  let begun = 0
  let made = 0
  const queue = yield* options.kind.make({
    url: options.url,
    worker: options.kind.name,
    jobsAtOnce,
    leaseMillis,
    port: 34_431,
    beforeStep: () => Effect.sync(() => void begun++)
  })
  const enqueue = Effect.suspend(() => queue.enqueue(`${options.kind.name} ${++made}`))
  const ended = Effect.gen(function* () {
    while (begun < made || (yield* unfinishedOf(options.kind, sql)) > 0) yield* Effect.sleep(5)
  })
  const side: Side<unknown> = {
    meter: Meters.of(sql),
    // Statistics as autovacuum would have gathered them, for the plans of either side.
    prepare: () => sql`analyze`,
    run: () => timed(options.size, Effect.andThen(many(options.size, enqueue), ended))
  }
  return side
})

const rowOf = (kind: Kind, { rounds, size = 1_000 }: Options) =>
  withDatabase(({ url }: Database) =>
    Effect.gen(function* () {
      yield* createTables(yield* SqlClient.SqlClient)
      return yield* inTurns({
        rounds,
        ours: yield* sideOf({ kind: LeaseQueue.kind, url, size }),
        bound: yield* sideOf({ kind, url, size })
      })
    }).pipe(
      Effect.scoped,
      Effect.provide(layerClient({ url })),
      // The runner of a cluster logs its address.
      Effect.provideService(References.MinimumLogLevel, "Warn")
    )
  )

export const bench: Bench = async (options) => {
  const rows = []
  for (const kind of others) {
    rows.push({
      bench: `jobs through the lease queue, against ${kind.name}`,
      unit: "jobs/s",
      against: kind.name,
      goal: null,
      note: `${jobsAtOnce} callers, each job enqueued in the transaction of its order`,
      ...(await rowOf(kind, options))
    })
  }
  return rows
}
