/**
 * Composition of a whole deployment from its settings: store, ledger and its door, engine, host,
 * background fibers.
 */
import {
  AuditLog,
  Catalogue,
  DeliveryRules,
  Engine,
  Gauges,
  recordsLayer,
  Settings,
  settingsDefaults
} from "@bursar/engine-core"
import { Crypto, RefusedWrites } from "@bursar/engine-core/ports"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as ScriptedScreening from "@bursar/storage-adapters/screening"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import * as Statements from "@bursar/storage-adapters/statements"
import * as Door from "@bursar/storage-adapters/simulated-ledger/door"
import { Context, Effect, Exit, Layer, Metric, Redacted, References, Scope } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { constants } from "node:fs"
import { access, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Venue } from "./api/SystemApi.ts"
import * as Background from "./Background.ts"
import * as DeploymentKeys from "./DeploymentKeys.ts"
import * as ExistingVenue from "./ExistingVenue.ts"
import * as Host from "./Host.ts"
import * as NotUsable from "./config/NotUsable.ts"
import type { HostConfig, KeeperConfig } from "./HostConfig.ts"
import * as Management from "./Management.ts"
import * as ConfigLoaded from "./ConfigLoaded.ts"
import * as Logs from "./observability/Logs.ts"
import * as Telemetry from "./observability/Telemetry.ts"
import * as Authentication from "./middleware/Authentication.ts"
import * as Counters from "./middleware/Counters.ts"
import { PacedServer } from "./middleware/PacedServer.ts"
import * as AnchorFile from "./outbound/AnchorFile.ts"
import * as Jwks from "./outbound/Jwks.ts"
import * as WebhookSender from "./outbound/WebhookSender.ts"
import * as Readiness from "./Readiness.ts"
import { version } from "./version.ts"
import { Times } from "./wire/Times.ts"
import { UnreadLimits } from "./wire/Unread.ts"
import { Uploads } from "./wire/Uploads.ts"
import { WaitLimits } from "./wire/WaitLimits.ts"
import * as ReadinessPoll from "./ReadinessPoll.ts"

/**
 * Address of the database: the configured one, or that of the embedded server, which is started
 * here.
 */
const databaseUrl = (config: KeeperConfig) =>
  Effect.gen(function* () {
    const named = config["database.url"]
    if (named !== null) return named
    const dataFolder = yield* NotUsable.files("data", () => writableFolder(config.data))
    return Redacted.make((yield* Embedded.start({ dataFolder })).url)
  })

const writableFolder = async (folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true })
  await access(folder, constants.W_OK | constants.X_OK)
  return folder
}

/** Storage layer on the configured database; opening it applies pending migrations. */
const storage = (config: KeeperConfig) =>
  Layer.unwrap(
    Effect.map(databaseUrl(config), (url) =>
      Layer.catch(
        Postgres.layer({
          url,
          poolerUrl: config["database.pooler.url"] ?? undefined,
          replica: replicaOf(config),
          maxConnections: config["database.connections"]
        }),
        (error) => Layer.effectContext(Effect.fail(NotUsable.of(SETTING_OF[error.option])(error)))
      )
    )
  )

const replicaOf = (config: KeeperConfig): Postgres.PostgresOptions["replica"] => {
  const url = config["database.replica.url"]
  return url === null ? undefined : { url, waitMillis: config["database.replica.wait"] }
}

/** Setting that names the address of an option of the storage layer. */
const SETTING_OF = { url: "database.url", poolerUrl: "database.pooler.url" } as const

/**
 * Reads what earlier starts left in the database and in its ledger, without changing anything. Fails
 * where either schema is newer than this program.
 */
