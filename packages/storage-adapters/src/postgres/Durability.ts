/**
 * Group commit. Transactions pass the lock on the feed's head one by one and must not each wait for
 * the disk under it: they commit asynchronously, release the lock, and then wait together for the
 * next flush of the write-ahead log. No commit is answered, and no row of it is shown, before that
 * flush, so that a crash loses only what nobody has seen.
 */
import { type PgConnection, PgPool } from "@effect/sql-pg"
import { Deferred, Effect, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Columns from "./Columns.ts"

export interface Durability {
  /** Waits until all that had been committed when this was called is on disk. */
  readonly settle: Effect.Effect<void, SqlError>
  /**
   * The same, if anything that this connection may have read before is not on disk yet. Another
   * host's commits count as well, so the database is asked.
   */
  readonly settleFor: (connection: PgConnection.PgConnection) => Effect.Effect<void, SqlError>
}

/** Commits return before they are on disk: only for connections whose commits are settled here. */
export const UNSETTLED = { synchronous_commit: "off" }

/** Commits a word to the log and waits for the disk, which has all earlier commits then too. */
const FLUSH = "select pg_logical_emit_message(true, 'bursar', '')::text"

/** Asked after the read: what it saw was inserted into the log before the second position. */
const IS_SETTLED = "select pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() as settled"

export const make = Effect.fnUntraced(function* (
  connection: PgConnection.Config
): Effect.fn.Return<Durability, SqlError, Scope.Scope> {
  const pool = yield* PgPool.make({ ...connection, maxConnections: 1, multiplex: false })
  const scope = yield* Effect.scope
  type Flush = Deferred.Deferred<void, SqlError>
  let running = false
  /**
   * A caller that comes during a flush may have committed after it began, and waits for the next.
   */
  let next: Flush | undefined

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
        Effect.exit,
        Effect.flatMap((exit) => Deferred.done(flush, exit)),
        Effect.andThen(flushOn)
      )
  })

  const settle = Effect.suspend(() => {
    const flush = next ?? Deferred.makeUnsafe<void, SqlError>()
    next = flush
    if (running) return Deferred.await(flush)
    running = true
    return Effect.andThen(
      Effect.forkIn(flushOn, scope, { startImmediately: true }),
      Deferred.await(flush)
    )
  })

  return {
    settle,
    settleFor: (own) =>
      Effect.flatMap(Columns.ask(own, IS_SETTLED, []), ({ rows }) =>
        rows[0]?.["settled"] === true ? Effect.void : settle
      )
  }
})
