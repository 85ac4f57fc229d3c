/** The storage of a deployment: every storage port on PostgreSQL 15 or newer. */
import {
  Atomically,
  Blobs,
  Documents,
  FactLog,
  Feed,
  Keys,
  ProjectionLog,
  RateWindow,
  WorkQueue
} from "@bursar/engine-core/ports"
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Config, Context, Data, Effect, Layer, type Redacted, type Scope } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Storage } from "../memory/Memory.ts"
import * as Migrations from "./Migrations.ts"
import * as PgAtomically from "./PgAtomically.ts"
import * as PgBlobs from "./PgBlobs.ts"
import * as PgDocuments from "./PgDocuments.ts"
import * as PgFactLog from "./PgFactLog.ts"
import * as PgFeed from "./PgFeed.ts"
import * as PgKeys from "./PgKeys.ts"
import * as PgProjectionLog from "./PgProjectionLog.ts"
import * as PgRateWindow from "./PgRateWindow.ts"
import * as PgWorkQueue from "./PgWorkQueue.ts"
import * as Sessions from "./Sessions.ts"
import * as Wakes from "./Wakes.ts"

export type { Storage } from "../memory/Memory.ts"

/** The database cannot serve as the store: too old, not reachable at the start, or not ours. */
export class PostgresFailed extends Data.TaggedError("PostgresFailed")<{
  readonly detail: string
}> {
  override get message(): string {
    return this.detail
  }
}

export interface PostgresOptions {
  readonly url: Redacted.Redacted
  /**
   * Connections for transactions of the ports; 10 where it is left out. They are short and pass the
   * feed's head one by one, so more of them get in each other's way on a small machine. Some 16 more
   * carry single statements, streams and wakes, opened as they are needed.
   */
  readonly maxConnections?: number
  /** Connections of the plain SqlClient beside the ports; 10 where it is left out. */
  readonly clientConnections?: number
  /** After this a statement is given up; 60 seconds where it is left out. */
  readonly statementMillis?: number
  /**
   * After this a transaction that sends nothing is ended by the database; 15 seconds where it is
   * left out. A host that was stopped or cut off in the middle of one may hold the feed's head, and
   * then every other host waits for it: no longer than work of a killed instance waits
   * (docs/contract/instances.md#leases).
   */
  readonly transactionIdleMillis?: number
  /** Off for poolers that lend connections by statement and keep no prepared ones. */
  readonly prepare?: boolean
}

const MAX_CONNECTIONS = 10
const CLIENT_CONNECTIONS = 10
const STATEMENT_MILLIS = 60_000
const TRANSACTION_IDLE_MILLIS = 15_000
const OLDEST_VERSION = 150_000

/** The nine ports, and a plain client of the same database for whoever stores beside them. */
export type Provided = Storage | PgClient.PgClient | SqlClient

export const layer = (options: PostgresOptions): Layer.Layer<Provided, PostgresFailed> =>
  Layer.merge(Layer.effectContext(storage(options)), layerClient(options))

export const layerConfig = (
  config: Config.Wrap<PostgresOptions>
): Layer.Layer<Provided, PostgresFailed | Config.ConfigError> =>
  Layer.unwrap(Effect.map(Config.unwrap(config), layer))

const storage = (
  options: PostgresOptions
): Effect.Effect<Context.Context<Storage>, PostgresFailed, Scope.Scope> =>
  Effect.gen(function* () {
    yield* Effect.scoped(prepare(options))
    const sessions = yield* Sessions.make({
      url: options.url,
      maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
      statementMillis: options.statementMillis ?? STATEMENT_MILLIS,
      transactionIdleMillis: options.transactionIdleMillis ?? TRANSACTION_IDLE_MILLIS,
      prepare: options.prepare ?? true
    })
    const wakes = yield* Wakes.make({ sessions, connection: options })
    return Context.make(Atomically, PgAtomically.make(sessions)).pipe(
      Context.add(Blobs, PgBlobs.make(sessions)),
      Context.add(Documents, PgDocuments.make(sessions)),
      Context.add(FactLog, PgFactLog.make(sessions)),
      Context.add(Feed, PgFeed.make({ sessions, wakes })),
      Context.add(Keys, PgKeys.make(sessions)),
      Context.add(ProjectionLog, PgProjectionLog.make(sessions)),
      Context.add(RateWindow, PgRateWindow.make(sessions)),
      Context.add(WorkQueue, PgWorkQueue.make({ sessions, wakes }))
    )
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(notUsable(error))))

/**
 * Brings the schema of the database up to date, as every opening of the store does, and nothing
 * else. Answers the names of the migrations that were missing, in order.
 */
export const migrate = (
  options: Pick<PostgresOptions, "url">
): Effect.Effect<ReadonlyArray<string>, PostgresFailed> =>
  Effect.scoped(prepare(options)).pipe(
    Effect.catchTag("SqlError", (error) => Effect.fail(notUsable(error)))
  )

/** A plain client of the database, for whoever stores beside the ports. */
export const layerClient = (
  options: PostgresOptions
): Layer.Layer<PgClient.PgClient | SqlClient, PostgresFailed> =>
  Layer.catch(
    PgClient.layer({
      url: options.url,
      maxConnections: options.clientConnections ?? CLIENT_CONNECTIONS,
      applicationName: "bursar client",
      prepare: options.prepare ?? true
    }),
    (error) => Layer.effectContext(Effect.fail(notUsable(error)))
  )

/** Judges the server and brings its schema up to date, on a connection of its own. */
const prepare = Effect.fnUntraced(function* (options: Pick<PostgresOptions, "url">) {
  const connection = yield* PgConnection.make({ url: options.url, applicationName: "bursar start" })
  const { rows } = yield* connection.query(
    "select current_setting('server_version_num') as number, current_setting('server_version') as name"
  )
  const row = rows[0]
  if (Number(row?.["number"]) < OLDEST_VERSION) {
    return yield* new PostgresFailed({
      detail: `PostgreSQL ${String(row?.["name"])} is too old: Bursar needs 15 or newer.`
    })
  }
  return yield* Migrations.run(connection)
})

/** Error of a start on an unusable database, with the database's message. */
export const notUsable = (error: SqlError): PostgresFailed => {
  const cause = error.reason.cause
  const said = cause instanceof Error ? `: ${cause.message}` : ""
  return new PostgresFailed({ detail: `The database is not usable (${error.message}${said}).` })
}