const existingVenue = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const { configLoaded, isUsed } = yield* Postgres.existing({ url })
    const users = yield* Effect.flatMap(SqlClient.SqlClient, SimulatedLedger.existingUsers).pipe(
      Effect.provide(Postgres.layerClient({ url, clientConnections: 1 })),
      Effect.catchTag("SqlError", (error) => Effect.fail(Postgres.notUsable(error)))
    )
    return {
      isUsed,
      keyIds: configLoaded === null ? null : ConfigLoaded.keyIdsOf(configLoaded),
      hasVenueToken: users.has(venueUser)
    } satisfies ExistingVenue.EarlierUse
  }).pipe(NotUsable.faultOf("database.url"))

/**
 * Runs the migrations of the engine and of the simulated ledger. Returns the names of those that
 * ran.
 */
export const migrated = (config: KeeperConfig) =>
  Effect.gen(function* () {
    const url = yield* databaseUrl(config)
    // Both schemas are looked at before either is changed.
    yield* existingVenue(url)
    const migrations = yield* Postgres.migrate({ url })
    const ledger = yield* Effect.flatMap(SqlClient.SqlClient, SimulatedLedger.migrate).pipe(
      Effect.provide(Postgres.layerClient({ url, clientConnections: 1 })),
      Effect.mapError((error) => (error._tag === "SqlError" ? Postgres.notUsable(error) : error))
    )
    return [
      ...migrations.map((name) => `schema bursar ${name}`),
      ...(ledger === "made" ? ["schema ledger_sim"] : [])
    ]
  }).pipe(
    Effect.catchTags({
      PostgresFailed: (error) => NotUsable.faultOf("database.url")(Effect.fail(error)),
      LedgerSchemaNewer: (error) => NotUsable.faultOf("database.url")(Effect.fail(error))
    }),
    Effect.scoped
  )

const participantId = "bursar-sim"

/** The engine's user at the ledger, which may act as the venue alone. */
const venueUser = "bursar-engine"

/**
 * The venue's token at the simulated ledger: configured, kept from an earlier start, or requested
 * now. It is requested for a new user alone, or by the folder whose first request was interrupted:
 * another token of the same user would end the one that somebody uses.
 */
const venueToken = (config: HostConfig) =>
  Effect.gen(function* () {
    const given = config["ledger.token"]
    if (given !== null) return Redacted.value(given)
    const file = ExistingVenue.tokenFile(config.data)
    const draft = ExistingVenue.tokenDraft(config.data)
    const kept = yield* NotUsable.files("data", () => textOf(file))
    if (kept !== undefined) return kept.trim()
    const isRequested = (yield* NotUsable.files("data", () => textOf(draft))) !== undefined
    const { admin } = yield* SimulatedLedger.Participant
    const users = yield* admin.users
    const isThere = users.some(({ userId }) => userId === venueUser)
    if (isThere && !isRequested) {
      return yield* new ExistingVenue.SecretsMissing({
        data: config.data,
        missing: [`${file} (ledger.token)`]
      })
    }
    yield* NotUsable.files("data", async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(draft, "", { mode: 0o600 })
    })
    const token = isThere
      ? yield* admin.issueToken(venueUser)
      : (yield* Effect.tapError(
          admin.addParty({ hint: "venue", kind: "local", userId: venueUser }),
          // Somebody else has made the user: this folder has requested nothing.
          () => NotUsable.files("data", () => rm(draft))
        )).token
    yield* NotUsable.files("data", async () => {
      await writeFile(draft, `${token}\n`, { mode: 0o600 })
      await rename(draft, file)
    })
    return token
  })

/** Text of a file; undefined where there is none. */
const textOf = (file: string): Promise<string | undefined> =>
  readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined
    throw cause
  })

const venueLedger = (config: HostConfig) =>
  Layer.unwrap(
    Effect.map(venueToken(config), (token) =>
      SimulatedLedger.Venue.layer({ token }).pipe(
        NotUsable.faultOfLayer(config["ledger.token"] === null ? "data" : "ledger.token")
      )
    )
  )

