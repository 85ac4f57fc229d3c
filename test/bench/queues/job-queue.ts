/**
 * Contract of the work queues that the bench compares, and the tables that show which jobs ran: an
 * order is written with its job, a step by the job's run.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, FiberSet, Queue, Redacted, type Scope, Stream } from "effect"
import type { SqlClient } from "effect/sql"

export interface JobQueue {
  /** Writes the order of a job and enqueues the job in one transaction; durable when it returns. */
  readonly enqueue: (job: string) => Effect.Effect<void, unknown>
}

export interface Options {
  readonly url: string
  /** Name of the process, written with each step. */
  readonly worker: string
  readonly jobsAtOnce: number
  /** Milliseconds after which the jobs of a silent worker are given to another. */
  readonly leaseMillis: number
  /** Port on which the runners of a cluster reach this worker; unused by the other queues. */
  readonly port: number
  /** Work of a job before its step is written, such as the call of an outside system. */
  readonly beforeStep: (job: string) => Effect.Effect<void>
}

export interface Kind {
  readonly name: string
  /** Opens the queue and works its jobs until the scope ends. */
  readonly make: (options: Options) => Effect.Effect<JobQueue, unknown, Scope.Scope>
  /** Statement that counts the jobs that are not finished. */
  readonly unfinished: string
}

/** Interval at which a queue looks for jobs that nobody announced to its process. */
export const pollMillis = 100

/** Connections for transactions, as many as the storage layer has by default. */
export const connections = 10

export const layerClient = ({ url }: Pick<Options, "url">) =>
  PgClient.layer({ url: Redacted.make(url), maxConnections: connections })

export const INSERT_ORDER = "insert into compared.orders (job) values ($1)"
export const INSERT_STEP = "insert into compared.steps (job, worker) values ($1, $2)"

/** A job may have several steps: no constraint hides that it ran twice. */
const TABLES = [
  "create schema compared",
  "create table compared.orders (job text primary key)",
  `create table compared.begun (
     job text not null, worker text not null, at timestamptz not null default clock_timestamp())`,
  `create table compared.steps (
     job text not null, worker text not null, at timestamptz not null default clock_timestamp())`
]

export const createTables = (sql: SqlClient.SqlClient) =>
  Effect.forEach(TABLES, (statement) => sql.unsafe(statement), { discard: true })

/** Counts the jobs that a queue has not finished. */
export const unfinishedOf = (kind: Kind, sql: SqlClient.SqlClient) =>
  Effect.map(sql.unsafe<{ readonly n: number }>(kind.unfinished), ([row]) => Number(row?.n))

/** Worker loop of a queue that is polled: takes as many jobs as it has room for, and runs each. */
export const runJobs = Effect.fnUntraced(function* <Job>(options: {
  readonly jobsAtOnce: number
  readonly take: (limit: number) => Effect.Effect<ReadonlyArray<Job>, unknown>
  readonly run: (job: Job) => Effect.Effect<void>
  readonly wakes: Stream.Stream<void, unknown>
}) {
  const running = yield* FiberSet.make<void>()
  const bell = yield* Queue.sliding<void>(1)
  const ring = Queue.offer(bell, undefined)
  yield* Effect.forkScoped(Stream.runForEach(options.wakes, () => ring))
  const cycle = Effect.gen(function* () {
    const free = options.jobsAtOnce - (yield* FiberSet.size(running))
    const jobs = free > 0 ? yield* options.take(free) : []
    for (const job of jobs) yield* FiberSet.run(running, Effect.ensuring(options.run(job), ring))
    if (jobs.length === 0) yield* Effect.raceFirst(Queue.take(bell), Effect.sleep(pollMillis))
  })
  yield* Effect.forkScoped(Effect.forever(Effect.orDie(cycle)))
})
