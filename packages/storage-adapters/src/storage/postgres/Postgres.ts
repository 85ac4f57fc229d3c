/** Storage layer on PostgreSQL 15 or newer: every storage port. */
import {
  Atomically,
  Blobs,
  Bulk,
  Documents,
  FactLog,
  Feed,
  Keys,
  ProjectionLog,
  RateWindow,
  Terms,
  WorkQueue
} from "@bursar/engine-core/ports"
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Config, Context, Data, Effect, Layer, type Redacted, type Scope } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Storage } from "../memory/Memory.ts"
import * as Connections from "./Connections.ts"
import * as Migrations from "./Migrations.ts"
import * as PgAtomically from "./PgAtomically.ts"
import * as PgBlobs from "./PgBlobs.ts"
import * as PgBulk from "./PgBulk.ts"
import * as PgDocuments from "./PgDocuments.ts"
import * as PgFactLog from "./PgFactLog.ts"
import * as PgFeed from "./PgFeed.ts"
import * as PgKeys from "./PgKeys.ts"
import * as PgProjectionLog from "./PgProjectionLog.ts"
import * as PgRateWindow from "./PgRateWindow.ts"
import * as PgTerms from "./PgTerms.ts"
import * as PgWorkQueue from "./PgWorkQueue.ts"
import { IDENTITY, type ReplicaOptions } from "./Replica.ts"
import * as Sessions from "./Sessions.ts"
import * as Wakes from "./Wakes.ts"

export * as Dump from "./Dump.ts"
export type { Storage } from "../memory/Memory.ts"

/**
 * The database cannot be used as the store: too old, unreachable at the start, or of another
 * application.
 */
export class PostgresFailed extends Data.TaggedError("PostgresFailed")<{
  readonly detail: string
  /** Option of the layer whose address is not usable. */
  readonly option: "url" | "poolerUrl"
}> {
  override get message(): string {
    return this.detail
  }
}

/** Options of storage in PostgreSQL: its address, its pool and its times. */
export interface PostgresOptions {
  readonly url: Redacted.Redacted
  /**
   * Connections for transactions of the ports; 10 by default. Transactions are short and take the
   * feed's head one by one, so that more of them block each other on a small machine. About 16
   * further connections are opened on demand, for single statements, streams and notifications.
   */
  readonly maxConnections?: number
  /** Connections of the plain SqlClient; 10 by default. */
  readonly clientConnections?: number
  /** Timeout of a statement in milliseconds; 60 seconds by default. */
  readonly statementMillis?: number
  /**
   * Milliseconds after which the database ends an idle transaction; 15 seconds by default. A host
   * that was stopped within a transaction may hold the feed's head, for which every other host
   * waits: no longer than for the work of a killed instance (docs/contract/instances.md#leases).
   */
  readonly transactionIdleMillis?: number
  /** False for a `url` that leads to a pooler which keeps no prepared statements. */
  readonly prepare?: boolean
  /**
   * Address of the same database through a pooler in transaction mode, such as PgBouncer. Single
   * statements and transactions of records go through it, and none is prepared. Bulk rows, streams,
   * notifications, the flush of the log and the plain SqlClient keep direct connections to `url`. A
   * pooler cannot be told a connection's settings, so its server connections must begin with them:
   * a start on others fails and names the missing ones (docs/database.md of the host).
   */
  readonly poolerUrl?: Redacted.Redacted | undefined
  /**
   * Streaming replica of the same database, asked for pages, counts and records at a pin once it has
   * replayed what this host has seen of the primary. `waitMillis` bounds the wait for that; then, and
   * while the replica is unreachable, promoted or of another history, the primary answers. The start
   * does not need it. Streams, latest versions and writes always go to the primary.
   */
  readonly replica?: ReplicaOptions | undefined
}

const MAX_CONNECTIONS = 10
const CLIENT_CONNECTIONS = 10
const STATEMENT_MILLIS = 60_000
const TRANSACTION_IDLE_MILLIS = 15_000
/** Connections that bulk rows pass at a time: work in the background, a batch or an answer each. */
const BULK_CONNECTIONS = 2
/** A join of millions of rows takes longer than any statement of a record. */
const BULK_MILLIS = 600_000
const OLDEST_VERSION = 150_000

/** The eleven ports, and a plain client of the same database. */
export type ProvidedPorts = Storage | PgClient.PgClient | SqlClient

/** Storage in PostgreSQL, by options. */
export const layer = (options: PostgresOptions): Layer.Layer<ProvidedPorts, PostgresFailed> =>
  Layer.merge(Layer.effectContext(storage(options)), layerClient(options))

