/**
 * Job queue of one table with a state column, in the manner of River: fetches with `skip locked`, one
 * completer that finishes jobs in batches, and a rescuer of jobs that have run for too long. A job
 * has neither lease nor fence: whoever finishes it while it is running, finishes it.
 */
import { Context, Effect, Layer, PubSub, Queue, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { INSERT_ORDER, INSERT_STEP, type Kind, layerClient, runJobs } from "./job-queue.ts"

const TABLE = `
create table if not exists compared.jobs (
  id bigint generated always as identity primary key,
  job text not null unique,
  state text not null default 'available',
  attempt smallint not null default 0,
  scheduled_at timestamptz not null default now(),
  attempted_at timestamptz,
  attempted_by text,
  finalized_at timestamptz)`

const INDEX = "create index if not exists jobs_next on compared.jobs (state, scheduled_at, id)"

const ENQUEUE = "insert into compared.jobs (job) values ($1) on conflict (job) do nothing"

const FETCH = `
with next as materialized (
  select id from compared.jobs where state = 'available' and scheduled_at <= now()
  order by scheduled_at, id limit $1 for update skip locked)
update compared.jobs j
set state = 'running', attempt = attempt + 1, attempted_at = now(), attempted_by = $2
from next where j.id = next.id returning j.id::text as id, j.job`

const COMPLETE = `
update compared.jobs set state = 'completed', finalized_at = now()
where id = any ($1::text[]::bigint[]) and state = 'running'`

const RESCUE = `
update compared.jobs set state = 'available', scheduled_at = now()
where state = 'running' and attempted_at < now() - $1::int * interval '1 millisecond'`

interface Job {
  readonly id: string
  readonly job: string
}

const make: Kind["make"] = Effect.fnUntraced(function* (options) {
  const { leaseMillis, worker } = options
  const sql = Context.get(yield* Layer.build(layerClient(options)), SqlClient.SqlClient)
  yield* sql.withTransaction(
    Effect.andThen(
      // `if not exists` of two sessions at a time fails in one of them.
      sql.unsafe("select pg_advisory_xact_lock(1)"),
      Effect.andThen(sql.unsafe(TABLE), sql.unsafe(INDEX))
    )
  )

  const finished = yield* Queue.unbounded<string>()
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.flatMap(Queue.takeAll(finished), (ids) => sql.unsafe(COMPLETE, [`{${ids.join()}}`]))
    )
  )
  yield* Effect.forkScoped(
    Effect.forever(Effect.delay(sql.unsafe(RESCUE, [leaseMillis]), leaseMillis / 3))
  )

  const announced = yield* PubSub.sliding<void>(1)
  yield* runJobs<Job>({
    jobsAtOnce: options.jobsAtOnce,
    take: (limit) => sql.unsafe<Job>(FETCH, [limit, worker]),
    run: ({ id, job }) =>
      options
        .beforeStep(job)
        .pipe(
          Effect.andThen(sql.unsafe(INSERT_STEP, [job, worker])),
          Effect.andThen(Queue.offer(finished, id)),
          Effect.orDie,
          Effect.asVoid
        ),
    wakes: Stream.fromPubSub(announced)
  })
  return {
    enqueue: (job) =>
      Effect.andThen(
        sql.withTransaction(
          Effect.andThen(sql.unsafe(INSERT_ORDER, [job]), sql.unsafe(ENQUEUE, [job]))
        ),
        PubSub.publish(announced, undefined)
      )
  }
})

export const kind: Kind = {
  name: "SQL queue in the manner of River",
  make,
  unfinished: "select count(*)::int as n from compared.jobs where state <> 'completed'"
}
