/** Table of settings: each with its default, limit and description. */
import {
  Retention,
  settingsDefaults as engine,
  statementLinesLimit,
  Vocabulary
} from "@bursar/engine-core"
import { Duration, JsonText, TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Data, Effect, Record, Result, Schema } from "effect"
import { claimDefaults, isPointer } from "./config/ClaimRules.ts"
import * as KeyPairs from "./config/KeyPairs.ts"
import * as Kind from "./config/Kind.ts"
import * as SignIn from "./config/SignIn.ts"
import * as SigningKeys from "./config/SigningKeys.ts"
import * as Sources from "./config/Sources.ts"
import * as Statements from "./config/Statements.ts"
import * as Webhooks from "./config/Webhooks.ts"
import { levels } from "./observability/Logs.ts"
import { unreadDefaults as unread } from "./wire/Unread.ts"
import { waitDefaults as waits } from "./wire/WaitLimits.ts"

/** The signature algorithms that a deployment may trust. */
export const algorithms = ["ES256", "ES384", "PS256", "PS384", "RS256", "RS384", "EdDSA"] as const

/** Algorithm of a token's signature. */
export type Algorithm = (typeof algorithms)[number]

/** Setting of a host: its kind, its default and the sentence that documents it. */
export interface Setting<A = unknown> extends Kind.Kind<A> {
  /** One sentence that says what the setting decides. */
  readonly doc: string
  /** Default, as a variable would write it; null: the setting is required. */
  readonly fallback: string | null
  /** Name of the environment variable, where it is not derived from the setting's name. */
  readonly variable?: string
}

const setting = <A>(
  kind: Kind.Kind<A>,
  options: { readonly doc: string; readonly fallback?: string; readonly variable?: string }
): Setting<A> => ({ ...kind, ...options, fallback: options.fallback ?? null })

interface CursorKey {
  readonly id: number
  readonly secret: Uint8Array
}

/** Pointer to a claim of a token. */
const claimPointer = Kind.text("a JSON pointer to a claim, such as /realm_access/roles", (text) =>
  isPointer(text) ? text : undefined
)

const Role = Schema.Literals(Vocabulary.Role.members)

/** Roles by the names that an identity provider has for them; null: a name is the word of a role. */
const roleNames = Kind.maybe(
  Kind.mapped(
    Kind.structured({
      limit:
        'a JSON object of at most 200 names, each with a role or a list of roles, such as {"Venue.Operator": "operator"}',
      schema: Schema.Record(
        Schema.NonEmptyString.check(Schema.isMaxLength(256)),
        Schema.Union([Role, Schema.NonEmptyArray(Role)])
      ).check(Schema.isMaxProperties(200))
    }),
    (names) => new Map(Object.entries(names).map(([name, roles]) => [name, [roles].flat()]))
  )
)

/** `1:<base64>,0:<base64>`: the first signs, the others still verify. */
const cursorKeys: Kind.Kind<ReadonlyArray<CursorKey>> = {
  ...Kind.text(
    "id:secret pairs separated by commas; ids 0 to 255, secrets of 32 bytes in base64",
    (text) => {
      if (text === "") return []
      const keys = text.split(",").map((pair) => {
        const [, id, secret] = /^([0-9]{1,3}):([A-Za-z0-9+/_-]{43})=?$/.exec(pair.trim()) ?? []
        return { id: Number(id ?? Number.NaN), secret: Buffer.from(secret ?? "", "base64") }
      })
      const ids = new Set(keys.map(({ id }) => id))
      return keys.every(({ id, secret }) => id <= 255 && secret.length === 32) &&
        ids.size === keys.length
        ? keys
        : undefined
    }
  ),
  secret: "secret"
}

const algorithmList: Kind.Kind<ReadonlyArray<Algorithm>> = Kind.text(
  `some of ${algorithms.join(", ")}, separated by commas`,
  (text) => {
    const named = text.split(",").map((name) => name.trim())
    const chosen = algorithms.filter((algorithm) => named.includes(algorithm))
    return chosen.length === named.length ? chosen : undefined
  }
)

const databaseAddress = Kind.maybe(
  Kind.secret(Kind.matching("a postgres:// address", /^postgres(ql)?:\/\/.{1,2000}$/))
)

