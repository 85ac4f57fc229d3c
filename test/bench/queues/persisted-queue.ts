/** Lease queue of effect's persistence module, on its SQL store. */
import { Context, Effect, Layer, Schema } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { INSERT_ORDER, INSERT_STEP, type Kind, layerClient, pollMillis } from "./job-queue.ts"

const make: Kind["make"] = Effect.fnUntraced(function* (options) {
  const { leaseMillis, worker } = options
  const layer = PersistedQueue.layer.pipe(
    Layer.provide(
      PersistedQueue.layerStoreSql({
        pollInterval: pollMillis,
        lockRefreshInterval: leaseMillis / 3,
        lockExpiration: leaseMillis
      })
    ),
    Layer.provideMerge(layerClient(options))
  )
  const services = yield* Layer.build(layer)
  const sql = Context.get(services, SqlClient.SqlClient)
  const queue = yield* PersistedQueue.make({ name: "compared", schema: Schema.String }).pipe(
    Effect.provideContext(services)
  )
  const workOne = queue
    .take((job) => Effect.andThen(options.beforeStep(job), sql.unsafe(INSERT_STEP, [job, worker])))
    .pipe(Effect.ignore)
  yield* Effect.forkScoped(
    Effect.replicateEffect(Effect.forever(workOne), options.jobsAtOnce, {
      concurrency: "unbounded",
      discard: true
    })
  )
  return {
    enqueue: (job) =>
      sql.withTransaction(
        Effect.andThen(sql.unsafe(INSERT_ORDER, [job]), queue.offer(job, { id: job }))
      )
  }
})

export const kind: Kind = {
  name: "effect PersistedQueue",
  make,
  unfinished: "select count(*)::int as n from effect_queue where state = 'pending'"
}
