/** Lease queue of the storage adapter for PostgreSQL, worked as the engine's runners do. */
import * as Sessions from "#adapters/storage/postgres/Sessions.ts"
import * as PgWorkQueue from "#adapters/storage/postgres/PgWorkQueue.ts"
import * as Wakes from "#adapters/storage/postgres/Wakes.ts"
import * as LeasedWork from "#core/records/LeasedWork.ts"
import { orUnavailable } from "#core/records/PortFailure.ts"
import type { Lease } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Redacted, Scope } from "effect"
import { connections, INSERT_ORDER, INSERT_STEP, type Kind, runJobs } from "./job-queue.ts"

const queue = "compared"

const make: Kind["make"] = Effect.fnUntraced(function* (options) {
  const { leaseMillis, worker } = options
  const url = Redacted.make(options.url)
  yield* Postgres.migrate({ url })
  // A scope apart, closed after the worker's: a commit that a job waits for is flushed in it.
  const store = yield* Scope.fork(yield* Effect.scope)
  const sessions = yield* Scope.provide(
    Sessions.make({
      url,
      maxConnections: connections,
      statementMillis: 60_000,
      transactionIdleMillis: leaseMillis / 2,
      prepare: true
    }),
    store
  )
  const work = PgWorkQueue.make({
    sessions,
    wakes: yield* Scope.provide(Wakes.make({ sessions, connection: { url } }), store)
  })
  const step = (lease: Lease) =>
    sessions.run(
      Effect.gen(function* () {
        yield* work.fence(lease)
        yield* sessions.send(INSERT_STEP, [lease.itemId, worker])
        yield* work.finish(lease)
      })
    )
  yield* runJobs({
    jobsAtOnce: options.jobsAtOnce,
    take: (limit) => work.lease({ queue, worker, limit, leaseMillis }),
    run: (lease) =>
      LeasedWork.under(
        { work, lease, leaseMillis, failed: `${lease.itemId} failed`, failedFor: 1_000 },
        Effect.andThen(options.beforeStep(lease.itemId), orUnavailable(step(lease)))
      ),
    wakes: work.wakes(queue)
  })
  return {
    enqueue: (job) =>
      sessions.run(
        Effect.andThen(
          sessions.send(INSERT_ORDER, [job]),
          work.enqueue([{ queue, itemId: job, resource: job, payload: "", delay: 0 }])
        )
      )
  }
})

export const kind: Kind = {
  name: "lease queue",
  make,
  unfinished: `select count(*)::int as n from bursar.work where queue = '${queue}'`
}