const path = Kind.matching("empty, or a path such as /engine", /^(\/[A-Za-z0-9._~-]{1,64}){0,8}$/)

const callsMax = 1_000_000
const callLimit = Kind.integer(1, callsMax)

const Calls = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: callsMax }))

/** Rate limits by role; a role without an entry has `rateLimit.limit`. */
const callLimits = Kind.empty(
  {},
  Kind.structured({
    limit: `a JSON object of limits by role, each 1 to ${callsMax}, such as {"app": 6000}`,
    schema: Schema.Struct(
      Record.fromIterableWith(Vocabulary.Role.members, (role) => [role, Schema.optionalKey(Calls)])
    )
  })
)

/**
 * Longest retention period in years: longer than any law asks, and far from the end of the
 * calendar.
 */
const yearsMax = 100

const keptFor: Kind.Kind<Duration.Duration> = Kind.text(
  `an ISO 8601 duration of at most ${yearsMax} years, such as P7Y or P30D`,
  (text) => {
    const read = Kind.period.read(text)
    if (Result.isFailure(read)) return undefined
    const { years, months, days, time } = read.success
    const inDays = days + Number(time / Duration.NANOS_PER_DAY)
    return years + months / 12 + inDays / 365 <= yearsMax ? read.success : undefined
  }
)

/** A period of exact length between two others. */
const exactPeriod = (
  expected: string,
  { from, to }: { readonly from: Duration.Duration; readonly to: Duration.Duration }
): Kind.Kind<Duration.Duration> =>
  Kind.text(expected, (text) => {
    const read = Kind.period.read(text)
    if (Result.isFailure(read) || !Duration.isExact(read.success)) return undefined
    const nanos = Duration.nanos(read.success)
    return nanos >= Duration.nanos(from) && nanos <= Duration.nanos(to) ? read.success : undefined
  })

/** A period between reports. */
const reportPeriod = exactPeriod("an ISO 8601 duration from PT1M to P366D, such as P1D", {
  from: Duration.minutes(1),
  to: Duration.days(366)
})

/** Time for which an order with a reserve stands. */
const orderDeadline = exactPeriod("an ISO 8601 duration from PT1M to P7D, such as PT24H", {
  from: Duration.minutes(1),
  to: Duration.days(7)
})

/** A default of the engine as a variable would write it; empty for none. */
const written = (period: Duration.Duration | null): string =>
  period === null ? "" : Duration.format(period)

type DailyAt = NonNullable<typeof engine.reconciliationAt>

const dailyAt: Kind.Kind<DailyAt> = Kind.text(
  "a time of day and a zone, such as 02:00 Europe/Zurich",
  (text) => {
    const [time, zone, ...rest] = text.split(" ")
    return TimeOfDay.isTimeOfDay(time) && Zone.isZone(zone) && rest.length === 0
      ? { time, zone }
      : undefined
  }
)

const writtenAt = (at: DailyAt | null): string => (at === null ? "" : `${at.time} ${at.zone}`)

/**
 * A retention period: the time for which a kind of record is kept after it has ended; empty: for
 * ever.
 */
const retentionPeriod = (record: Retention.RetentionKind): Setting<Duration.Duration | null> => {
  const { doc } = Retention.kinds[record]
  return setting(Kind.maybe(keptFor), {
    doc: `${doc} Empty: for ever.`,
    fallback: written(engine.retention[record])
  })
}

const heldIds = Schema.Array(
  Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/))
).check(Schema.isMaxLength(10_000))

const legalHold = Kind.empty(
  Retention.nobody,
  Kind.structured({
    limit:
      'a JSON object of at most 10000 ids each, such as {"holderIds": ["h-1"], "instrumentIds": []}',
    schema: Schema.Struct({ holderIds: heldIds, instrumentIds: heldIds })
  })
)

/** A web origin (RFC 6454): scheme, host and port, without a path. */
const origin = Kind.text("an origin such as https://app.example", (text) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text
    ? text
    : undefined
)

/**
 * The table of settings, by name. `a.bC` is read from the variable `BURSAR_A_B_C`, else from the
 * member `a.bC` of the configuration file.
 */
