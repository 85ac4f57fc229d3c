/** Process that works the jobs of one queue, and enqueues jobs when it is asked to. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { layerClient } from "./queues/job-queue.ts"
import { kinds } from "./queues/kinds.ts"

const [name, url = "", worker = "", port, leaseMillis, stepMillis] = process.argv.slice(2)
const jobsAtOnce = 8

const program = Effect.gen(function* () {
  const kind = kinds.find((found) => found.name === name)
  if (kind === undefined) return yield* Effect.die(new Error(`no queue is called ${name}`))
  const sql = yield* SqlClient.SqlClient
  const queue = yield* kind.make({
    url,
    worker,
    jobsAtOnce,
    leaseMillis: Number(leaseMillis),
    port: Number(port),
    // On a connection apart: what had begun is seen even where its transaction never ends.
    beforeStep: (job) =>
      sql`insert into compared.begun (job, worker) values (${job}, ${worker})`.pipe(
        Effect.andThen(Effect.sleep(Number(stepMillis))),
        Effect.orDie
      )
  })
  const batches = yield* Queue.unbounded<ReadonlyArray<string>>()
  process.on("message", (jobs: ReadonlyArray<string>) => Queue.offerUnsafe(batches, jobs))
  process.send?.({ url })
  for (;;) {
    const jobs = yield* Queue.take(batches)
    yield* Effect.forEach(jobs, queue.enqueue, { concurrency: 64, discard: true })
    process.send?.({ url })
  }
})

NodeRuntime.runMain(program.pipe(Effect.scoped, Effect.provide(layerClient({ url }))))
