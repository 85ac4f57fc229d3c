/**
 * Prints what becomes of jobs when one of two workers is killed in the middle of them, or paused for
 * longer than its lease: `node test/bench/queue-faults.ts --rounds 3`. Names of queues select some.
 */
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { parseArgs } from "node:util"
import { Effect, Exit, Fiber, References, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { type Database, withDatabase } from "./database.ts"
import * as Processes from "./processes.ts"
import * as Faults from "./queues/faults.ts"
import { createTables, type Kind, layerClient, unfinishedOf } from "./queues/job-queue.ts"
import { kinds } from "./queues/kinds.ts"

const { values: options, positionals } = parseArgs({
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

/** Counts the victim's jobs that have no step and that no other worker has begun. */
const NOT_TAKEN_OVER = `
  select count(*)::int as n from compared.begun v
  where worker = 'victim'
    and not exists (select from compared.steps s where s.job = v.job)
    and not exists (select from compared.begun o where o.job = v.job and o.worker <> 'victim')`

const entriesOf = (sql: SqlClient.SqlClient, table: "begun" | "steps") =>
  sql.unsafe<Faults.Entry>(
    `select job, worker, (extract(epoch from at) * 1000)::float8 as at from compared.${table}`
  )

/** One run on two workers; the victim is stopped once a quarter of the jobs have their step. */
const runOnce = Effect.fnUntraced(function* (options: {
  readonly kind: Kind
  readonly fault: keyof typeof faults
  readonly database: Database
}) {
  const { kind, fault, database } = options
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
    yield* until(Effect.map(count(NOT_TAKEN_OVER), (n) => n === 0)).pipe(
      Effect.timeoutOption(4 * leaseMillis)
    )
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

/** A check that fails at the commit, after the statements of the transaction have succeeded. */
const REFUSED_COMMIT = `
  create function compared.refuse() returns trigger language plpgsql
    as $$ begin raise 'refused at the commit'; end $$;
  create constraint trigger refuse after insert on compared.orders
    deferrable initially deferred for each row execute function compared.refuse()`

/** Returns whether a queue keeps a job although the commit of its order failed. */
const keepsJobWithoutOrder = Effect.fnUntraced(function* (kind: Kind, { url }: Database) {
  const sql = yield* SqlClient.SqlClient
  for (const statement of REFUSED_COMMIT.split(";\n")) yield* sql.unsafe(statement)
  let begun = 0
  const queue = yield* kind.make({
    url,
    worker: "alone",
    jobsAtOnce: 1,
    leaseMillis,
    port: yield* freePort,
    beforeStep: () => Effect.sync(() => void begun++)
  })
  yield* Effect.sleep(2 * leaseMillis)
  const enqueued = yield* Effect.exit(queue.enqueue("refused"))
  yield* Effect.sleep(leaseMillis)
  return Exit.isSuccess(enqueued) || begun > 0 || (yield* unfinishedOf(kind, sql)) > 0
})

const onDatabase = <A, E>(
  use: (database: Database) => Effect.Effect<A, E, SqlClient.SqlClient | Scope.Scope>
) =>
  withDatabase((database) =>
    Effect.gen(function* () {
      yield* createTables(yield* SqlClient.SqlClient)
      return yield* use(database)
    }).pipe(
      Effect.scoped,
      Effect.provide(layerClient(database)),
      // The runner of a cluster warns that none is left when it ends.
      Effect.provideService(References.MinimumLogLevel, "Error")
    )
  )

const selected = kinds.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
for (const line of Faults.header) console.log(line)
for (const kind of selected) {
  for (const fault of ["killed", "paused"] as const) {
    const outcomes = await onDatabase((database) =>
      Effect.forEach(Array.from({ length: Number(options.rounds) }), () =>
        Effect.scoped(runOnce({ kind, fault, database }))
      )
    )
    console.log(Faults.lineOf(kind.name, fault, Faults.sumOf(outcomes)))
  }
}
for (const kind of selected) {
  const keeps = await onDatabase((database) => keepsJobWithoutOrder(kind, database))
  console.log(`${kind.name}: an order whose commit failed left ${keeps ? "a" : "no"} job`)
}
process.exit(0)
