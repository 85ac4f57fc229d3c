/** The simulated ledger under test, on a database. */
import { SimulatedUnderTest } from "@bursar/storage-adapters/conformance"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { options } from "./simulated-ledger.memory.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "bursar-ledger-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** A database of its own, without a disk's delay; started once, ended with `dispose`. */
export const database = ManagedRuntime.make(
  Layer.unwrap(
    Effect.gen(function* () {
      const { url } = yield* Embedded.startWith({
        dataFolder: yield* folder,
        settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }
      })
      return PgClient.layer({ url: Redacted.make(url) })
    })
  )
)

const connected = Layer.effectContext(database.contextEffect)

/** The tables gone, as on a database that never had the ledger. */
const emptied = Layer.effectDiscard(
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`drop schema if exists ledger_sim cascade`)
)

/** The node on whatever the database holds. */
export const participant = SimulatedLedger.layerPostgres(options).pipe(Layer.provide(connected))

/** The node on a database that never had it. */
export const freshParticipant = participant.pipe(Layer.provide(Layer.provide(emptied, connected)))

export const postgres = Layer.provide(SimulatedUnderTest.layer, freshParticipant)

export const session = SimulatedUnderTest.session

/** For tests that reach behind the node. */
export const behind = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.provide(effect, connected)