/** Storage in PostgreSQL, by configuration. */
export const layerConfig = (
  config: Config.Wrap<PostgresOptions>
): Layer.Layer<ProvidedPorts, PostgresFailed | Config.ConfigError> =>
  Layer.unwrap(Effect.map(Config.unwrap(config), layer))

const storage = (
  options: PostgresOptions
): Effect.Effect<Context.Context<Storage>, PostgresFailed, Scope.Scope> =>
  Effect.gen(function* () {
    yield* Effect.scoped(prepare(options))
    const limits = {
      statementMillis: options.statementMillis ?? STATEMENT_MILLIS,
      transactionIdleMillis: options.transactionIdleMillis ?? TRANSACTION_IDLE_MILLIS
    }
    const { replica } = options
    const replicaOf =
      replica === undefined ? undefined : { ...replica, identity: yield* identityOf(options) }
    yield* checkPooler({ ...options, ...limits })
    const { url, poolerUrl, prepare: prepared = true } = options
    const sessions = yield* Sessions.make({
      url,
      poolerUrl,
      maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
      prepare: prepared,
      replica: replicaOf,
      ...limits
    })
    const bulk = yield* Sessions.make({
      url,
      maxConnections: BULK_CONNECTIONS,
      statementMillis: BULK_MILLIS,
      transactionIdleMillis: BULK_MILLIS,
      prepare: prepared,
      planning: PgBulk.PLANNING
    })
    const wakes = yield* Wakes.make({ sessions, connection: options })
    return Context.make(Atomically, PgAtomically.make(sessions)).pipe(
      Context.add(Blobs, PgBlobs.make({ sessions, bulk })),
      Context.add(Bulk, PgBulk.make({ sessions, bulk })),
      Context.add(Documents, PgDocuments.make(sessions)),
      Context.add(FactLog, PgFactLog.make(sessions)),
      Context.add(Feed, PgFeed.make({ sessions, wakes })),
      Context.add(Keys, PgKeys.make(sessions)),
      Context.add(ProjectionLog, PgProjectionLog.make(sessions)),
      Context.add(RateWindow, PgRateWindow.make(sessions)),
      Context.add(Terms, PgTerms.make(sessions)),
      Context.add(WorkQueue, PgWorkQueue.make({ sessions, wakes }))
    )
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(notUsable(error))))

const identityOf = ({ url }: Pick<PostgresOptions, "url">) =>
  Effect.scoped(
    Effect.flatMap(PgConnection.make({ url, applicationName: "bursar start" }), (connection) =>
      Effect.map(connection.query(IDENTITY), ({ rows }) => rows[0]?.["identity"])
    )
  )

/** Refuses a pooler before another database, or whose server connections lack a setting. */
const checkPooler = Effect.fnUntraced(function* (
  options: Pick<PostgresOptions, "url" | "poolerUrl"> & {
    readonly statementMillis: number
    readonly transactionIdleMillis: number
  }
) {
  const { poolerUrl } = options
  if (poolerUrl === undefined) return
  const failed = (fault: string) =>
    new PostgresFailed({ option: "poolerUrl", detail: `The pooler is not usable: ${fault}.` })
  const fault = yield* Effect.mapError(
    Connections.faultOfPooler({ ...options, poolerUrl }),
    ({ message }) => failed(message)
  )
  if (fault !== null) return yield* failed(fault)
})

/**
 * Applies the pending migrations, as every opening of the store does, and nothing else. Returns
 * their names in order.
 */
export const migrate = (
  options: Pick<PostgresOptions, "url">
): Effect.Effect<ReadonlyArray<string>, PostgresFailed> =>
  Effect.scoped(prepare(options)).pipe(
    Effect.catchTag("SqlError", (error) => Effect.fail(notUsable(error)))
  )

/** Earlier use of a database, as it was found without changing anything. */
export interface EarlierUse {
  /** True: records were written: by a host, or by an engine that was embedded. */
  readonly isUsed: boolean
  /**
   * Text of the audit record of the latest start (`config.loaded`), which names the keys that the
   * start had; null where there is none.
   */
  readonly configLoaded: string | null
}

/**
 * Reads whether a database was used before. Changes nothing, and applies no migration; fails where
 * the schema is newer than this program.
 */
export const existing = (
  options: Pick<PostgresOptions, "url">
): Effect.Effect<EarlierUse, PostgresFailed> =>
  Effect.gen(function* () {
    const connection = yield* PgConnection.make({
      url: options.url,
      applicationName: "bursar start"
    })
    const say = (sql: string) => connection.query(sql, [], false)
    if ((yield* Migrations.applied(say)) === null) return { isUsed: false, configLoaded: null }
    const { rows } = yield* say(`
      select exists (select 1 from bursar.audit) or exists (select 1 from bursar.fact) as used,
        (select text from bursar.audit where action = 'config.loaded' order by seq desc limit 1)
          as loaded`)
    const loaded = rows[0]?.["loaded"]
    return {
      isUsed: rows[0]?.["used"] === true,
      configLoaded: typeof loaded === "string" ? loaded : null
    }
  }).pipe(
    Effect.catchTags({
      SqlError: (error) => Effect.fail(notUsable(error)),
      SchemaNewer: (error) => Effect.fail(newer(error))
    }),
    Effect.scoped
  )

