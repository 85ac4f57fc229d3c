/**
 * Group commit: transactions commit asynchronously and wait together for the next flush of the
 * write-ahead log, so that they do not hold the lock on the feed's head during the flush. No commit
 * is answered, and no row of it is shown, before that flush, so that a crash loses only what nobody
 * has seen.
 */
import { type PgConnection, PgPool } from "@effect/sql-pg"
import { Deferred, Effect, Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Columns from "./Columns.ts"

export interface Durability {
  /**
   * Waits until all that had been committed when this was called is on disk. Ends by interruption
   * where the connections are closed first: then a crash may still take the commits back.
   */
  readonly settle: Effect.Effect<void, SqlError>
  /**
   * Waits for the flush where this connection may have read rows that are not on disk. Commits of
   * other hosts count too, so the database is asked.
   */
  readonly settleFor: (connection: PgConnection.PgConnection) => Effect.Effect<void, SqlError>
  /** Checks whether all rows that this connection may have read are on disk, without waiting for it. */
  readonly isSettledFor: (connection: PgConnection.PgConnection) => Effect.Effect<boolean, SqlError>
}

/**
 * Connection setting of asynchronous commits, only for connections whose commits are settled here.
 */
export const UNSETTLED = { synchronous_commit: "off" }

/** Writes a message to the log and waits for the flush, which includes all earlier commits. */
const FLUSH = "select pg_logical_emit_message(true, 'bursar', '')::text"

/**
 * Evaluated after a read: the rows it saw were inserted into the log before the second position.
 */
const IS_SETTLED = "select pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() as settled"

export const make = Effect.fnUntraced(function* (
  connection: PgConnection.Config
): Effect.fn.Return<Durability, SqlError, Scope.Scope> {
  const pool = yield* PgPool.make({ ...connection, maxConnections: 1, multiplex: false })
  const scope = yield* Effect.scope
  type Flush = Deferred.Deferred<void, SqlError>
  let running = false
  /** A caller during a flush may have committed after it began, and waits for the next one. */
  let next: Flush | undefined
  let closed = false

  const flushOn: Effect.Effect<void> = Effect.suspend(() => {
    const flush = next
    next = undefined
    if (flush === undefined) {
      running = false
      return Effect.void
    }
    return pool
      .use((own) => Columns.ask(own, FLUSH, []))
      .pipe(
        Effect.asVoid,
        // Also where the scope's close interrupts the flush: its callers wait uninterruptibly.
        Effect.onExit((exit) => Deferred.done(flush, exit)),
        Effect.exit,
        Effect.andThen(flushOn)
      )
  })

  // Runs after the interruption of a flush, and ends the callers that wait for the one after it.
  yield* Scope.addFinalizer(
    scope,
    Effect.suspend(() => {
      closed = true
      return next === undefined ? Effect.void : Deferred.interrupt(next)
    })
  )

  const settle = Effect.suspend(() => {
    if (closed) return Effect.interrupt
    const flush = next ?? Deferred.makeUnsafe<void, SqlError>()
    next = flush
    if (running) return Deferred.await(flush)
    running = true
    return Effect.andThen(
      Effect.forkIn(flushOn, scope, { startImmediately: true }),
      Deferred.await(flush)
    )
  })

  const isSettledFor: Durability["isSettledFor"] = (own) =>
    Effect.map(Columns.ask(own, IS_SETTLED, []), ({ rows }) => rows[0]?.["settled"] === true)

  return {
    settle,
    isSettledFor,
    settleFor: (own) =>
      Effect.flatMap(isSettledFor(own), (isSettled) => (isSettled ? Effect.void : settle))
  }
})
