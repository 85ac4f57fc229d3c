/** Storage of a deployment on PostgreSQL: the database that the settings name, or an embedded server. */
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import * as NotUsable from "../config/NotUsable.ts"
import * as DataFolder from "../DataFolder.ts"
import type { KeeperConfig } from "../HostConfig.ts"
import type { StorageBackups, StoragePart } from "./Parts.ts"

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

const faultOfDatabase = NotUsable.faultOf("database.url")

/** Address of the database to back up: a running embedded server is used, and one at rest is started. */
const reachedUrl = (config: KeeperConfig) =>
  Effect.gen(function* () {
    const named = config["database.url"]
    if (named !== null) return named
    const running = yield* Embedded.BaseBackup.running(config.data)
    return running === null ? yield* databaseUrl(config) : Redacted.make(running)
  })

const noVenue = { message: "database.url: the database has no venue: there is nothing to back up" }

const backups: StorageBackups = {
  reach: (config) =>
    Effect.map(reachedUrl(config), (url) => {
      const isEmbedded = config["database.url"] === null
      return {
        form: isEmbedded ? "cluster" : "dump",
        heads: Postgres.heads({ url }).pipe(
          faultOfDatabase,
          Effect.flatMap((heads) => (heads === null ? Effect.fail(noVenue) : Effect.succeed(heads)))
        ),
        write: (path) =>
          isEmbedded
            ? Embedded.BaseBackup.copy({
                url: Redacted.value(url),
                dataFolder: config.data,
                to: path
              })
            : Postgres.Dump.write({ url, file: path })
      }
    }),
  restore: (config, { form, path }) =>
    Effect.gen(function* () {
      const url = config["database.url"]
      if (url === null) {
        return form === "cluster"
          ? yield* Embedded.BaseBackup.place({ from: path, dataFolder: config.data })
          : yield* Effect.fail({
              message: "the backup is a dump of a database: name an empty one in database.url"
            })
      }
      if (form === "cluster") {
        return yield* Effect.fail({
          message: "the backup is of an embedded database: restore it without database.url"
        })
      }
      if ((yield* Postgres.heads({ url }).pipe(faultOfDatabase)) !== null) {
        return yield* Effect.fail({
          message: "database.url: the database is not empty: it has a venue; nothing was changed"
        })
      }
      yield* Postgres.Dump.restore({ url, file: path })
    })
}

export const part: StoragePart<SqlClient.SqlClient> = {
  backups,
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
