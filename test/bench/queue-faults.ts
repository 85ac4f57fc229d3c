/**
 * Prints what becomes of jobs when one of two workers is killed in the middle of them, or paused for
 * longer than its lease: `node test/bench/queue-faults.ts --rounds 3`. Names of queues select some.
 */
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { parseArgs } from "node:util"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { type Database, withDatabase } from "./database.ts"
import * as Processes from "./processes.ts"
import * as Faults from "./queues/faults.ts"
import { createTables, type Kind, layerClient, unfinishedOf } from "./queues/job-queue.ts"
import { kinds } from "./queues/kinds.ts"

const { values: options, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "1" }, lease: { type: "string", default: "3000" } }
})
const leaseMillis = Number(options.lease)
/** Milliseconds that a job takes before its step is written. */
const stepMillis = 300
const jobs = 100
/** Longest wait for jobs that no worker takes over: well beyond any lease. */
const limitMillis = 60_000

const faults = { killed: "SIGKILL", paused: "SIGSTOP" } as const

const freePort = Effect.promise(async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  return port
})

/** Waits until a condition holds, for `limitMillis` at the longest. */
const until = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    while (!(yield* condition)) yield* Effect.sleep(20)
  }).pipe(Effect.timeoutOption(limitMillis))

const entriesOf = (sql: SqlClient.SqlClient, table: "begun" | "steps") =>
  sql.unsafe<Faults.Entry>(
    `select job, worker, (extract(epoch from at) * 1000)::float8 as at from compared.${table}`
  )

const runOnce = Effect.fnUntraced(function* (of: {
  readonly kind: Kind
  readonly fault: keyof typeof faults
  readonly database: Database
}) {
  const { kind, fault, database } = of
  const sql = yield* SqlClient.SqlClient
  const now = Effect.map(
    sql<{ at: number }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as at`,
    ([row]) => Number(row?.at)
  )
  const count = (query: string) =>
    Effect.map(sql.unsafe<{ n: number }>(query), ([row]) => Number(row?.n))
  yield* sql`truncate compared.orders, compared.begun, compared.steps`

  const start = Effect.fnUntraced(function* (worker: string) {
    const port = yield* freePort
    const args = [kind.name, database.url, worker, port, leaseMillis, stepMillis].map(String)
    return yield* Processes.start({ file: "queue-worker.ts", folder: database.folder, args })
  })
  const victim = yield* start("victim")
  const survivor = yield* start("survivor")
  // Time to divide the shards of a cluster between both.
  yield* Effect.sleep(2 * leaseMillis)

  const orders = Array.from({ length: jobs }, () => crypto.randomUUID())
  const enqueued = yield* Effect.forkChild(Effect.promise(() => survivor.ask(orders)))
  yield* until(
    Effect.map(count("select count(*)::int as n from compared.steps"), (n) => n >= jobs / 4)
  )
  const stoppedAt = yield* now
  process.kill(victim.pid, faults[fault])
  let resumedAt: number | null = null
  if (fault === "paused") {
    yield* Effect.sleep(2 * leaseMillis)
    yield* until(
      Effect.map(
        count(`select count(*)::int as n from compared.begun v
          where worker = 'victim' and not exists (select from compared.begun o
              where o.job = v.job and o.worker <> 'victim')
            and not exists (select from compared.steps s where s.job = v.job)`),
        (n) => n === 0
      )
    ).pipe(Effect.timeoutOption(4 * leaseMillis))
    resumedAt = yield* now
    process.kill(victim.pid, "SIGCONT")
    yield* Effect.sleep(leaseMillis)
  }
  yield* Fiber.join(enqueued)
  yield* until(Effect.map(unfinishedOf(kind, sql), (n) => n === 0))
  return Faults.outcomeOf({
    orders,
    begun: yield* entriesOf(sql, "begun"),
    steps: yield* entriesOf(sql, "steps"),
    victim: "victim",
    stoppedAt,
    resumedAt
  })
})

for (const line of Faults.header) console.log(line)
for (const kind of kinds.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
  for (const fault of ["killed", "paused"] as const) {
    const outcomes = await withDatabase((database) =>
      Effect.gen(function* () {
        yield* createTables(yield* SqlClient.SqlClient)
        return yield* Effect.forEach(Array.from({ length: Number(options.rounds) }), () =>
          Effect.scoped(runOnce({ kind, fault, database }))
        )
      }).pipe(Effect.provide(layerClient(database)))
    )
    console.log(Faults.lineOf(kind.name, fault, Faults.sumOf(outcomes)))
  }
}
process.exit(0)