/** Signing and sealing keys: those of the settings, or those the deployment made. */
interface Keys {
  readonly webhooks: ReadonlyArray<DeliveryRules.SigningKey>
  readonly sealing: HostConfig["webhooks.sealingKeys"]
  readonly audit: HostConfig["audit.keys"]
  readonly cursor: HostConfig["cursor.keys"]
}

const keysOf = (config: HostConfig) =>
  Effect.gen(function* () {
    const madeKey = (use: DeploymentKeys.Use, setting: string) =>
      DeploymentKeys.own({ use, setting, data: config.data }).pipe(NotUsable.faultOf("data"))
    const signing = config["webhooks.keys"]
    const sealing = config["webhooks.sealingKeys"]
    const audit = config["audit.keys"]
    return {
      webhooks:
        signing.length > 0 ? signing : [signingOf(yield* madeKey("webhook", "webhooks.keys"))],
      sealing: sealing.length > 0 ? sealing : [yield* madeKey("sealing", "webhooks.sealingKeys")],
      audit: audit.length > 0 ? audit : [signingOf(yield* madeKey("audit", "audit.keys"))],
      cursor: yield* cursorKeysOf(config)
    }
  })

/**
 * Keys of a maintenance command: those of the settings, and none else. It signs and decrypts nothing,
 * so it neither makes a key nor needs one of an earlier start.
 */
const keeperKeys = (config: KeeperConfig): Keys => ({
  webhooks: config["webhooks.keys"],
  sealing: config["webhooks.sealingKeys"],
  audit: config["audit.keys"],
  cursor: config["cursor.keys"]
})

/**
 * Id of the cursor key that a deployment makes for itself. A deployment that adds newer keys lists
 * the old one under this id.
 */
const ownCursorKey = 0

/**
 * Cursor keys: those of the settings, else the deployment's own, else none where its folder cannot
 * be written. Without a key a cursor is valid until the host restarts.
 */
const cursorKeysOf = (config: HostConfig) => {
  const given = config["cursor.keys"]
  if (given.length > 0) return Effect.succeed(given)
  return DeploymentKeys.own({ use: "cursor", data: config.data, setting: "cursor.keys" }).pipe(
    Effect.map(({ secret }) => [{ id: ownCursorKey, secret }]),
    Effect.catchTag("NoKeyFile", ({ message }) => Effect.as(Effect.logWarning(message), [])),
    NotUsable.faultOf("data")
  )
}

const signingOf = ({ keyId, secret, madeAt }: DeploymentKeys.OwnKey): DeliveryRules.SigningKey => ({
  keyId,
  seed: secret,
  notBefore: madeAt,
  notAfter: null
})

const tenant = (config: HostConfig, publicKeys: Venue["keys"]): Venue => ({
  tenantId: config.tenantId,
  displayName: config.displayName,
  api: ["v1"],
  signIn: {
    issuer: config.issuer,
    audience: config.audience,
    clientId: config.clientId,
    scopes: ["openid", "profile", "email"]
  },
  keys: publicKeys
})

/** Public keys by which deliveries and checkpoints of the audit log are verified. */
const publicKeysOf = (keys: Keys) =>
  Effect.map(Crypto, ({ ed25519 }) => {
    const publicKey =
      (use: string, text: (key: Uint8Array) => string) =>
      ({ keyId, seed, notBefore, notAfter }: DeliveryRules.SigningKey) => ({
        keyId,
        use,
        algorithm: "ed25519",
        publicKey: text(ed25519.publicKey(seed)),
        notBefore,
        notAfter
      })
    return [
      ...keys.webhooks.map(publicKey("webhook", DeliveryRules.publicKeyText)),
      ...keys.audit.map(publicKey("audit", (key) => Buffer.from(key).toString("base64")))
    ]
  }).pipe(Effect.provide(NodeCrypto.layerCrypto))

