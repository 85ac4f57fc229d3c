/**
 * Read replica for reads at a pin. A replica answers only once it has replayed the newest head that
 * this host has seen at the primary, only at pins that are not after that head, so that all of their
 * versions are there, and only while it replays the primary's own history. Otherwise the primary is
 * asked: the pin of a cursor may be one that another host gave out. Nothing that a replica shows can
 * be taken back: the primary sends it what is on disk already.
 */
import type { StoredPin } from "@bursar/engine-core/ports"
import { type PgConnection, PgPool } from "@effect/sql-pg"
import { Clock, Effect, Option, type Redacted, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Columns from "./Columns.ts"
import type { Rows } from "./Columns.ts"
import * as Values from "./Values.ts"

export interface Replica {
  /**
   * Remembers a head of the primary: a row with the columns `moves`, `at`, `projection_offset` and
   * `timeline`.
   */
  readonly note: (head: Readonly<Record<string, unknown>>) => void
  /** Asks a statement that only reads versions at a pin; none where the primary must be asked. */
  readonly look: (
    pin: StoredPin,
    sql: string,
    parameters: ReadonlyArray<unknown>
  ) => Effect.Effect<Option.Option<Rows>>
}

export interface ReplicaOptions {
  readonly url: Redacted.Redacted
  /** Longest wait in milliseconds for the replica to replay a head. */
  readonly waitMillis: number
}

/**
 * Column of a look at the primary's head: the history that it belongs to. A replica of a former
 * primary may have replayed commits that the failover lost, and counted as many moves.
 */
export const TIMELINE =
  "('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int4 as timeline"

/** Database and server that a replica must be a copy of. */
export const IDENTITY =
  "select system_identifier::text || ' ' || current_database() as identity from pg_control_system()"

/**
 * Progress of a replica in replaying. Its timeline is that of its last restart point, so after a failover
 * it is not asked until it has made another one.
 */
const REPLAYED = `
select h.moves, c.timeline_id as timeline, s.system_identifier::text || ' ' || current_database()
  as identity
from bursar.head h, pg_control_checkpoint() c, pg_control_system() s where h.id = 1`

/** Head of the primary as this host has seen it. */
interface Head {
  readonly moves: number
  /** Instant and projection offset: every version at or before them was committed by this head. */
  readonly at: string
  readonly offset: number
  readonly timeline: number
}

/** Checks whether all versions of a pin were committed by a head. */
const covers = ({ at, offset }: Head, pin: StoredPin): boolean =>
  pin.by === "instant" ? pin.instant <= at : pin.by === "offset" && pin.offset <= offset

/** Evaluated after a read: a server that still replays has seen no writer but the primary. */
const REPLAYS = "select pg_is_in_recovery() as replays"

const CONNECTIONS = 4
const CONNECT_MILLIS = 1_000
const POLL_MILLIS = 2
/** Timeout of an answer: a server that is cut off leaves its connections open, and says nothing. */
const ANSWER_MILLIS = 2_000
/** Time that a replica is left alone which did not answer or was too far behind. */
const REST_MILLIS = 1_000

export const make = Effect.fnUntraced(function* (
  options: ReplicaOptions & {
    /** Of the primary, as `IDENTITY` answers it. */
    readonly identity: unknown
    readonly startupParameters: Readonly<Record<string, string>>
    readonly prepare: boolean
    /** Largest message from the replica, in bytes. */
    readonly maxMessageSize: number
  }
): Effect.fn.Return<Replica, SqlError, Scope.Scope> {
  const pool = yield* PgPool.make({
    url: options.url,
    startupParameters: options.startupParameters,
    prepare: options.prepare,
    maxMessageSize: options.maxMessageSize,
    applicationName: "bursar replica",
    connectTimeout: CONNECT_MILLIS,
    multiplex: true,
    maxConnections: CONNECTIONS
  })
  let newest: Head | undefined
  let restsUntil = 0

  type Progress = "replayed" | "behind" | "other history"
  const progressOf = ({ rows }: Rows, head: Head): Progress => {
    const [row] = rows
    const isSame = row?.["identity"] === options.identity && row?.["timeline"] === head.timeline
    if (!isSame) return "other history"
    return Number(row?.["moves"]) >= head.moves ? "replayed" : "behind"
  }

  /** Uses a connection of the replica; one that does not answer in time is not used again. */
  const inTime = <A>(ask: (connection: PgConnection.PgConnection) => Effect.Effect<A, SqlError>) =>
    pool.use((connection) =>
      ask(connection).pipe(
        Effect.timeout(ANSWER_MILLIS),
        Effect.tapErrorTag("TimeoutError", () => pool.invalidate(connection))
      )
    )

  /** Waits until the replica has replayed the head, for as long as it may. */
  const awaited = Effect.fnUntraced(function* (head: Head) {
    const until = (yield* Clock.currentTimeMillis) + options.waitMillis
    for (;;) {
      const replayed = yield* inTime((connection) => Columns.ask(connection, REPLAYED, []))
      const progress = progressOf(replayed, head)
      if (progress !== "behind") return progress
      if ((yield* Clock.currentTimeMillis) >= until) return progress
      yield* Effect.sleep(POLL_MILLIS)
    }
  })

  /** Sends the statement between both checks, in one round trip. */
  const checked = Effect.fnUntraced(function* (
    head: Head,
    sql: string,
    parameters: ReadonlyArray<unknown>
  ) {
    const [replayed, rows, after] = yield* inTime((connection) =>
      Effect.all(
        [
          Columns.ask(connection, REPLAYED, []),
          Columns.ask(connection, sql, parameters),
          Columns.ask(connection, REPLAYS, [])
        ],
        { concurrency: 3 }
      )
    )
    const progress = progressOf(replayed, head)
    const replays = after.rows[0]?.["replays"] === true
    return { rows, progress: replays ? progress : ("other history" as const) }
  })

  return {
    note: (row) => {
      const head = {
        moves: Values.number(row, "moves"),
        at: Values.text(row, "at"),
        offset: Values.number(row, "projection_offset"),
        timeline: Values.number(row, "timeline")
      }
      const isNewer =
        newest === undefined ||
        head.timeline > newest.timeline ||
        (head.timeline === newest.timeline && head.moves >= newest.moves && head.at >= newest.at)
      if (isNewer) newest = head
    },
    look: (pin, sql, parameters) =>
      Effect.gen(function* () {
        const head = newest
        if (head === undefined || !covers(head, pin)) return Option.none<Rows>()
        if ((yield* Clock.currentTimeMillis) < restsUntil) {
          return Option.none<Rows>()
        }
        let answer = yield* checked(head, sql, parameters)
        if (answer.progress === "behind" && (yield* awaited(head)) === "replayed") {
          answer = yield* checked(head, sql, parameters)
        }
        if (answer.progress === "replayed") return Option.some<Rows>(answer.rows)
        restsUntil = (yield* Clock.currentTimeMillis) + REST_MILLIS
        return Option.none<Rows>()
      }).pipe(
        Effect.catch((error) =>
          Effect.gen(function* () {
            restsUntil = (yield* Clock.currentTimeMillis) + REST_MILLIS
            yield* Effect.logDebug(`The replica did not answer: ${error.message}`)
            return Option.none<Rows>()
          })
        )
      )
  }
})
