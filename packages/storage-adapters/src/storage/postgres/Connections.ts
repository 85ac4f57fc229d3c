/**
 * Connection pools of the ports, and which of them go through a pooler in transaction mode, where
 * one is given: single statements and short transactions do. Everything else needs a connection of
 * its own to the database: cursors, which would keep a server connection of the pooler for as long
 * as their reader likes, the flush of the write-ahead log, `listen`, and the cancelling of a
 * statement, which must not queue behind the statement.
 */
import { PgConnection, PgPool } from "@effect/sql-pg"
import { Effect, type Redacted, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Durability from "./Durability.ts"
import * as Replica from "./Replica.ts"

export interface ConnectionsOptions {
  /** Address of the database itself. */
  readonly url: Redacted.Redacted
  /** Address of the same database through a pooler in transaction mode. */
  readonly poolerUrl?: Redacted.Redacted | undefined
  /** Connections for transactions; a few more carry single statements. */
  readonly maxConnections: number
  readonly statementMillis: number
  readonly transactionIdleMillis: number
  readonly prepare: boolean
  /** Streaming replica of the same database, and the identity of the server that it copies. */
  readonly replica?: (Replica.ReplicaOptions & { readonly identity: unknown }) | undefined
  /** Settings of the planner; those of the ports for records where it is left out. */
  readonly planning?: Readonly<Record<string, string>>
}

export interface Connections {
  /** For single statements of many fibers, pipelined. */
  readonly shared: PgPool.PgPool
  /** For transactions: one user for each connection. */
  readonly exclusive: PgPool.PgPool
  /** For cursors: one user for each connection. */
  readonly streaming: PgPool.PgPool
  /** For the cancelling of statements. */
  readonly cancelling: PgPool.PgPool
  readonly durability: Durability.Durability
  /** For reads at a pin. */
  readonly replica: Replica.Replica | undefined
  /** True: `shared` and `exclusive` go through a pooler. */
  readonly isPooled: boolean
}

/** Pipelined, a few connections carry all single statements; each waits for its own disk write. */
const SHARED_CONNECTIONS = 4

/** A slow reader of a long list keeps its connection, which must not be one that writers wait for. */
const STREAM_CONNECTIONS = 10

/**
 * Every statement of the ports finds its rows by an index. A plan made while a table was young and
 * its statistics empty would read it whole, and a prepared plan is kept for as long as it lives.
 */
const PLANNING = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  // A row by an index costs about as much as any other, so that few rows are not sorted instead.
  random_page_cost: "1.1",
  // A prepared statement is planned once. Planned for its values, a page took longer to plan than to read.
  plan_cache_mode: "force_generic_plan",
  // To begin processes takes longer than a page: 12 ms where the page itself took less than one.
  max_parallel_workers_per_gather: "0",
  jit: "off"
}

/**
 * Largest message from the database, in bytes: PostgreSQL's own limit of a value. A larger message
 * ends its connection, which other statements share, and the driver's default of 16 MiB is less than
 * the text of a ledger update that settles many orders (ledger.maxInputs).
 */
export const maxMessageSize = 1_073_741_823

type Settings = Readonly<Record<string, string>>

/** Settings of every connection for statements of the ports. */
const settingsOf = (
  options: Pick<ConnectionsOptions, "planning" | "statementMillis" | "transactionIdleMillis">
): Settings => ({
  ...(options.planning ?? PLANNING),
  ...Durability.UNSETTLED,
  statement_timeout: String(options.statementMillis),
  idle_in_transaction_session_timeout: String(options.transactionIdleMillis)
})

export const make = Effect.fnUntraced(function* (
  options: ConnectionsOptions
): Effect.fn.Return<Connections, SqlError, Scope.Scope> {
  const { url, poolerUrl, prepare } = options
  const common = { applicationName: "bursar", multiplex: true, maxMessageSize }
  const direct = { ...common, url, prepare, startupParameters: settingsOf(options) }
  // A pooler has server connections with the settings already, and may keep no prepared statement.
  const pooled = poolerUrl === undefined ? direct : { ...common, url: poolerUrl, prepare: false }
  return {
    shared: yield* PgPool.make({ ...pooled, maxConnections: SHARED_CONNECTIONS }),
    // Pipelined all the same: what PgPool.reserve gives waits for each answer.
    exclusive: yield* PgPool.make({
      ...pooled,
      maxConnections: options.maxConnections,
      multiplexConcurrency: 1
    }),
    streaming: yield* PgPool.make({
      ...direct,
      maxConnections: STREAM_CONNECTIONS,
      multiplexConcurrency: 1
    }),
    cancelling: yield* PgPool.make({
      url,
      prepare,
      applicationName: "bursar cancel",
      maxConnections: 1
    }),
    durability: yield* Durability.make({ url, prepare, applicationName: "bursar flush" }),
    replica:
      options.replica === undefined
        ? undefined
        : yield* Replica.make({
            ...options.replica,
            prepare,
            maxMessageSize,
            startupParameters: settingsOf(options)
          }),
    isPooled: poolerUrl !== undefined
  }
})

const SETTINGS = "select name, setting from pg_settings where name = any ($1::text[])"

/**
 * Compares a pooler's server connections with what the ports need: the same database, and the
 * settings that a direct connection asks for at its start. Returns the difference in words; null
 * where there is none.
 */
export const faultOfPooler = (pooler: {
  readonly url: Redacted.Redacted
  readonly poolerUrl: Redacted.Redacted
  readonly statementMillis: number
  readonly transactionIdleMillis: number
}): Effect.Effect<string | null, SqlError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const direct = yield* PgConnection.make({ url: pooler.url, applicationName: "bursar start" })
      const pooled = yield* PgConnection.make({ url: pooler.poolerUrl, prepare: false })
      const identities = yield* Effect.forEach([direct, pooled], (connection) =>
        Effect.map(connection.query(Replica.IDENTITY), ({ rows }) => rows[0]?.["identity"])
      )
      if (identities[0] !== identities[1]) return "it leads to another database"
      const wanted = settingsOf(pooler)
      const { rows } = yield* pooled.query(SETTINGS, [Object.keys(wanted)])
      const found = new Map(rows.map((row) => [row["name"], row["setting"]]))
      const wrong = Object.entries(wanted).filter(([name, value]) => found.get(name) !== value)
      return wrong.length === 0
        ? null
        : `its server connections must begin with ${connectQuery(Object.fromEntries(wrong))}`
    })
  )

/** Statements that give a pooler's server connections their settings. */
const connectQuery = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `set ${name} = ${value};`)
    .join(" ")