const engineSettings = (config: KeeperConfig, keys: Keys) =>
  Layer.succeed(Settings, {
    ...settingsDefaults,
    tenantId: config.tenantId,
    operationsAtOnce: config["operations.atOnce"],
    inputsMax: config["ledger.maxInputs"],
    rebootstrap: config["ledger.rebootstrap"],
    batchLines: config["ledger.batchLines"],
    rateChange: config["distribution.rateChange"],
    partialDistribution: config["distribution.partial"],
    linesMax: config["distribution.linesMax"],
    standingApprovalLongest: config["standingApproval.longest"],
    reserveOrderDeadline: config["reserves.orderDeadline"],
    reconciliationAt: config["reconciliation.at"],
    reserveReportEvery: config["reserves.reportEvery"],
    statementSources: config["statements.sources"],
    statementLinesMax: config["statements.maxLines"],
    answersKept: config["reads.kept"],
    lease: config["operations.lease"] * 1_000,
    bodyKeyWindow: config["idempotency.bodyKeyWindow"],
    approvalExpiry: config.approvalExpiry,
    cursorKeys: keys.cursor,
    webhooks: config["webhooks.configured"],
    webhookKeys: keys.webhooks,
    sealingKeys: keys.sealing,
    auditKeys: keys.audit,
    retention: {
      operations: config["retention.operations"],
      approvals: config["retention.approvals"],
      events: config["retention.events"],
      deliveries: config["retention.deliveries"],
      exhaustedDeliveries: config["retention.exhaustedDeliveries"],
      reconciliationRuns: config["retention.reconciliationRuns"],
      clearedFindings: config["retention.clearedFindings"],
      externalStatements: config["retention.externalStatements"]
    },
    auditLogKept: config["retention.auditLog"],
    legalHold: config["retention.legalHold"],
    successorCooling: config.successorCooling,
    rescreenAfter: config["screening.rescreenAfter"]
  })

const sender = (config: HostConfig) =>
  WebhookSender.layer({
    ports: config["webhooks.ports"],
    http: config["webhooks.allowHttp"] ? "allowed" : "refused",
    allowAddresses: config["webhooks.allowAddresses"]
  })

/**
 * The scripted screening source. Its file must hold a script when the host starts, and may change
 * later.
 */
const screening = (config: HostConfig) => {
  const script = config["screening.script"]
  if (script === null) return Layer.empty
  return Layer.unwrap(
    Effect.as(
      ScriptedScreening.readFile(script).pipe(
        Effect.mapError(({ detail }) => ({ message: detail })),
        NotUsable.faultOf("screening.script")
      ),
      ScriptedScreening.layerFile(script)
    )
  )
}

/**
 * Opens the file of checkpoints at the start, so that a missing permission fails the start and not
 * the first checkpoint.
 */
const anchors = (config: HostConfig) => {
  const named = config["audit.anchors"]
  const file = named ?? join(config.data, "audit", "anchors.jsonl")
  return Layer.unwrap(
    Effect.as(
      NotUsable.files(named === null ? "data" : "audit.anchors", () => AnchorFile.create(file)),
      AnchorFile.layer(file)
    )
  )
}

const engineOf = (config: HostConfig, keys: Keys) =>
  Engine.layer.pipe(
    Layer.provideMerge(venueLedger(config)),
    Layer.provideMerge(
      SimulatedLedger.layerPostgres({
        ledgerId: config.tenantId,
        participantId,
        settings: { inputsMax: config["ledger.maxInputs"] }
      }).pipe(NotUsable.faultOfLayer("database.url"))
    ),
    Layer.provideMerge(storage(config)),
    Layer.provideMerge(sender(config)),
    Layer.provideMerge(screening(config)),
    Layer.provideMerge(Statements.layer),
    Layer.provideMerge(anchors(config)),
    Layer.provideMerge(NodeCrypto.layer),
    Layer.provideMerge(engineSettings(config, keys))
  )

