/**
 * Jobs as persisted messages to entities of effect's cluster, and as durable workflows on it. Both
 * write the step in the transaction that stores the reply, which a request has only one of.
 */
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import { Context, Effect, Layer, Option, Schema } from "effect"
import {
  ClusterSchema,
  ClusterWorkflowEngine,
  Entity,
  RunnerAddress,
  Sharding
} from "effect/cluster"
import { Rpc } from "effect/rpc"
import { SqlClient } from "effect/sql"
import { Activity, Workflow } from "effect/workflow"
import {
  INSERT_ORDER,
  INSERT_STEP,
  type Kind,
  layerClient,
  type Options,
  pollMillis
} from "./job-queue.ts"

/** Runner of a cluster over sockets. Whatever waits for a silent runner is cut to the lease. */
const runner = (options: Options) => {
  const { leaseMillis } = options
  return NodeClusterSocket.layer({
    shardingConfig: {
      runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", options.port)),
      shardLockExpiration: leaseMillis,
      shardLockRefreshInterval: leaseMillis / 3,
      runnerHealthCheckInterval: leaseMillis / 3,
      refreshAssignmentsInterval: leaseMillis / 3,
      entityMessagePollInterval: pollMillis,
      entityMaxIdleTime: leaseMillis
    }
  }).pipe(Layer.provideMerge(layerClient(options)))
}

const stepOf = (options: Options, job: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.andThen(options.beforeStep(job), sql.unsafe(INSERT_STEP, [job, options.worker]))
  ).pipe(Effect.orDie, Effect.asVoid)

/** Sends the message in the transaction of its order; the storage is read again once it is there. */
const enqueueing =
  (
    services: Context.Context<SqlClient.SqlClient | Sharding.Sharding>,
    send: (job: string) => Effect.Effect<unknown, unknown>
  ) =>
  (job: string) => {
    const sql = Context.get(services, SqlClient.SqlClient)
    return Effect.andThen(
      sql.withTransaction(Effect.andThen(sql.unsafe(INSERT_ORDER, [job]), send(job))),
      Context.get(services, Sharding.Sharding).pollStorage
    )
  }

const Run = Rpc.make("Run", {
  payload: { job: Schema.String },
  primaryKey: ({ job }) => job
})
  .annotate(ClusterSchema.Persisted, true)
  .annotate(ClusterSchema.WithTransaction, true)

const JobEntity = Entity.make("Job", [Run])

const makeEntity: Kind["make"] = Effect.fnUntraced(function* (options) {
  const entities = JobEntity.toLayer(
    JobEntity.of({ Run: ({ payload }) => stepOf(options, payload.job) })
  )
  const services = yield* Layer.build(Layer.provideMerge(entities, runner(options)))
  const clientOf = yield* Effect.provideContext(JobEntity.client, services)
  return { enqueue: enqueueing(services, (job) => clientOf(job).Run({ job }, { discard: true })) }
})

const JobWorkflow = Workflow.make("JobWorkflow", {
  payload: { job: Schema.String },
  idempotencyKey: ({ job }) => job
})

const makeWorkflow: Kind["make"] = Effect.fnUntraced(function* (options) {
  const workflows = JobWorkflow.toLayer(({ job }) =>
    Activity.make({ name: "step", execute: stepOf(options, job) }).annotate(
      ClusterSchema.WithTransaction,
      true
    )
  )
  const layer = workflows.pipe(
    Layer.provideMerge(ClusterWorkflowEngine.layer),
    Layer.provideMerge(runner(options))
  )
  const services = yield* Layer.build(layer)
  return {
    enqueue: enqueueing(services, (job) =>
      Effect.provideContext(JobWorkflow.execute({ job }, { discard: true }), services)
    )
  }
})

const unfinished = "select count(*)::int as n from cluster_messages where not processed"

export const entity: Kind = { name: "effect cluster", make: makeEntity, unfinished }

export const workflow: Kind = { name: "effect workflow", make: makeWorkflow, unfinished }