export const settings = {
  tenantId: setting(Kind.matching("1 to 64 of A-Z a-z 0-9 -", /^[A-Za-z0-9-]{1,64}$/), {
    doc: "Id of the venue in its public record and in its webhooks.",
    fallback: engine.tenantId
  }),
  displayName: setting(Kind.words(100), {
    doc: "Name of the venue as people read it.",
    fallback: "Venue One"
  }),
  issuer: setting(Kind.words(2048), {
    doc: "Issuer (`iss`) that every bearer token must name, letter by letter."
  }),
  audience: setting(Kind.words(2048), {
    doc: "Audience (`aud`) that every bearer token must name, letter by letter.",
    fallback: "urn:bursar"
  }),
  jwksUrl: setting(Kind.trustedAddress, {
    doc: "Address of the identity provider's key set (JWKS)."
  }),
  algorithms: setting(algorithmList, {
    doc: "Signature algorithms that a token may have; a setting can only narrow the list.",
    fallback: algorithms.join(",")
  }),
  "auth.untyped": setting(Kind.oneOf(["refused", "accepted"]), {
    doc: "Whether a token whose header states no type (`typ`) is accepted; one of another type than `at+jwt` and `JWT` is always refused.",
    fallback: "refused"
  }),
  "auth.roles.claim": setting(claimPointer, {
    doc: "Where a token names its caller's roles: a list of texts.",
    fallback: claimDefaults.roles
  }),
  "auth.roles.map": setting(roleNames, {
    doc: "Roles by the identity provider's names for them; names that it does not list mean nothing. Empty: the names are those of the roles.",
    fallback: ""
  }),
  "auth.holder.claim": setting(claimPointer, {
    doc: "Where a token names the holder that its caller is.",
    fallback: claimDefaults.holder
  }),
  "auth.party.claim": setting(claimPointer, {
    doc: "Where a token names the party on the ledger that its caller is.",
    fallback: claimDefaults.party
  }),
  clientId: setting(Kind.words(256), {
    doc: "Client of the identity provider with which people sign in.",
    fallback: "venue-web"
  }),
  "signIn.parameters": setting(SignIn.parameters, {
    doc: "Further parameters of the request by which people sign in, such as `resource` or `audience`; the scopes of `scope`, separated by spaces, are asked for besides openid, profile and email.",
    fallback: ""
  }),
  host: setting(Kind.words(255), {
    doc: "Address that the API listens on.",
    fallback: "127.0.0.1"
  }),
  port: setting(Kind.port, {
    doc: "Port that the API listens on; 0 takes any free port.",
    fallback: "8080"
  }),
  basePath: setting(path, {
    doc: "Path that a proxy in front of the host adds to every address of the API.",
    fallback: ""
  }),
  "management.host": setting(Kind.words(255), {
    doc: "Address that the management listener is bound to; keep it from the public.",
    fallback: "127.0.0.1"
  }),
  "management.port": setting(Kind.port, {
    doc: "Port of /livez, /readyz and /metrics; 0 takes any free port.",
    fallback: "9464"
  }),
  "telemetry.otlpUrl": setting(Kind.maybe(Kind.trustedAddress), {
    doc: "OpenTelemetry collector that receives traces, metrics and logs as JSON over HTTP; empty: nothing is exported.",
    fallback: ""
  }),
  "telemetry.otlpHeaders": setting(
    Kind.maybe(
      Kind.structured({
        limit: 'a JSON object of at most 20 headers, such as {"authorization": "…"}',
        schema: Schema.Record(
          Schema.String.check(
            Schema.isPattern(/^[A-Za-z0-9-]{1,64}$/, { expected: "the name of a header" })
          ),
          Schema.String.check(
            Schema.isPattern(/^[\x20-\x7E]{0,4096}$/, { expected: "the value of a header" })
          )
        ).check(Schema.isMaxProperties(20)),
        secret: "secret"
      })
    ),
    { doc: "Request headers of every export, such as the collector's credential.", fallback: "" }
  ),
  "telemetry.interval": setting(Kind.integer(1, 300), {
    doc: "Seconds between two exports of traces, metrics and logs.",
    fallback: "10"
  }),
  "logs.level": setting(Kind.oneOf(levels), {
    doc: "Lowest level that is logged; each request is logged at info.",
    fallback: "info"
  }),
  "database.url": setting(databaseAddress, {
    variable: "DATABASE_URL",
    doc: "Address of the PostgreSQL database (15 or newer) that stores all records; empty: the embedded one is started.",
    fallback: ""
  }),
  "database.pooler.url": setting(databaseAddress, {
    doc: "Address of a pooler in transaction mode before the same database, such as PgBouncer, for transactions and single statements (docs/database.md); empty: none.",
    fallback: ""
  }),
  "database.replica.url": setting(databaseAddress, {
    doc: "Address of a streaming replica of the same database, for reads at a point of time (docs/database.md); empty: none.",
    fallback: ""
  }),
  "database.replica.wait": setting(Kind.integer(0, 10_000), {
    doc: "Longest wait in milliseconds for the replica to replay what a read needs, before the database itself is asked.",
    fallback: "50"
  }),
  "database.connections": setting(Kind.integer(2, 500), {
    doc: "Size of the pool of database connections.",
    fallback: "24"
  }),
  data: setting(Kind.words(1024), {
    doc: "Folder of the embedded database, of generated keys and of the audit log's anchors.",
    fallback: ".data"
  }),
  "ledger.token": setting(Kind.maybe(Kind.secret(Kind.words(4096))), {
    doc: "Credential of the venue at the ledger; empty: the simulated ledger makes one at its first start.",
    fallback: ""
  }),
  "ledger.door.host": setting(Kind.words(255), {
    doc: "Address of the simulated ledger's outside door.",
    fallback: "127.0.0.1"
  }),
  "ledger.door.port": setting(Kind.port, {
    doc: "Port of the simulated ledger's outside door; 0 takes any free port.",
    fallback: "7575"
  }),
  "ledger.maxInputs": setting(Kind.integer(10, 1_000_000), {
    doc: "Largest number of contracts of earlier transactions that one ledger transaction may use, which bounds the size of a dealing cycle: an order paid on the ledger uses five. A real node's own limit may be lower.",
    fallback: String(engine.inputsMax)
  }),
  "ledger.rebootstrap": setting(Kind.maybe(Kind.integer(2, 1_000_000)), {
    doc: "Ledger epoch that may begin in a kept store, from a snapshot of a ledger that has forgotten updates which the engine has not read. The start that needs it names the number; without it the engine refuses to read on. A number whose epoch has begun does nothing.",
    fallback: ""
  }),
  "ledger.batchLines": setting(Kind.integer(1, Templates.batchLinesMax), {
    doc: "Largest number of lines that one ledger transaction adds to a distribution, rolls or directs. A real node's own limit may be lower.",
    fallback: String(engine.batchLines)
  }),
  "distribution.rateChange": setting(Kind.oneOf(Vocabulary.RateChange.members), {
    doc: "Whether a period whose points state more than one withholding rate, none of them acknowledged, is executed at the latest with an event, or refused; a policy or a standing approval may only be stricter.",
    fallback: engine.rateChange
  }),
  "distribution.partial": setting(Kind.oneOf(Vocabulary.PartialDistribution.members), {
    doc: "Whether a distribution carries the lines of holders whose earlier line is not rolled, or is refused; a policy or a standing approval may only be stricter.",
    fallback: engine.partialDistribution
  }),
  "distribution.linesMax": setting(Kind.integer(1, 1_000_000), {
    doc: "Largest number of lines of a distribution.",
    fallback: String(engine.linesMax)
  }),
  "standingApproval.longest": setting(keptFor, {
    doc: "Longest period for which a standing approval may be granted.",
    fallback: written(engine.standingApprovalLongest)
  }),
  "reserves.orderDeadline": setting(orderDeadline, {
    doc: "Time from the start of a mint or a reserve redemption to its deadline, where the caller names none.",
    fallback: written(engine.reserveOrderDeadline)
  }),
  "reconciliation.at": setting(Kind.maybe(dailyAt), {
    doc: "Time of day, and its zone, of the daily reconciliation run of the whole venue; one run a day, however many hosts run. Empty: none.",
    fallback: writtenAt(engine.reconciliationAt)
  }),
  "reserves.reportEvery": setting(Kind.maybe(reportPeriod), {
    doc: "Period of the scheduled reports of reserves, counted from 1970 on, so that one of a day is due at midnight UTC. Empty: none is scheduled.",
    fallback: written(engine.reserveReportEvery)
  }),
  "statements.sources": setting(Statements.sources, {
    doc: "Sources of statements; a source that is no longer named is inactive from the next start on.",
    fallback: ""
  }),
  "statements.maxBytes": setting(Kind.integer(1, 1024 * 1024 * 1024), {
    doc: "Largest size of a statement's file in bytes.",
    fallback: String(16 * 1024 * 1024)
  }),
  "statements.maxLines": setting(Kind.integer(1, statementLinesLimit), {
    doc: "Largest number of lines of a statement.",
    fallback: String(engine.statementLinesMax)
  }),
  "statements.timeLimit": setting(Kind.durationWithin(30 * 60_000, "PT30M"), {
    doc: "Time within which the whole request that hands a statement in must arrive.",
    fallback: "PT30S"
  }),
  "connections.pipelined": setting(Kind.integer(1, 1_000), {
    doc: "Largest number of requests that wait on a connection behind the one that is answered; one more is refused and ends the connection.",
    fallback: String(unread.pipelinedMax)
  }),
  "connections.stalled": setting(Kind.durationWithin(5 * 60_000, "PT5M"), {
    doc: "Time after which a connection is closed whose client has taken nothing of an answer that waits for it.",
    fallback: Duration.format(Duration.millis(unread.stalledWithin))
  }),
  "answers.subjectBytes": setting(Kind.integer(65_536, 1_073_741_824), {
    doc: "Bytes of answers that may wait to be sent to one subject; a further read of it is refused with `overloaded`.",
    fallback: String(unread.subjectBytes)
  }),
  "answers.hostBytes": setting(Kind.integer(65_536, 17_179_869_184), {
    doc: "Bytes of answers that may wait to be sent by an instance to all subjects; a further read is refused with `overloaded`.",
    fallback: String(unread.hostBytes)
  }),
  "answers.subjectStreams": setting(Kind.integer(1, 1_000), {
    doc: "Lists and exports without a limit that one subject may have open at a time; a further one is refused with `overloaded`.",
    fallback: String(unread.subjectStreams)
  }),
  "answers.subjectReads": setting(Kind.integer(1, 1_000), {
    doc: "Reads of one subject that an instance works on at a time; further ones of it wait for a place.",
    fallback: String(unread.subjectReads)
  }),
  "waits.subject": setting(Kind.integer(0, 10_000), {
    doc: "Calls of one subject that may wait for their end at a time (`Prefer: wait`); a further one is answered at once.",
    fallback: String(waits.subjectWaits)
  }),
  "waits.host": setting(Kind.integer(0, 100_000), {
    doc: "Calls that may wait for their end on an instance at a time; a further one is answered at once.",
    fallback: String(waits.hostWaits)
  }),
  "reads.kept": setting(Kind.integer(0, 1_073_741_824), {
    doc: "Size in bytes of an instance's cache of answers, each valid while nothing that it was read from has changed; 0: no cache.",
    fallback: String(engine.answersKept)
  }),
  "operations.atOnce": setting(Kind.integer(1, 256), {
    doc: "Largest number of operations that one instance runs at a time.",
    fallback: String(engine.operationsAtOnce)
  }),
  "operations.lease": setting(Kind.integer(1, 300), {
    doc: "Lease of an operation in seconds: an operation of a killed instance waits as long for another instance.",
    fallback: String(engine.lease / 1_000)
  }),
  "idempotency.bodyKeyWindow": setting(Kind.duration(), {
    doc: "Time during which a write without an Idempotency-Key counts as the same write when its body repeats.",
    fallback: written(Duration.millis(engine.bodyKeyWindow))
  }),
  "signing.keys": setting(SigningKeys.kind, {
    doc: "Keys of subjects for signed requests; a subject with a key signs every request that is not public.",
    fallback: ""
  }),
  "signing.window": setting(Kind.duration(1), {
    doc: "Largest difference between the time of a signature and the engine's clock.",
    fallback: "PT5M"
  }),
  "signing.basePath": setting(path, {
    doc: "Path that a proxy in front of the host takes off every address: signatures cover the whole address.",
    fallback: ""
  }),
  "rateLimit.limit": setting(callLimit, {
    doc: "Largest number of calls of a subject within the window; all of them may come at once.",
    fallback: "600"
  }),
  "rateLimit.window": setting(Kind.duration(1), {
    doc: "Window of the rate limit.",
    fallback: "PT1M"
  }),
  "rateLimit.perRole": setting(callLimits, {
    doc: "Limits that replace the common one for callers of a role; of a caller's roles the one with the largest limit counts.",
    fallback: ""
  }),
  "audit.keys": setting(KeyPairs.signing, {
    doc: "Keys that sign checkpoints of the audit log; the tenant's record publishes their public parts. Empty: the deployment makes one and keeps it under `data`.",
    fallback: ""
  }),
  "audit.anchors": setting(Kind.maybe(Kind.words(1024)), {
    doc: "File that receives the checkpoints of the audit log; keep a copy where the venue cannot change it. Empty: audit/anchors.jsonl under `data`.",
    fallback: ""
  }),
  "retention.operations": retentionPeriod("operations"),
  "retention.approvals": retentionPeriod("approvals"),
  "retention.events": retentionPeriod("events"),
  "retention.deliveries": retentionPeriod("deliveries"),
  "retention.exhaustedDeliveries": retentionPeriod("exhaustedDeliveries"),
  "retention.reconciliationRuns": retentionPeriod("reconciliationRuns"),
  "retention.clearedFindings": retentionPeriod("clearedFindings"),
  "retention.externalStatements": retentionPeriod("externalStatements"),
  "retention.auditLog": setting(Kind.maybe(keptFor), {
    doc: "Retention of the audit log; `bursar audit prune` deletes older records up to a checkpoint. Empty: for ever.",
    fallback: written(engine.auditLogKept)
  }),
  "retention.legalHold": setting(legalHold, {
    doc: "Holders and instruments under legal hold: nothing of them is deleted at any age.",
    fallback: ""
  }),
  "webhooks.keys": setting(KeyPairs.signing, {
    doc: "Keys that sign webhook deliveries; the tenant's record publishes their public parts. Empty: the deployment makes one and keeps it under `data`.",
    fallback: ""
  }),
  "webhooks.sealingKeys": setting(KeyPairs.sealing, {
    doc: "Keys that encrypt stored secrets, such as those of webhooks; the first encrypts, the others still decrypt. Empty: the deployment makes one and keeps it under `data`.",
    fallback: ""
  }),
  "webhooks.configured": setting(Webhooks.configured, {
    doc: "Webhooks that are declared here; a webhook that is no longer named is removed at the next start.",
    fallback: ""
  }),
  "webhooks.ports": setting(Kind.list(Kind.integer(1, 65_535), 16), {
    doc: "Ports that webhooks may be posted to.",
    fallback: "443,8443"
  }),
  "webhooks.allowHttp": setting(Kind.flag, {
    doc: "Whether a webhook may be posted to without TLS.",
    fallback: "false"
  }),
  "webhooks.allowAddresses": setting(Kind.list(Webhooks.network, 100), {
    doc: "Private networks that webhooks may be posted to; the address of a webhook still names a host, never an IP address.",
    fallback: ""
  }),
  "cors.origins": setting(Kind.list(origin, 100), {
    doc: "Origins of the web pages that may call the API from a browser (CORS); empty: none.",
    fallback: ""
  }),
  "console.enabled": setting(Kind.flag, {
    doc: "Whether the host serves the venue console under /console/.",
    fallback: "true"
  }),
  "console.origins": setting(Kind.list(origin, 20), {
    doc: "Origins besides that of the issuer that the console may call, such as that of the identity provider's token endpoint; empty: none.",
    fallback: ""
  }),
  "screening.script": setting(Kind.maybe(Kind.words(1024)), {
    doc: "JSON file with the answers of a scripted screening source, for trials; an embedder plugs a real source in. Empty: nobody is screened, and nobody is refused for want of a screening.",
    fallback: ""
  }),
  "screening.rescreenAfter": setting(Kind.maybe(keptFor), {
    doc: "Validity of a clear screening. Empty: as long as the source says, and until its lists change.",
    fallback: written(engine.rescreenAfter)
  }),
  successorCooling: setting(keptFor, {
    doc: "Cooling time between the registration of a holder's successor and its first use.",
    fallback: written(engine.successorCooling)
  }),
  approvalExpiry: setting(Kind.maybe(Kind.duration()), {
    doc: "Time after which an action that awaits its approvers lapses.",
    fallback: written(
      engine.approvalExpiry === null ? null : Duration.millis(engine.approvalExpiry)
    )
  }),
  "cursor.keys": setting(cursorKeys, {
    doc: "Keys that sign the cursors of lists and feeds; the first signs, the others still verify. Empty: the deployment makes one and keeps it under `data`; to keep its cursors valid beside newer keys, name it as 0:secret with the secret of keys/cursor.json.",
    fallback: ""
  })
} as const satisfies Readonly<Record<string, Setting>>