/** Layer of the records alone, for maintenance commands: no ledger, no background fibers. */
export const records = (config: KeeperConfig) =>
  recordsLayer.pipe(
    Layer.provideMerge(storage(config)),
    Layer.provideMerge(NodeCrypto.layer),
    Layer.provideMerge(engineSettings(config, keeperKeys(config)))
  )

/**
 * Layer for verifying the audit log: its store, and the public keys that exist. It creates no key.
 */
export const auditLog = (config: KeeperConfig) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const named = config["audit.keys"]
      const madeKey =
        named.length > 0
          ? undefined
          : yield* DeploymentKeys.kept({ use: "audit", data: config.data }).pipe(
              NotUsable.faultOf("data")
            )
      const auditKeys = madeKey === undefined ? named : [signingOf(madeKey)]
      return Layer.mergeAll(
        storage(config),
        NodeCrypto.layer,
        Layer.succeed(Settings, { ...settingsDefaults, tenantId: config.tenantId, auditKeys })
      )
    })
  )

const signIn = (config: HostConfig) =>
  Authentication.layer(config).pipe(Layer.provide(Jwks.layerRemote(Jwks.fetchFrom(config.jwksUrl))))

const background = Layer.unwrap(
  Effect.gen(function* () {
    const { run } = yield* Engine.Engine
    const gauges = Effect.provideContext(Gauges.run, yield* Effect.context<Gauges.Needs>())
    return Background.layer([
      { name: "engine", run },
      { name: "gauges", run: gauges }
    ])
  })
)

/** Layer that exports telemetry to the configured collector; empty without one. */
const telemetry = (config: HostConfig): Layer.Layer<never> => {
  const url = config["telemetry.otlpUrl"]
  if (url === null) return Layer.empty
  return Telemetry.layer({
    url,
    headers: Redacted.make(config["telemetry.otlpHeaders"] ?? {}),
    interval: config["telemetry.interval"] * 1_000,
    tenantId: config.tenantId,
    version
  })
}

/**
 * The simulated ledger's outside door, on a server of the same pace as the API's: one call of a
 * connection at a time, and none for whoever does not read.
 */
const door = (config: HostConfig) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { partingWithin, stopWithin } = yield* Times
      const context = yield* Effect.context<never>()
      return Door.layer({
        host: config["ledger.door.host"],
        port: config["ledger.door.port"],
        makeServer: ({ refuse }) =>
          new PacedServer(
            {},
            {
              pipelinedMax: config["connections.pipelined"],
              stalledWithin: config["connections.stalled"],
              movedWithin: partingWithin,
              stoppedWithin: stopWithin,
              arrived: () => {},
              begins: () => {},
              refuse: ({ request }) => refuse(request.socket),
              cut: ({ request }) => request.socket.destroy(),
              closed: (reason) =>
                Metric.withAttributes(Counters.connectionsClosed, { reason }).updateUnsafe(
                  1,
                  context
                )
            }
          )
      })
    })
  )

