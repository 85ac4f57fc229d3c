/**
 * Lock order at the feed's head: an advisory lock before the head's row. Transactions queue for the
 * advisory lock, which PostgreSQL hands to the next in line at a cost that does not grow with the
 * line; the release of a row would wake all who wait for it. Every wait is the database's own, so
 * it finds two transactions that wait for each other, and ends one of them.
 */
import type { StorageUnavailable } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import type { Rows } from "./Columns.ts"
import type { Session, Sessions } from "./Sessions.ts"

/** Two numbers: a key space apart from the locks of names and of work resources. */
const LOCK = "select pg_advisory_xact_lock(4217, 2)"

/** Takes the advisory lock of the feed's head until the transaction ends: its next statements wait for no other. */
export const take = (session: Session): Effect.Effect<void> => session.send(LOCK, [])

/**
 * Asks a statement that changes the head's row: in an open transaction under the advisory lock. A
 * statement alone holds no lock that a holder of the head could wait for, and needs none.
 */
export const ask = (
  sessions: Sessions,
  sql: string,
  parameters: ReadonlyArray<unknown>
): Effect.Effect<Rows, StorageUnavailable> =>
  Effect.flatMap(sessions.current, (session) =>
    session === undefined
      ? sessions.ask(sql, parameters)
      : Effect.andThen(take(session), session.ask(sql, parameters))
  )
