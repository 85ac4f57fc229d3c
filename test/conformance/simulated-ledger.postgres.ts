/** The simulated ledger under test, on a database. */
import { SimulatedUnderTest, TestDatabase } from "@bursar/storage-adapters/conformance"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll } from "vitest"
import { options } from "./simulated-ledger.memory.ts"

/** The tables gone, as on a database that never had the ledger. */
const emptied = Layer.effectDiscard(
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`drop schema if exists ledger_sim cascade`)
)

export const session = SimulatedUnderTest.session

/** Opens a database for one file of tests, which drops it at the end. */
export const open = () => {
  const database = ManagedRuntime.make(
    Layer.unwrap(Effect.map(TestDatabase.url, (url) => PgClient.layer({ url: Redacted.make(url) })))
  )
  beforeAll(() => database.context())
  afterAll(() => database.dispose())
  const connected = Layer.effectContext(database.contextEffect)
  /** The node, on the present contents of the database. */
  const participant = SimulatedLedger.layerPostgres(options).pipe(Layer.provide(connected))
  /** The node on a database that never had it. */
  const freshParticipant = participant.pipe(Layer.provide(Layer.provide(emptied, connected)))
  return {
    participant,
    freshParticipant,
    postgres: Layer.provide(SimulatedUnderTest.layer, freshParticipant),
    /** For tests that reach behind the node. */
    behind: <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
      Effect.provide(effect, connected)
  }
}
