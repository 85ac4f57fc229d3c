/**
 * Composition of a whole deployment from its settings and its parts: storage, ledger and its door,
 * screening, engine, host, background fibers. Each part may be one's own.
 */
import {
  AuditLog,
  AuditRunner,
  Catalogue,
  DeliveryRules,
  Engine,
  Gauges,
  noteRestore,
  recordsLayer,
  Settings,
  settingsDefaults,
  Vocabulary
} from "@bursar/engine-core"
import { Instant, Nearest } from "@bursar/engine-core/kernel"
import { type Room, RoomsNotUsable } from "@bursar/engine-core/rooms"
import { Crypto, Feed, RefusedWrites } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Statements from "@bursar/storage-adapters/statements"
import { Context, Data, Effect, Exit, Layer, Redacted, References, Scope } from "effect"
import { HttpServer } from "effect/http"
import type { SqlClient } from "effect/sql"
import { join } from "node:path"
import type { Venue } from "./api/SystemApi.ts"
import * as Background from "./Background.ts"
import * as Bursar from "./cli/Bursar.ts"
import * as BackupSet from "./BackupSet.ts"
import type { Addresses, DeployedVenue, RestoredVenue } from "./cli/DeployedVenue.ts"
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
import * as AnchorFile from "./outbound/AnchorFile.ts"
import * as Jwks from "./outbound/Jwks.ts"
import * as WebhookSender from "./outbound/WebhookSender.ts"
import {
  LedgerDoor,
  type LedgerPart,
  type OpenedStorage,
  type PartFault,
  type ScreeningPart,
  type StoragePart
} from "./parts/Parts.ts"
import * as PostgresStorage from "./parts/PostgresStorage.ts"
import * as ScriptedScreening from "./parts/ScriptedScreening.ts"
import * as SimulatedLedger from "./parts/SimulatedLedger.ts"
import * as Readiness from "./Readiness.ts"
import { version } from "./version.ts"
import { UnreadLimits } from "./wire/Unread.ts"
import { Uploads } from "./wire/Uploads.ts"
import { WaitLimits } from "./wire/WaitLimits.ts"
import * as ReadinessPoll from "./ReadinessPoll.ts"

export type { Addresses, DeployedVenue } from "./cli/DeployedVenue.ts"
export {
  LedgerDoor,
  ledgerOf,
  type LedgerPart,
  type OpenedStorage,
  type PartFault,
  type ScreeningPart,
  storageOf,
  type StoragePart,
  type StoragePorts
} from "./parts/Parts.ts"

/** Storage on the database that the settings name, or on an embedded PostgreSQL. */
export const postgresStorage: StoragePart<SqlClient.SqlClient> = PostgresStorage.part

/** The simulated ledger in the deployment's database, with its outside door. */
export const simulatedLedger = SimulatedLedger.part

/**
 * The simulated ledger with templates of rooms beside those of the engine, under the same checks; a
 * template that is there twice ends the start with one line.
 */
export const simulatedLedgerWith = SimulatedLedger.partWith

/** The scripted source of screening, where the setting `screening.script` names a script. */
export const scriptedScreening: ScreeningPart = ScriptedScreening.part

/** Parts of a deployment with a storage of its own, which then brings its ledger along. */
interface OwnStorage<S, D> {
  readonly storage: StoragePart<S>
  readonly ledger: LedgerPart<S, D>
  readonly screening?: ScreeningPart
  /** Rooms that the venue adds, lowest first. */
  readonly rooms?: ReadonlyArray<Room.Room>
}

/** Parts of a deployment on PostgreSQL. */
interface OnPostgres<D> {
  readonly storage?: undefined
  readonly ledger?: LedgerPart<SqlClient.SqlClient, D>
  readonly screening?: ScreeningPart
  /** Rooms that the venue adds, lowest first. */
  readonly rooms?: ReadonlyArray<Room.Room>
}

/**
 * Parts of a deployment; a part that is left out is the host's own: `postgresStorage`,
 * `simulatedLedger`, `scriptedScreening`.
 */
export type Parts<S = never, D = never> = OwnStorage<S, D> | OnPostgres<D>

/** A part that is needed was not given, or cannot be used; the message is one line that names it. */
export class PartMissing extends Data.TaggedError("PartMissing")<{
  readonly part: string
  readonly detail: string
}> {
  override get message(): string {
    return `${this.part}: ${this.detail}`
  }
}

