#!/usr/bin/env node
/** The command `bursar`: serves a venue, brings its database up to date, prints its document. */
import { Catalogue, Engine, Settings, settingsDefaults } from "@bursar/engine-core"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import * as Door from "@bursar/storage-adapters/simulated-ledger/door"
import { NodeRuntime } from "@effect/platform-node"
import { Context, Effect, Layer, Logger, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { routes } from "./api/Api.ts"
import * as Document from "./api/Document.ts"
import type { Tenant } from "./api/SystemApi.ts"
import * as Background from "./Background.ts"
import * as Host from "./Host.ts"
import * as HostConfig from "./HostConfig.ts"
import * as Management from "./Management.ts"
import * as Authentication from "./middleware/Authentication.ts"
import * as Jwks from "./outbound/Jwks.ts"
import * as Readiness from "./Readiness.ts"
import { version } from "./version.ts"
import * as Vitals from "./Vitals.ts"

type Config = HostConfig.HostConfig

/** The database that is named, or the one that is brought along. */
const storage = (config: Config) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const url =
        config["database.url"] ??
        Redacted.make((yield* Embedded.start({ dataFolder: config.data })).url)
      return Postgres.layer({ url, maxConnections: config["database.connections"] })
    })
  )

const participantId = "bursar-sim"

/** The ledger user that the engine is; it may act as the venue and as nobody else. */
const venueUser = "bursar-engine"

/** The venue's token at the simulated ledger: given, kept from an earlier start, or made now. */
const venueToken = (config: Config) =>
  Effect.gen(function* () {
    if (config["ledger.token"] !== null) return Redacted.value(config["ledger.token"])
    const file = join(config.data, "ledger", "venue.token")
    const kept = yield* Effect.promise(() => readFile(file, "utf8").catch(() => undefined))
    if (kept !== undefined) return kept.trim()
    const { admin } = yield* SimulatedLedger.Participant
    const users = yield* admin.users
    const token = users.some(({ userId }) => userId === venueUser)
      ? yield* admin.issueToken(venueUser)
      : (yield* admin.addParty({ hint: "venue", kind: "local", userId: venueUser })).token
    yield* Effect.promise(async () => {
      await mkdir(join(config.data, "ledger"), { recursive: true, mode: 0o700 })
      await writeFile(file, `${token}\n`, { mode: 0o600 })
    })
    return token
  })

const venueLedger = (config: Config) =>
  Layer.unwrap(Effect.map(venueToken(config), (token) => SimulatedLedger.Venue.layer({ token })))

const tenant = (config: Config): Tenant => ({
  tenantId: config.tenantId,
  displayName: config.displayName,
  api: ["v1"],
  signIn: {
    issuer: config.issuer,
    audience: config.audience,
    clientId: config.clientId,
    scopes: ["openid", "profile", "email"]
  },
  signing: { window: "PT5M", headers: [] },
  rateLimit: { limit: 600, window: "PT1M" },
  keys: []
})

const settings = (config: Config) =>
  Layer.succeed(Settings, {
    ...settingsDefaults,
    tenantId: config.tenantId,
    operationsAtOnce: config["operations.atOnce"],
    lease: config["operations.lease"] * 1_000,
    bodyKeyWindow: config["idempotency.bodyKeyWindow"],
    approvalExpiry: config.approvalExpiry,
    cursorKeys: config["cursor.keys"]
  })

/** A whole deployment: store, ledger and its door, engine, host, management, background. */
const deployment = (config: Config, opened: (port: number) => void) => {
  const node = SimulatedLedger.layerPostgres({ ledgerId: config.tenantId, participantId })
  const engine = Engine.layer.pipe(
    Layer.provideMerge(venueLedger(config)),
    Layer.provideMerge(node),
    Layer.provideMerge(storage(config)),
    Layer.provideMerge(NodeCrypto.layer),
    Layer.provideMerge(settings(config))
  )
  const signIn = Authentication.layer(config).pipe(
    Layer.provide(Jwks.layerRemote(Jwks.fetchFrom(config.jwksUrl)))
  )
  const background = Layer.unwrap(
    Effect.map(Engine.Engine, ({ run }) => Background.layer([{ name: "engine", run }]))
  )
  const management = Management.layer({
    host: config["management.host"],
    port: config["management.port"],
    opened
  })
  const host = Host.layer({
    tables: Catalogue,
    tenant: tenant(config),
    basePath: config.basePath,
    host: config.host,
    port: config.port
  })
  return Layer.mergeAll(
    host,
    background,
    management,
    Door.layer({ host: config["ledger.door.host"], port: config["ledger.door.port"] })
  ).pipe(
    Layer.provide(signIn),
    Layer.provideMerge(Readiness.layer({ version }).pipe(Layer.provide(Vitals.layer))),
    Layer.provideMerge(engine)
  )
}

/** Serves until it is told to stop; one line on standard output says where, once it is ready. */
const serve = Effect.gen(function* () {
  const config = yield* HostConfig.load
  let managementPort = config["management.port"]
  const context = yield* Layer.build(
    deployment(config, (port) => {
      managementPort = port
    })
  )
  const ready = {
    state: "ready",
    api: HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address),
    docs: `${HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)}/docs`,
    management: `http://${config["management.host"]}:${managementPort}`,
    ledgerDoor: Context.get(context, Door.Door).url
  }
  yield* Effect.sync(() => process.stdout.write(`${JSON.stringify(ready)}\n`))
  return yield* Context.get(context, Background.Background).ended.pipe(
    Effect.onInterrupt(() => Context.get(context, Readiness.Readiness).stopping)
  )
}).pipe(Effect.scoped)

/** Opening the store brings its schema up to date; that is all this does. */
const migrate = Effect.gen(function* () {
  const config = yield* HostConfig.load
  yield* Layer.build(storage(config))
  yield* Effect.sync(() => process.stdout.write("the database is up to date\n"))
}).pipe(Effect.scoped)

const openapi = Effect.sync(() => process.stdout.write(Document.text(routes)))

const usage = `usage: bursar <command>
  serve     serves the venue until it is told to stop
  migrate   brings the database up to date
  openapi   prints the OpenAPI document
Settings are environment variables; docs/settings.md lists them.
`

const help = Effect.sync(() => {
  process.stderr.write(usage)
  process.exitCode = 2
})

/** Whatever stops a command is told in one sentence, without a stack. */
const told = (error: { readonly message: string }) =>
  Effect.sync(() => {
    process.stderr.write(`bursar: ${error.message}\n`)
    process.exitCode = 1
  })

const commands: Readonly<Record<string, Effect.Effect<unknown>>> = {
  serve: Effect.catch(serve, told),
  migrate: Effect.catch(migrate, told),
  openapi
}

/** Standard output is for answers; the log is one JSON object a line on standard error. */
const logger = Logger.layer([
  Logger.make((options) => void process.stderr.write(`${Logger.formatJson.log(options)}\n`))
])

NodeRuntime.runMain(Effect.provide(commands[process.argv[2] ?? ""] ?? help, logger))
