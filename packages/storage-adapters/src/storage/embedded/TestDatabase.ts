/** Test databases: one server for a test run, a fresh database for each request. */
import * as Postgres from "../postgres/Postgres.ts"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Layer, Redacted, Scope, Semaphore } from "effect"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Embedded from "./Embedded.ts"
import { EmbeddedFailed, failed, reasonOf, step } from "./EmbeddedFailed.ts"
import { isAlive } from "./Process.ts"

/** Environment variable with the address at which the workers of a test run request databases. */
export const GIVEN_OUT_AT = "TEST_DATABASES_OF_BURSAR"

const FOLDER = "bursar-test-"
const TEMPLATE = "bursar_template"
/**
 * Test data is discarded, so nothing needs to reach the disk. Commits are synchronous all the same: the
 * flush of a group commit would end before its log is written, and each read would ask for another.
 */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  max_connections: "400",
  shared_buffers: "64MB"
}

/** Creates an empty, migrated database and returns its address; it is dropped with the scope. */
export const url: Effect.Effect<string, EmbeddedFailed, Scope.Scope> = Effect.gen(function* () {
  const at = process.env[GIVEN_OUT_AT]
  const address = at === undefined ? yield* Effect.flatMap(server, fresh) : yield* ask(at)
  yield* Effect.addFinalizer(() => Effect.ignore(drop(address)))
  return address
})

/** The storage ports and a plain client on a new database. */
export const layer: Layer.Layer<Postgres.ProvidedPorts, EmbeddedFailed | Postgres.PostgresFailed> =
  Layer.unwrap(
    Effect.map(url, (databaseUrl) => Postgres.layer({ url: Redacted.make(databaseUrl) }))
  )

/**
 * Serves databases to the workers of a test run. The first request starts the server, so a run
 * without such tests pays nothing; the server ends with this process, however it ends.
 */
export const giveOut = async (): Promise<{
  readonly address: string
  readonly stop: () => Promise<void>
}> => {
  const scope = await Effect.runPromise(Scope.make())
  const started = await Effect.runPromise(Effect.cached(Scope.provide(server, scope)))
  const turn = Semaphore.makeUnsafe(1)
  const http = createServer((_request, response) => {
    // Only one copy of a template can be made at a time.
    const next = turn.withPermit(Effect.flatMap(started, fresh))
    Effect.runPromise(next).then(
      (databaseUrl) => response.end(databaseUrl),
      (cause: unknown) => {
        response.statusCode = 500
        response.end(reasonOf(cause))
      }
    )
  })
  await new Promise<void>((resolve) => http.listen({ host: "127.0.0.1", port: 0 }, resolve))
  http.unref()
  const address = http.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    address: `http://127.0.0.1:${port}/`,
    stop: async () => {
      const closed = new Promise((resolve) => http.close(resolve))
      // Workers keep their connections for later requests.
      http.closeAllConnections()
      await closed
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

/** A server in a temporary folder, with the template that every test database is copied from. */
const server: Effect.Effect<string, EmbeddedFailed, Scope.Scope> = Effect.gen(function* () {
  const dataFolder = yield* Effect.acquireRelease(
    step("No folder for test databases", async () => {
      await sweep()
      return mkdtemp(join(tmpdir(), `${FOLDER}${process.pid}-`))
    }),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  const { url } = yield* Embedded.startWith({ dataFolder, settings: SETTINGS })
  yield* say(url, `create database ${TEMPLATE}`)
  yield* Effect.mapError(
    Effect.scoped(Layer.build(Postgres.layer({ url: Redacted.make(named(url, TEMPLATE)) }))),
    (error) => failed(error.detail)
  )
  return url
})

let made = 0

const fresh = (server: string): Effect.Effect<string, EmbeddedFailed> => {
  const name = `test_${process.pid}_${++made}`
  return Effect.as(say(server, `create database ${name} template ${TEMPLATE}`), named(server, name))
}

const drop = (databaseUrl: string): Effect.Effect<void, EmbeddedFailed> =>
  say(
    named(databaseUrl, "postgres"),
    `drop database ${new URL(databaseUrl).pathname.slice(1)} with (force)`
  )

const named = (server: string, database: string): string => {
  const address = new URL(server)
  address.pathname = `/${database}`
  return address.href
}

const say = (server: string, statement: string): Effect.Effect<void, EmbeddedFailed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* PgConnection.make({ url: Redacted.make(server) })
      yield* connection.query(statement, [], false)
    })
  ).pipe(
    Effect.mapError((error) =>
      failed(`${statement}: ${error.message}, ${reasonOf(error.reason.cause)}.`)
    )
  )

const ask = (at: string): Effect.Effect<string, EmbeddedFailed> =>
  step("No test database was given out", async (signal) => {
    const response = await fetch(at, { method: "POST", signal })
    const text = await response.text()
    if (!response.ok) throw new EmbeddedFailed({ detail: text })
    return text
  })

/** Removes folders of test runs that were killed. */
const sweep = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDER)) continue
    const pid = Number(name.slice(FOLDER.length).split("-")[0])
    if (Number.isInteger(pid) && pid > 0 && !isAlive(pid)) {
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {})
    }
  }
}