type Settings = typeof settings

/** Name of a setting. */
export type Name = keyof Settings

/** Values of all settings, by name. */
export type HostConfig = {
  readonly [K in Name]: Settings[K] extends Setting<infer A> ? A : never
}

/**
 * Name of the environment variable of a setting: BURSAR_IDEMPOTENCY_BODY_KEY_WINDOW of
 * `idempotency.bodyKeyWindow`.
 */
export const variableOf = (name: string, { variable }: Pick<Setting, "variable">): string =>
  variable ??
  `BURSAR_${name
    .replaceAll(".", "_")
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()}`

/**
 * Settings that are missing or wrong, each named with its permitted values; the host does not
 * start.
 */
export class WrongSettings extends Data.TaggedError("WrongSettings")<{
  readonly faults: ReadonlyArray<string>
}> {
  override get message(): string {
    return `wrong settings:\n${this.faults.map((fault) => `  ${fault}`).join("\n")}`
  }
}

/** A setting's value with its source, as `bursar config` prints it. */
export interface PrintedSetting {
  readonly name: string
  readonly variable: string
  /** `unset`: the setting is required and has no value. */
  readonly from: "environment" | "file" | "default" | "unset"
  /** Text of the value; null where it is a secret. */
  readonly written: string | null
}

/** Settings of sign-in: required only by a host that serves requests. */
const signIn = ["issuer", "jwksUrl"] as const