/** Numbers of the last event of the feed and of the last record of the audit log; 0 before the first. */
interface Heads {
  readonly eventSeq: number
  readonly auditSeq: number
}

/** Reads how far the feed and the audit log are; null where the database has no schema of a venue. */
export const heads = (
  options: Pick<PostgresOptions, "url">
): Effect.Effect<Heads | null, PostgresFailed> =>
  Effect.gen(function* () {
    const connection = yield* PgConnection.make({
      url: options.url,
      applicationName: "bursar backup"
    })
    const say = (sql: string) => connection.query(sql, [], false)
    if ((yield* Migrations.applied(say)) === null) return null
    const { rows } = yield* say("select seq, audit_seq from bursar.head where id = 1")
    return {
      eventSeq: Number(rows[0]?.["seq"] ?? 0),
      auditSeq: Number(rows[0]?.["audit_seq"] ?? 0)
    }
  }).pipe(
    Effect.catchTags({
      SqlError: (error) => Effect.fail(notUsable(error)),
      SchemaNewer: (error) => Effect.fail(newer(error))
    }),
    Effect.scoped
  )

/** Advisory lock of a start that makes secrets: one start of a database at a time holds it. */
const START_LOCK = 4_217_002

/** Looks for the lock ten times a second, and for five minutes at most. */
const startTurns = { spacing: "100 millis", most: 3_000 } as const

/**
 * Waits until no other start of the database is making its secrets, and keeps others waiting until the
 * scope is closed, or the process ends.
 */
export const startTurn = (
  options: Pick<PostgresOptions, "url">
): Effect.Effect<void, PostgresFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* PgConnection.make({
      url: options.url,
      applicationName: "bursar start"
    })
    const isTaken = Effect.map(
      connection.query(
        "select pg_try_advisory_lock($1::int8) as taken",
        [String(START_LOCK)],
        false
      ),
      ({ rows }) => rows[0]?.["taken"] === true
    )
    for (let turn = 0; turn < startTurns.most; turn++) {
      if (yield* isTaken) return
      if (turn === 0)
        yield* Effect.logInfo("another start on the database is under way: waiting for it")
      yield* Effect.sleep(startTurns.spacing)
    }
    return yield* new PostgresFailed({
      option: "url",
      detail: "Another start on the database has been under way for five minutes."
    })
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(notUsable(error))))

/** Layer of a plain client of the database. */
export const layerClient = (
  options: PostgresOptions
): Layer.Layer<PgClient.PgClient | SqlClient, PostgresFailed> =>
  Layer.catch(
    PgClient.layer({
      url: options.url,
      maxConnections: options.clientConnections ?? CLIENT_CONNECTIONS,
      applicationName: "bursar client",
      maxMessageSize: Connections.maxMessageSize,
      prepare: options.prepare ?? true
    }),
    (error) => Layer.effectContext(Effect.fail(notUsable(error)))
  )

/** Checks the server's version and applies the migrations, on a connection of its own. */
const prepare = Effect.fnUntraced(function* (options: Pick<PostgresOptions, "url">) {
  const connection = yield* PgConnection.make({ url: options.url, applicationName: "bursar start" })
  const { rows } = yield* connection.query(
    "select current_setting('server_version_num') as number, current_setting('server_version') as name"
  )
  const row = rows[0]
  if (Number(row?.["number"]) < OLDEST_VERSION) {
    return yield* new PostgresFailed({
      option: "url",
      detail: `PostgreSQL ${String(row?.["name"])} is too old: Bursar needs 15 or newer.`
    })
  }
  return yield* Effect.catchTag(Migrations.run(connection), "SchemaNewer", (error) =>
    Effect.fail(newer(error))
  )
})

const newer = ({ message }: Migrations.SchemaNewer): PostgresFailed =>
  new PostgresFailed({ option: "url", detail: message })

/** Error of a start on an unusable database, with the database's message. */
export const notUsable = (error: SqlError): PostgresFailed => {
  const cause = error.reason.cause
  const said = cause instanceof Error ? `: ${cause.message}` : ""
  const detail = `The database is not usable (${error.message}${said}).`
  return new PostgresFailed({ option: "url", detail })
}
