/** Guard on result columns: only types whose bytes the driver decodes. */
import { type PgConnection, PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** Answer of a statement. */
export interface Rows {
  readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly command: string
  /** Number of rows that the statement answered with, or wrote. */
  readonly rowCount: number
}

/** Type of a function without a result: an empty column. */
const VOID = 2278

const READABLE: ReadonlySet<number> = new Set([...Object.values(PgTypes.OID), VOID])

/** Cache: all results of a prepared statement share one description, so it is checked once. */
const judged = new WeakSet<PgConnection.Result["fields"]>()

/**
 * Runs a statement and checks its column types. The driver decodes any other type as text: some
 * values, such as a log position above 127, would break the connection, and others would silently
 * be wrong. So the statement is refused whatever its values are.
 */
export const ask = (
  connection: PgConnection.PgConnection,
  sql: string,
  parameters: ReadonlyArray<unknown>
): Effect.Effect<PgConnection.Result, SqlError> =>
  Effect.tap(connection.query(sql, parameters), ({ fields }) => {
    if (judged.has(fields)) return Effect.void
    const unread = fields.find(({ dataTypeId }) => !READABLE.has(dataTypeId))
    if (unread === undefined) {
      judged.add(fields)
      return Effect.void
    }
    return Effect.die(
      new Error(
        `Column ${unread.name} is of type ${unread.dataTypeId}, which the driver cannot read: ` +
          `cast it in the statement. ${sql}`
      )
    )
  })