/** Settings of a maintenance command: all but those of sign-in. */
export type KeeperConfig = Omit<HostConfig, (typeof signIn)[number]>

interface ReadConfig {
  /** The settings that have a value. */
  readonly config: KeeperConfig
  readonly printedSettings: ReadonlyArray<PrintedSetting>
}

interface ReadSettings {
  /** Values by the settings' names; a required setting without a value has no entry. */
  readonly values: Readonly<Record<string, unknown>>
  readonly printedSettings: ReadonlyArray<PrintedSetting>
  /**
   * Faults in the order of the table. `missing`: a required setting without a value; `wrong`: every
   * other fault.
   */
  readonly faults: ReadonlyArray<{ readonly was: "wrong" | "missing"; readonly message: string }>
}

const readWhole: Effect.Effect<ReadSettings, WrongSettings> = Effect.gen(function* () {
  const all = Object.entries<Setting>(settings)
  const variables = new Set(all.map(([name, setting]) => variableOf(name, setting)))
  const file = yield* Sources.file(new Set(Object.keys(settings)))
  const strays = yield* Sources.strayVariables(variables.add(Sources.fileVariable))
  const values: Array<readonly [string, unknown]> = []
  const printedSettings: Array<PrintedSetting> = []
  const faults: Array<ReadSettings["faults"][number]> = []
  for (const message of strays) faults.push({ was: "wrong", message })
  for (const [name, setting] of all) {
    const variable = variableOf(name, setting)
    const assignment = givenOf(setting, yield* Sources.variable(variable), file.get(name))
    const called = assignment.from === "file" ? `${name} of the file` : `${name} (${variable})`
    if (assignment.value === undefined) {
      const message = `${called} is not set: ${setting.limit}. ${setting.doc}`
      faults.push({ was: "missing", message })
      printedSettings.push({ name, variable, from: "unset", written: "" })
      continue
    }
    if (assignment.value instanceof NotJson) {
      faults.push({
        was: "wrong",
        message: `${called}: ${assignment.value.message}. ${setting.doc}`
      })
      printedSettings.push({ name, variable, from: assignment.from, written: null })
      continue
    }
    const value = setting.read(assignment.value)
    if (Result.isSuccess(value)) values.push([name, value.success])
    else faults.push({ was: "wrong", message: faultOf(called, setting, value.failure) })
    printedSettings.push({
      name,
      variable,
      from: assignment.from,
      written: writtenOf(setting, assignment.value)
    })
  }
  return { values: Object.fromEntries(values), printedSettings, faults }
}).pipe(Effect.catchTag("WrongFile", ({ faults }) => Effect.fail(new WrongSettings({ faults }))))

