/** Guard on result columns: only types whose bytes the driver decodes. */
import { type PgConnection, PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** Type of a function without a result: an empty column. */
const VOID = 2278

const READABLE: ReadonlySet<number> = new Set([...Object.values(PgTypes.OID), VOID])

/** One description serves all answers of a prepared statement, so it is judged once. */
const judged = new WeakSet<PgConnection.Result["fields"]>()

/**
 * The driver takes the bytes of any other type for text. Where they are not, as for a log position
 * above 127, the row fails and takes the connection with it; where they are by chance, words that
 * were never stored would be served. So the statement is refused whatever its values are.
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
