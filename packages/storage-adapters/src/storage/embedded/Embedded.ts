/** Embedded PostgreSQL under a data folder of the deployment. */
import { Effect, Layer, Redacted, type Scope } from "effect"
import { resolve } from "node:path"
import { PgConnection } from "@effect/sql-pg"
import { PRUNER } from "../postgres/PgAudit.ts"
import * as Postgres from "../postgres/Postgres.ts"
import * as Account from "./Account.ts"
import * as Binaries from "./Binaries.ts"
import * as Cluster from "./Cluster.ts"
import { type EmbeddedFailed, failed, step } from "./EmbeddedFailed.ts"
import * as Postmaster from "./Postmaster.ts"

export * as BaseBackup from "./BaseBackup.ts"
export { EmbeddedFailed } from "./EmbeddedFailed.ts"

/** Options of an embedded PostgreSQL: its folder and its port. */
export interface EmbeddedOptions {
  /** Folder of the database; created where it is missing. */
  readonly dataFolder: string
  /** Port on 127.0.0.1; any free one by default. */
  readonly port?: number
}

/** Embedded PostgreSQL that runs, with its address. */
export interface RunningDatabase {
  /** `postgres://…` with the folder's own user and password. */
  readonly url: string
  readonly port: number
}

/**
 * Starts the database and stops it with the scope. After a host was killed, its database is stopped
 * first; of two hosts on one folder, the second is refused.
 */
export const start = (
  options: EmbeddedOptions
): Effect.Effect<RunningDatabase, EmbeddedFailed, Scope.Scope> =>
  startWith({ ...options, settings: {} })

/**
 * Layer of the storage ports and a plain client on the embedded database, which runs as long as the
 * layer.
 */
export const layer = (
  options: EmbeddedOptions & Omit<Postgres.PostgresOptions, "url">
): Layer.Layer<Postgres.ProvidedPorts, EmbeddedFailed | Postgres.PostgresFailed> =>
  Layer.unwrap(
    Effect.map(start(options), ({ url }) => Postgres.layer({ ...options, url: Redacted.make(url) }))
  )

/** Starts the database with further PostgreSQL settings, by which tests avoid disk flushes. */
export const startWith = Effect.fnUntraced(function* (
  options: EmbeddedOptions & { readonly settings: Readonly<Record<string, string>> }
): Effect.fn.Return<RunningDatabase, EmbeddedFailed, Scope.Scope> {
  const dataFolder = resolve(options.dataFolder)
  const cluster = Cluster.path(dataFolder)
  const account = yield* step("No account for the database", () => Account.choose(cluster))
  const binaries = yield* step("The database's programs are not usable", () =>
    Binaries.find({ account, dataFolder })
  )
  yield* step(`The data folder ${dataFolder} is not usable`, (signal) =>
    Cluster.initialise({ dataFolder, account, binaries, signal })
  )
  const postmaster = yield* Effect.acquireRelease(
    step("The database did not start", async (signal) => {
      await Cluster.clear(cluster)
      const { port, settings } = options
      return Postmaster.start({ dataFolder, account, binaries, port, settings, signal })
    }),
    (running) => Effect.promise(() => running.stop())
  )
  const password = yield* step("The password of the database is not readable", () =>
    Cluster.password(cluster)
  )
  const address = `127.0.0.1:${postmaster.port}`
  const url = `postgres://${Cluster.USER}:${password}@${address}/postgres`
  yield* makePruner(url)
  return { url, port: postmaster.port }
})

/** The role that prunes the audit log belongs to the server, so it is created before the schema. */
const makePruner = (url: string): Effect.Effect<void, EmbeddedFailed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* PgConnection.make({ url: Redacted.make(url) })
      yield* connection.query(
        `do $$ begin
           if not exists (select from pg_roles where rolname = '${PRUNER}') then
             create role ${PRUNER} nologin;
           end if;
         end $$`,
        [],
        false
      )
    })
  ).pipe(
    Effect.mapError((error) => failed(`The role ${PRUNER} could not be made: ${error.message}.`))
  )