const demand = (
  { faults, values }: ReadSettings,
  faultKinds: ReadonlyArray<"wrong" | "missing">
): Effect.Effect<HostConfig, WrongSettings> => {
  const messages = faults
    .filter(({ was }) => faultKinds.includes(was))
    .map(({ message }) => message)
  return messages.length > 0
    ? Effect.fail(new WrongSettings({ faults: messages }))
    : // Every name of the table that has a value is there, with what its own setting reads.
      Effect.succeed(values as unknown as HostConfig)
}

/**
 * Reads every setting, the environment before the file, and requires none: a required setting
 * without a value has no entry. Fails with all wrong settings together, by name and never with a
 * value.
 */
export const read: Effect.Effect<ReadConfig, WrongSettings> = Effect.flatMap(readWhole, (whole) =>
  Effect.map(demand(whole, ["wrong"]), (config) => ({
    config,
    printedSettings: whole.printedSettings
  }))
)

/**
 * Loads the settings of a host that serves requests. Fails with all wrong and missing settings
 * together.
 */
export const load: Effect.Effect<HostConfig, WrongSettings> = Effect.flatMap(readWhole, (whole) =>
  demand(whole, ["wrong", "missing"])
)

/** Loads the settings of a maintenance command, which needs no sign-in. */
export const loadForKeeper: Effect.Effect<KeeperConfig, WrongSettings> = Effect.map(
  read,
  ({ config }) => config
)

