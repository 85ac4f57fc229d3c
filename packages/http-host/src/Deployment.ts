/** A whole venue as its settings say it: store, ledger and its door, engine, host, what runs beside. */
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
import { Crypto } from "@bursar/engine-core/ports"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as ScriptedScreening from "@bursar/storage-adapters/screening"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import * as Door from "@bursar/storage-adapters/simulated-ledger/door"
import { Context, Effect, Layer, Redacted, References } from "effect"
import { HttpServer } from "effect/http"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Venue } from "./api/SystemApi.ts"
import * as Background from "./Background.ts"
import * as DeploymentKeys from "./DeploymentKeys.ts"
import * as Host from "./Host.ts"
import type { HostConfig } from "./HostConfig.ts"
import * as Management from "./Management.ts"
import * as Loaded from "./Loaded.ts"
import * as Logs from "./observability/Logs.ts"
import * as Telemetry from "./observability/Telemetry.ts"
import * as Authentication from "./middleware/Authentication.ts"
import * as AnchorFile from "./outbound/AnchorFile.ts"
import * as Jwks from "./outbound/Jwks.ts"
import * as WebhookSender from "./outbound/WebhookSender.ts"
import * as Readiness from "./Readiness.ts"
import { version } from "./version.ts"
import * as Vitals from "./Vitals.ts"

/** The database that is named, or the one that is brought along; opening it brings its schema up to date. */
export const storage = (config: HostConfig) =>
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
const venueToken = (config: HostConfig) =>
  Effect.gen(function* () {
    const given = config["ledger.token"]
    if (given !== null) return Redacted.value(given)
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

const venueLedger = (config: HostConfig) =>
  Layer.unwrap(Effect.map(venueToken(config), (token) => SimulatedLedger.Venue.layer({ token })))

/** The keys that the deployment signs and seals with: those of its settings, or its own. */
interface Keys {
  readonly webhooks: ReadonlyArray<DeliveryRules.SigningKey>
  readonly sealing: HostConfig["webhooks.sealingKeys"]
  readonly audit: HostConfig["audit.keys"]
}

const keysOf = (config: HostConfig) =>
  Effect.gen(function* () {
    const own = (use: DeploymentKeys.Use, setting: string) =>
      DeploymentKeys.own({ use, setting, data: config.data })
    const signing = config["webhooks.keys"]
    const sealing = config["webhooks.sealingKeys"]
    const audit = config["audit.keys"]
    return {
      webhooks: signing.length > 0 ? signing : [signingOf(yield* own("webhook", "webhooks.keys"))],
      sealing: sealing.length > 0 ? sealing : [yield* own("sealing", "webhooks.sealingKeys")],
      audit: audit.length > 0 ? audit : [signingOf(yield* own("audit", "audit.keys"))]
    }
  })

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

/** What receivers verify deliveries by, and anybody the audit log's checkpoints. */
const publicKeysOf = (keys: Keys) =>
  Effect.map(Crypto, ({ ed25519 }) => {
    const told =
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
      ...keys.webhooks.map(told("webhook", DeliveryRules.publicKeyText)),
      ...keys.audit.map(told("audit", (key) => Buffer.from(key).toString("base64")))
    ]
  }).pipe(Effect.provide(NodeCrypto.layerCrypto))

const engineSettings = (config: HostConfig, keys: Keys) =>
  Layer.succeed(Settings, {
    ...settingsDefaults,
    tenantId: config.tenantId,
    operationsAtOnce: config["operations.atOnce"],
    inputsMax: config["ledger.maxInputs"],
    lease: config["operations.lease"] * 1_000,
    bodyKeyWindow: config["idempotency.bodyKeyWindow"],
    approvalExpiry: config.approvalExpiry,
    cursorKeys: config["cursor.keys"],
    webhooks: config["webhooks.configured"],
    webhookKeys: keys.webhooks,
    sealingKeys: keys.sealing,
    auditKeys: keys.audit,
    retention: {
      operations: config["retention.operations"],
      approvals: config["retention.approvals"],
      events: config["retention.events"],
      deliveries: config["retention.deliveries"],
      exhaustedDeliveries: config["retention.exhaustedDeliveries"]
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

const screening = (config: HostConfig) => {
  const script = config["screening.script"]
  return script === null ? Layer.empty : ScriptedScreening.layerFile(script)
}

const engineOf = (config: HostConfig, keys: Keys) =>
  Engine.layer.pipe(
    Layer.provideMerge(venueLedger(config)),
    Layer.provideMerge(
      SimulatedLedger.layerPostgres({
        ledgerId: config.tenantId,
        participantId,
        settings: { inputsMax: config["ledger.maxInputs"] }
      })
    ),
    Layer.provideMerge(storage(config)),
    Layer.provideMerge(sender(config)),
    Layer.provideMerge(screening(config)),
    Layer.provideMerge(
      AnchorFile.layer(config["audit.anchors"] ?? join(config.data, "audit", "anchors.jsonl"))
    ),
    Layer.provideMerge(NodeCrypto.layer),
    Layer.provideMerge(engineSettings(config, keys))
  )

/** The venue's records alone, for a keeper's command: no ledger, nothing that runs beside. */
export const records = (config: HostConfig) =>
  Layer.unwrap(
    Effect.map(keysOf(config), (keys) =>
      recordsLayer.pipe(
        Layer.provideMerge(storage(config)),
        Layer.provideMerge(NodeCrypto.layer),
        Layer.provideMerge(engineSettings(config, keys))
      )
    )
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

/** What is told to the outside of how the venue fares. */
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

/** Everything a deployment is made of. */
const venue = (
  config: HostConfig,
  of: {
    readonly keys: Keys
    readonly publicKeys: Venue["keys"]
    readonly opened: (port: number) => void
  }
) =>
  Layer.mergeAll(
    Host.layer({
      tables: Catalogue,
      tenant: tenant(config, of.publicKeys),
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
    }),
    background,
    Management.layer({
      host: config["management.host"],
      port: config["management.port"],
      opened: of.opened
    }),
    Door.layer({ host: config["ledger.door.host"], port: config["ledger.door.port"] })
  ).pipe(
    Layer.provide(signIn(config)),
    Layer.provideMerge(Readiness.layer({ version }).pipe(Layer.provide(Vitals.layer))),
    Layer.provideMerge(engineOf(config, of.keys)),
    Layer.provide(telemetry(config)),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, Logs.minimumOf(config["logs.level"])))
  )

/** Where a venue that is up is reached. */
export interface Addresses {
  readonly api: string
  readonly docs: string
  readonly management: string
  readonly ledgerDoor: string
}

/**
 * Brings a venue up and keeps it up until it is interrupted; fails when anything that should run
 * beside the requests ends by itself.
 */
export const serve = (config: HostConfig, ready: (at: Addresses) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const keys = yield* keysOf(config)
    let managementPort = config["management.port"]
    const context = yield* Layer.build(
      venue(config, {
        keys,
        publicKeys: yield* publicKeysOf(keys),
        opened: (port) => {
          managementPort = port
        }
      })
    )
    // Nothing is served under a configuration that the audit log does not tell of.
    yield* Context.get(context, AuditLog)
      .log(Loaded.entry(config, keys))
      .pipe(Effect.mapError(({ detail }) => new Loaded.NotTold({ detail })))
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
