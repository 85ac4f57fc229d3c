/** Storage of a deployment on PostgreSQL: the database that the settings name, or an embedded server. */
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import * as NotUsable from "../config/NotUsable.ts"
import * as DataFolder from "../DataFolder.ts"
import type { KeeperConfig } from "../HostConfig.ts"
import type { StoragePart } from "./Parts.ts"

/**
 * Address of the database: the configured one, or that of the embedded server, which is started
 * here.
 */
const databaseUrl = (config: KeeperConfig) =>
  Effect.gen(function* () {
    const named = config["database.url"]
    if (named !== null) return named
    const dataFolder = yield* NotUsable.files("data", () => DataFolder.writable(config.data))
    return Redacted.make((yield* Embedded.start({ dataFolder })).url)
  })

/** Setting that names the address of an option of the storage layer. */
const SETTING_OF = { url: "database.url", poolerUrl: "database.pooler.url" } as const

const replicaOf = (config: KeeperConfig): Postgres.PostgresOptions["replica"] => {
  const url = config["database.replica.url"]
  return url === null ? undefined : { url, waitMillis: config["database.replica.wait"] }
}

export const part: StoragePart<SqlClient.SqlClient> = {
  open: (config) =>
    Effect.map(databaseUrl(config), (url) => {
      const fault = NotUsable.faultOf("database.url")
      return {
        layer: Layer.catch(
          Postgres.layer({
            url,
            poolerUrl: config["database.pooler.url"] ?? undefined,
            replica: replicaOf(config),
            maxConnections: config["database.connections"]
          }),
          (error) => Layer.effectContext(Effect.fail(NotUsable.of(SETTING_OF[error.option])(error)))
        ),
        beside: Postgres.layerClient({ url, clientConnections: 1 }).pipe(
          NotUsable.faultOfLayer("database.url")
        ),
        migrate: Postgres.migrate({ url }).pipe(
          Effect.map((names) => names.map((name) => `schema bursar ${name}`)),
          fault
        ),
        existing: Postgres.existing({ url }).pipe(fault),
        startTurn: Postgres.startTurn({ url }).pipe(fault)
      }
    })
}