/** The services that the storage of a deployment offers to its ledger; only these two parts know them. */
interface Beside {
  readonly beside: unique symbol
}

/** The services that the ledger of a deployment offers to its door; only the ledger's part knows them. */
interface Behind {
  readonly behind: unique symbol
}

/** The parts of a deployment, whole. */
interface WholeParts {
  readonly storage: StoragePart<Beside>
  readonly ledger: LedgerPart<Beside, Behind>
  readonly screening: ScreeningPart
  readonly catalogue: Catalogue.Catalogue
}

/**
 * Cast: `Parts` requires that the storage offers what the ledger needs, and nothing here looks at what
 * that is.
 */
const fitting = <S, D>(parts: {
  readonly storage: StoragePart<S>
  readonly ledger: LedgerPart<S, D>
  readonly screening: ScreeningPart
  readonly catalogue: Catalogue.Catalogue
}): WholeParts => parts as unknown as WholeParts

/** The host's own parts. */
const ownParts: WholeParts = fitting({
  storage: postgresStorage,
  ledger: simulatedLedger,
  screening: scriptedScreening,
  catalogue: Catalogue.builtIn
})

/** Reads the traces of earlier starts in the storage and at the ledger, and changes nothing. */
const existingVenue = (
  { beside, existing }: OpenedStorage<Beside>,
  { hasVenueToken }: WholeParts["ledger"]
): Effect.Effect<ExistingVenue.EarlierUse, PartFault> =>
  Effect.gen(function* () {
    const { configLoaded, isUsed } = yield* existing
    return {
      isUsed,
      keyIds: configLoaded === null ? null : ConfigLoaded.keyIdsOf(configLoaded),
      hasVenueToken: yield* Effect.provide(hasVenueToken, beside)
    }
  })

/** Runs the migrations of the storage and of the ledger. Returns the names of those that ran. */
const migratedOf =
  ({ ledger, storage }: WholeParts) =>
  (config: KeeperConfig) =>
    Effect.gen(function* () {
      yield* BackupSet.demandEnded(config.data)
      const opened = yield* storage.open(config)
      // Both schemas are looked at before either is changed.
      yield* existingVenue(opened, ledger)
      const migrations = yield* opened.migrate
      return [...migrations, ...(yield* Effect.provide(ledger.migrate, opened.beside))]
    }).pipe(Effect.scoped)

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
  const configuredKeys = config["cursor.keys"]
  if (configuredKeys.length > 0) return Effect.succeed(configuredKeys)
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
    scopes: [...new Set(["openid", "profile", "email", ...config["signIn.parameters"].scopes])],
    parameters: config["signIn.parameters"].parameters
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

/** The parts of a start, with the storage that it has opened. */
interface OpenedParts extends Omit<WholeParts, "storage"> {
  readonly opened: OpenedStorage<Beside>
}

const engineOf = (
  config: HostConfig,
  { keys, parts }: { readonly keys: Keys; readonly parts: OpenedParts }
) =>
  Engine.layerWith(parts.catalogue).pipe(
    Layer.provideMerge(parts.ledger.layer(config)),
    Layer.provideMerge(parts.opened.layer),
    Layer.provideMerge(sender(config)),
    Layer.provideMerge(parts.screening(config)),
    Layer.provideMerge(Statements.layer),
    Layer.provideMerge(anchors(config)),
    Layer.provideMerge(NodeCrypto.layer),
    Layer.provideMerge(engineSettings(config, keys))
  )

/** The ports of the storage that the settings name. */
const portsOf = (storage: WholeParts["storage"], config: KeeperConfig) =>
  Layer.unwrap(Effect.map(storage.open(config), ({ layer }) => layer))

/** Layer of the records alone, for maintenance commands: no ledger, no background fibers. */
const recordsOf = (storage: WholeParts["storage"]) => (config: KeeperConfig) =>
  recordsLayer.pipe(
    Layer.provideMerge(portsOf(storage, config)),
    Layer.provideMerge(NodeCrypto.layer),
    Layer.provideMerge(engineSettings(config, keeperKeys(config)))
  )

/**
 * Layer for verifying the audit log: its store, and the public keys that exist. It creates no key.
 */