/** Composes the engine, the ledger, the storage and the host of one deployment. */
const venue = (
  config: HostConfig,
  {
    publicKeys,
    opened,
    keys
  }: {
    readonly keys: Keys
    readonly publicKeys: Venue["keys"]
    readonly opened: (port: number) => void
  }
) =>
  Layer.mergeAll(
    Host.layer({
      tables: Catalogue,
      tenant: tenant(config, publicKeys),
      basePath: config.basePath,
      host: config.host,
      port: config.port,
      signing: {
        keys: config["signing.keys"],
        window: config["signing.window"],
        basePath: config["signing.basePath"]
      },
      rateLimit: {
        limit: config["rateLimit.limit"],
        window: config["rateLimit.window"],
        perRole: config["rateLimit.perRole"]
      },
      origins: config["cors.origins"]
    }).pipe(
      Layer.catchTag("ListenFailed", (error) =>
        Layer.effectContext(Effect.fail(NotUsable.of("port")(error)))
      )
    ),
    background,
    Management.layer({
      host: config["management.host"],
      port: config["management.port"],
      opened
    }).pipe(NotUsable.faultOfLayer("management.port")),
    door(config).pipe(NotUsable.faultOfLayer("ledger.door.port"))
  ).pipe(
    Layer.provide(signIn(config)),
    Layer.provideMerge(Readiness.layer({ version }).pipe(Layer.provide(ReadinessPoll.layer))),
    Layer.provideMerge(engineOf(config, keys)),
    Layer.provide(telemetry(config)),
    Layer.provide(
      Layer.succeed(Uploads, {
        bytesMax: config["statements.maxBytes"],
        within: config["statements.timeLimit"]
      })
    ),
    Layer.provide(
      Layer.succeed(UnreadLimits, {
        pipelinedMax: config["connections.pipelined"],
        stalledWithin: config["connections.stalled"],
        subjectBytes: config["answers.subjectBytes"],
        hostBytes: config["answers.hostBytes"],
        subjectStreams: config["answers.subjectStreams"],
        subjectReads: config["answers.subjectReads"]
      })
    ),
    Layer.provide(
      Layer.succeed(WaitLimits, {
        subjectWaits: config["waits.subject"],
        hostWaits: config["waits.host"]
      })
    ),
    Layer.provide(Layer.sync(RefusedWrites.Current, RefusedWrites.make)),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, Logs.minimumOf(config["logs.level"])))
  )

/** Addresses of a running venue. */
export interface Addresses {
  readonly api: string
  readonly docs: string
  readonly management: string
  readonly ledgerDoor: string
}

/**
 * Begins a start with its keys, one first start of a database at a time: until `begin` has ended, which
 * records the ids of the keys, every other start waits, and then finds what this one made
 * (docs/contract/instances.md#secrets-of-earlier-starts). A start that makes no secret keeps none waiting.
 */
export const inTurn = <A, E, R>(
  config: HostConfig & { readonly "database.url": Redacted.Redacted },
  begin: (keys: Keys) => Effect.Effect<A, E, R>
) =>
  Effect.acquireUseRelease(
    Scope.make(),
    (turn) =>
      Effect.gen(function* () {
        const url = config["database.url"]
        yield* Postgres.startTurn({ url }).pipe(
          Scope.provide(turn),
          NotUsable.faultOf("database.url")
        )
        const isFirst = yield* ExistingVenue.demandSecrets(config, yield* existingVenue(url))
        if (!isFirst) yield* Scope.close(turn, Exit.void)
        return yield* begin(yield* keysOf(config))
      }),
    (turn) => Scope.close(turn, Exit.void)
  )

/** Runs a venue until it is interrupted; fails when a background fiber ends. */
export const serve = (settings: HostConfig, ready: (at: Addresses) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const url = yield* databaseUrl(settings)
    const config = { ...settings, "database.url": url }
    let managementPort = config["management.port"]
    const context = yield* inTurn(config, (keys) =>
      Effect.gen(function* () {
        const built = yield* Layer.build(
          venue(config, {
            keys,
            publicKeys: yield* publicKeysOf(keys),
            opened: (port) => {
              managementPort = port
            }
          })
        )
        // The configuration is logged before anything is served under it.
        yield* Context.get(built, AuditLog)
          .log(ConfigLoaded.entry(config, keys))
          .pipe(Effect.mapError(({ detail }) => new ConfigLoaded.NotLogged({ detail })))
        return built
      })
    )
    const api = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
    yield* ready({
      api,
      docs: `${api}/docs`,
      management: `http://${config["management.host"]}:${managementPort}`,
      ledgerDoor: Context.get(context, Door.Door).url
    })
    return yield* Context.get(context, Background.Background).ended.pipe(
      Effect.onInterrupt(() => Context.get(context, Readiness.Readiness).stopping)
    )
  }).pipe(Effect.scoped)