interface SourceValue {
  readonly from: PrintedSetting["from"]
  /** A text or a JSON value, by the setting's form; undefined: no value. */
  readonly value: unknown
}

/** Text of a variable that should be JSON and is not; the message says where. */
class NotJson extends Data.Class<{ readonly message: string }> {}

const givenOf = (setting: Setting, variable: string | undefined, inFile: unknown): SourceValue => {
  const isSet = variable !== undefined && (variable !== "" || setting.takesEmpty === true)
  if (isSet) return { from: "environment", value: formed(setting, variable) }
  if (inFile !== undefined) {
    return { from: "file", value: setting.form === "text" ? textOf(inFile) : inFile }
  }
  return {
    from: "default",
    value: setting.fallback === null ? undefined : formed(setting, setting.fallback)
  }
}

/** Parses the text of a variable by the setting's form; an empty text stays one. */
const formed = ({ form }: Setting, text: string): unknown =>
  form === "text" || text === ""
    ? text
    : Result.getOrElse(JsonText.parse(text), ({ message }) => new NotJson({ message }))

/**
 * Converts a number, flag or list of the JSON file to the text that a variable would hold; null
 * becomes the empty text.
 */
const textOf = (value: unknown): unknown => {
  if (value === null) return ""
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return Array.isArray(value) && value.every((entry) => ["string", "number"].includes(typeof entry))
    ? value.join(",")
    : value
}

const faultOf = (called: string, setting: Setting, faults: ReadonlyArray<Kind.Fault>): string => {
  const said = faults.map(({ pointer, detail }) =>
    pointer === "" ? detail : `at ${pointer}: ${detail}`
  )
  return `${called}: ${said.join("; ")}. ${setting.doc}`
}

const writtenOf = ({ secret }: Setting, value: unknown): string | null => {
  const written = typeof value === "string" ? value : JSON.stringify(value)
  return secret === "secret" && written !== "" ? null : written
}