const auditLogOf = (storage: WholeParts["storage"]) => (config: KeeperConfig) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const named = config["audit.keys"]
      const madeKey =
        named.length > 0
          ? undefined
          : yield* DeploymentKeys.existingKey({ use: "audit", data: config.data }).pipe(
              NotUsable.faultOf("data")
            )
      const auditKeys = madeKey === undefined ? named : [signingOf(madeKey)]
      return Layer.mergeAll(
        portsOf(storage, config),
        NodeCrypto.layer,
        Layer.succeed(Settings, { ...settingsDefaults, tenantId: config.tenantId, auditKeys })
      )
    })
  )

const signIn = (config: HostConfig) =>
  Authentication.layer(Authentication.trustedBy(config)).pipe(
    Layer.provide(Jwks.layerRemote(Jwks.fetchFrom(config.jwksUrl)))
  )

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

/** Composes the engine, the ledger, the storage and the host of one deployment. */
const venue = (
  config: HostConfig,
  {
    parts,
    publicKeys,
    managed,
    keys
  }: {
    readonly keys: Keys
    readonly parts: OpenedParts
    readonly publicKeys: Venue["keys"]
    /** Takes the port of the management listener. */
    readonly managed: (port: number) => void
  }
) =>
  Layer.mergeAll(
    Host.layer({
      tables: parts.catalogue,
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
      origins: config["cors.origins"],
      ...(config["console.enabled"]
        ? {
            console: {
              origins: config["console.origins"],
              roles: config["auth.roles.claim"],
              roleNames: config["auth.roles.map"]
            }
          }
        : {})
    }).pipe(
      Layer.catchTag("ListenFailed", (error) =>
        Layer.effectContext(Effect.fail(NotUsable.of("port")(error)))
      )
    ),
    background,
    Management.layer({
      catalogue: parts.catalogue,
      host: config["management.host"],
      port: config["management.port"],
      opened: managed
    }).pipe(NotUsable.faultOfLayer("management.port")),
    parts.ledger.door?.(config) ?? Layer.empty
  ).pipe(
    Layer.provide(signIn(config)),
    Layer.provideMerge(Readiness.layer({ version }).pipe(Layer.provide(ReadinessPoll.layer))),
    Layer.provideMerge(engineOf(config, { keys, parts })),
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

/** A storage and a ledger as a start looks at them before it makes its secrets. */
interface Turn {
  readonly startTurn: Effect.Effect<void, PartFault, Scope.Scope>
  readonly existing: Effect.Effect<ExistingVenue.EarlierUse, PartFault>
}

/**
 * Begins a start with its keys, one first start of a storage at a time: until `begin` has ended, which
 * records the ids of the keys, every other start waits, and then finds what this one made
 * (docs/contract/instances.md#secrets-of-earlier-starts). A start that makes no secret keeps none waiting.
 */
const inTurn = <A, E, R>(
  config: HostConfig,
  { existing, startTurn }: Turn,
  begin: (keys: Keys) => Effect.Effect<A, E, R>
) =>
  Effect.acquireUseRelease(
    Scope.make(),
    (turn) =>
      Effect.gen(function* () {
        yield* Scope.provide(startTurn, turn)
        const isFirst = yield* ExistingVenue.demandSecrets(config, yield* existing)
        if (!isFirst) yield* Scope.close(turn, Exit.void)
        return yield* begin(yield* keysOf(config))
      }),
    (turn) => Scope.close(turn, Exit.void)
  )

/**
 * Begins a start of a deployment over the host's own parts with its keys, as `serve` does: `begin` records their ids, and
 * other starts wait until it has ended where this one makes a secret.
 */
export const begun = <A, E, R>(
  config: HostConfig,
  begin: (keys: Keys) => Effect.Effect<A, E, R>
) => {
  const { ledger, storage } = ownParts
  return Effect.flatMap(storage.open(config), (opened) =>
    inTurn(config, { startTurn: opened.startTurn, existing: existingVenue(opened, ledger) }, begin)
  ).pipe(Effect.scoped)
}

/** Refuses a configured webhook for an event that no room of the venue announces. */
const demandOwnEvents = (config: HostConfig, { ownWords }: Catalogue.Catalogue) => {
  const announced = ownWords.get("EventType") ?? []
  const wrong = config["webhooks.configured"]
    .flatMap((webhook) => webhook.events)
    .find((type) => Vocabulary.OwnWord.isOwn(type) && !announced.includes(type))
  if (wrong === undefined) return Effect.void
  const set = [...Vocabulary.EventType.members.filter(Vocabulary.isControl), ...announced]
  return Effect.fail({
    message: `webhooks.configured: ${Nearest.sentence("event", { word: wrong, set })}`
  })
}

const serveOf =
  ({ storage, ...parts }: WholeParts) =>
  (config: HostConfig, ready: (at: Addresses) => Effect.Effect<void>) =>
    Effect.gen(function* () {
      yield* demandOwnEvents(config, parts.catalogue)
      yield* BackupSet.demandEnded(config.data)
      const opened = yield* storage.open(config)
      let managementPort = config["management.port"]
      const existing = existingVenue(opened, parts.ledger)
      const turn = { startTurn: opened.startTurn, existing }
      const context = yield* inTurn(config, turn, (keys) =>
        Effect.gen(function* () {
          const built = yield* Layer.build(
            venue(config, {
              keys,
              parts: { ...parts, opened },
              publicKeys: yield* publicKeysOf(keys),
              managed: (port) => {
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
      const door = Context.get(context, LedgerDoor)
      yield* ready({
        api,
        docs: `${api}/docs`,
        management: `http://${config["management.host"]}:${managementPort}`,
        ...(door === null ? {} : { ledgerDoor: door.url })
      })
      return yield* Context.get(context, Background.Background).ended.pipe(
        Effect.onInterrupt(() => Context.get(context, Readiness.Readiness).stopping)
      )
    }).pipe(Effect.scoped)

const noBackups: PartFault = {
  message: "the storage of this deployment is backed up by means of its own"
}

const backedUpOf =
  ({ storage: { backups } }: WholeParts) =>
  (config: KeeperConfig, to: string) =>
    Effect.gen(function* () {
      if (backups === undefined) return yield* Effect.fail(noBackups)
      yield* BackupSet.demandEnded(config.data)
      const { form, heads, write } = yield* backups.reach(config)
      return yield* BackupSet.make({
        to,
        data: config.data,
        form,
        described: {
          bursar: version,
          tenantId: config.tenantId,
          takenAt: yield* Instant.now,
          ...(yield* heads)
        },
        database: write
      })
    }).pipe(Effect.scoped)

/**
 * Proves a restored venue where it was restored: it has every secret that its latest start used, its
 * audit log is in order against the anchors of the backup, and nothing is missing that was there when
 * the backup began. Then the restore is noted, so that readers of what is lost are told.
 */
const provenVenue = (
  { ledger, storage }: WholeParts,
  {
    config,
    manifest,
    set
  }: {
    readonly config: KeeperConfig
    readonly manifest: BackupSet.Manifest
    readonly set: string
  }
) =>
  Effect.gen(function* () {
    yield* Effect.flatMap(storage.open(config), (opened) => existingVenue(opened, ledger)).pipe(
      Effect.scoped,
      Effect.flatMap((existing) => ExistingVenue.demandSecrets(config, existing))
    )
    const file = BackupSet.anchorsOf(manifest, set)
    const { anchors, brokenAt } =
      file === null
        ? { anchors: [], brokenAt: null }
        : yield* NotUsable.files("data", () => AnchorFile.read(file))
    const notProven = (detail: string) => new BackupSet.BackupFailed({ detail })
    if (brokenAt !== null) {
      return yield* notProven(`line ${brokenAt} of the anchors in the backup is not a checkpoint`)
    }
    const { audit, feed } = yield* Effect.all({
      audit: AuditRunner.verifyLog({ anchors }),
      feed: Effect.flatMap(Feed, ({ head }) => head)
    }).pipe(
      Effect.provide(auditLogOf(storage)(config)),
      Effect.catchTags({
        Unavailable: ({ detail }) => notProven(detail),
        StorageUnavailable: ({ detail }) => notProven(detail)
      })
    )
    if (audit.fault !== null) {
      return yield* notProven(`record ${audit.fault.seq} of the audit log: ${audit.fault.why}`)
    }
    const found = { eventSeq: feed.seq, auditSeq: feed.audit.seq }
    if (found.eventSeq < manifest.eventSeq || found.auditSeq < manifest.auditSeq) {
      return yield* notProven(
        `the restored database ends with event ${found.eventSeq} and audit record ${found.auditSeq}; the backup began after ${manifest.eventSeq} and ${manifest.auditSeq}`
      )
    }
    yield* noteRestore.pipe(
      Effect.provide(recordsOf(storage)(config)),
      Effect.catchTag("Unavailable", ({ detail }) => notProven(detail))
    )
    return { tenantId: manifest.tenantId, takenAt: manifest.takenAt, ...found }
  })

const restoredOf =
  (parts: WholeParts) =>
  (config: KeeperConfig, set: string): Effect.Effect<RestoredVenue, PartFault> =>
    Effect.gen(function* () {
      const { backups } = parts.storage
      if (backups === undefined) return yield* Effect.fail(noBackups)
      const manifest = yield* BackupSet.read(set)
      if (manifest.tenantId !== config.tenantId) {
        return yield* new BackupSet.BackupFailed({
          detail: `${set} is of the venue ${manifest.tenantId}, and tenantId is ${config.tenantId}: name the venue that is restored`
        })
      }
      const { hasDatabase } = yield* BackupSet.beginRestore(set, config.data)
      const working = { ...config, data: BackupSet.restoring(config.data) }
      if (!hasDatabase) {
        const path = BackupSet.databaseIn(set, manifest.database)
        yield* backups.restore(working, { form: manifest.database, path }).pipe(
          // Of a restore that was refused or interrupted nothing stays; one that was killed is repeated.
          Effect.onExit((exit) =>
            Exit.isSuccess(exit)
              ? Effect.void
              : Effect.ignore(BackupSet.abandonRestore(config.data))
          )
        )
        yield* BackupSet.noteDatabase(set, config.data)
      }
      const proven = yield* provenVenue(parts, { config: working, manifest, set })
      yield* BackupSet.endRestore(config.data)
      return proven
    })

const deployedOf = (parts: WholeParts): DeployedVenue => ({
  catalogue: parts.catalogue,
  serve: serveOf(parts),
  migrated: migratedOf(parts),
  records: recordsOf(parts.storage),
  auditLog: auditLogOf(parts.storage),
  backedUp: backedUpOf(parts),
  restored: restoredOf(parts)
})

/** A deployment of these parts, as the commands of `bursar` use it. */
export const make = <S = never, D = never>(
  parts: Parts<S, D> = {}
): Effect.Effect<DeployedVenue, PartMissing> =>
  Effect.flatMap(catalogueOf(parts.rooms ?? []), (catalogue) => deployed(parts, catalogue))

/** The catalogue with the rooms; one that cannot be used is named in the one line of the start. */
const catalogueOf = (
  rooms: ReadonlyArray<Room.Room>
): Effect.Effect<Catalogue.Catalogue, PartMissing> =>
  Effect.try({
    try: () => Catalogue.withRooms(rooms),
    catch: (error) => {
      if (error instanceof RoomsNotUsable) {
        return new PartMissing({ part: "rooms", detail: error.faults.join(" ") })
      }
      throw error
    }
  })

const deployed = <S, D>(
  parts: Parts<S, D>,
  catalogue: Catalogue.Catalogue
): Effect.Effect<DeployedVenue, PartMissing> => {
  const screening = parts.screening ?? scriptedScreening
  if (parts.storage === undefined) {
    const own = { ...ownParts, screening, catalogue }
    return Effect.succeed(
      deployedOf(
        parts.ledger === undefined
          ? own
          : fitting({ storage: postgresStorage, ledger: parts.ledger, screening, catalogue })
      )
    )
  }
  const { ledger, storage }: Partial<typeof parts> = parts
  return ledger === undefined || storage === undefined
    ? // The types require it; a program in JavaScript may leave it out.
      Effect.fail(new PartMissing({ part: "ledger", detail: ownLedgerNeeded }))
    : Effect.succeed(deployedOf(fitting({ storage, ledger, screening, catalogue })))
}

const ownLedgerNeeded =
  "the host's own ledger is kept in PostgreSQL; a deployment with a storage of its own brings its ledger too"

/**
 * Serves a venue of these parts until it is interrupted; fails when a part cannot be opened, with the
 * one line that says why, and when a background fiber ends.
 */
export const serve = <S = never, D = never>(
  parts: Parts<S, D>,
  {
    config,
    ready = () => Effect.void
  }: {
    /** The settings: `HostConfig.load` reads them. */
    readonly config: HostConfig
    /** Called with the addresses once the venue serves. */
    readonly ready?: (at: Addresses) => Effect.Effect<void>
  }
): Effect.Effect<never, PartFault> =>
  Effect.flatMap(make(parts), (deployed) => deployed.serve(config, ready))

/**
 * Runs the command `bursar` over these parts: the process's arguments are the command line, and the
 * process ends with the command.
 */
export const main = <S = never, D = never>(parts: Parts<S, D> = {}): void =>
  Bursar.main(make(parts))
