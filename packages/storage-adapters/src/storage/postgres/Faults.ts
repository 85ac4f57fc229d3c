/** Maps errors of the database: temporarily unavailable, or a defect. */
import { RefusedWrites, StorageUnavailable } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

const AWAY: ReadonlySet<string> = new Set([
  "ConnectionError",
  "AuthenticationError",
  "DeadlockError",
  "SerializationError",
  "LockTimeoutError",
  "StatementTimeoutError"
])

/** Errors of transactions that the database aborted in favour of another one. */
const DEADLOCKS: ReadonlySet<string> = new Set(["DeadlockError", "SerializationError"])

/**
 * SQLSTATE by class or code: connections (08), resources (53), an operator (57P), the system (58),
 * a transaction ended for idling, and a server that has become a read-only standby.
 */
const AWAY_STATES = ["08", "53", "57P", "58", "25P03", "25P04", "25006"]

/**
 * SQLSTATE codes of a database that refuses writes: disk full or broken, or a read-only standby.
 */
const REFUSED_STATES = ["53100", "58030", "25006"]

const RETRY_SECONDS = 1

/** The SQLSTATE of an error. */
const sqlState = (error: SqlError): string | undefined => {
  const cause: unknown = error.reason.cause
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return undefined
  return typeof cause.code === "string" ? cause.code : undefined
}

/**
 * Fails with `StorageUnavailable` where waiting may help; dies on any other error. A refused write
 * is reported at once with the database's message, which names a file and never a value.
 */
export const judge = (error: SqlError): Effect.Effect<never, StorageUnavailable> => {
  const state = sqlState(error) ?? ""
  const unreachable =
    AWAY.has(error.reason._tag) || AWAY_STATES.some((prefix) => state.startsWith(prefix))
  if (!unreachable) return Effect.die(error)
  const unavailable = new StorageUnavailable({
    detail: `${error.reason._tag}${state === "" ? "" : ` ${state}`}`,
    retryAfter: RETRY_SECONDS,
    isDeadlock: DEADLOCKS.has(error.reason._tag)
  })
  return REFUSED_STATES.includes(state)
    ? Effect.andThen(noted(error, state), Effect.fail(unavailable))
    : Effect.fail(unavailable)
}

const noted = ({ reason }: SqlError, state: string): Effect.Effect<void> =>
  Effect.flatMap(RefusedWrites.Current, ({ note }) => {
    const said = reason.cause instanceof Error ? reason.cause.message : reason.message
    note(said)
    return Effect.logError("the database refused what was written", said).pipe(
      Effect.annotateLogs({ sqlState: state })
    )
  })
