/** Everything a deployment may decide: every setting with its default, its limit and one sentence. */
import { Duration } from "@bursar/engine-core/kernel"
import { Config, Data, Effect, Option, Redacted, Result } from "effect"

/** The signature algorithms that a deployment may trust. */
export const algorithms = ["ES256", "ES384", "PS256", "PS384", "RS256", "RS384", "EdDSA"] as const
export type Algorithm = (typeof algorithms)[number]

/** What a text of the environment may be, and how it reads. */
interface Kind<A> {
  readonly limit: string
  /** Undefined: the text is not what the limit says. */
  readonly read: (text: string) => A | undefined
}

export interface Setting<A = unknown> extends Kind<A> {
  /** The variable of the environment it is read from. */
  readonly variable: string
  /** One sentence: what it decides. */
  readonly doc: string
  /** What holds where it is not set; null: it must be set. */
  readonly fallback: string | null
  readonly secret: "secret" | "open"
}

const setting = <A>(
  variable: string,
  kind: Kind<A>,
  of: { readonly doc: string; readonly fallback?: string; readonly secret?: "secret" }
): Setting<A> => ({
  variable,
  ...kind,
  doc: of.doc,
  fallback: of.fallback ?? null,
  secret: of.secret ?? "open"
})

// Kinds of settings

const matching = (limit: string, pattern: RegExp): Kind<string> => ({
  limit,
  read: (text) => (pattern.test(text) ? text : undefined)
})

const words = (max: number): Kind<string> => ({
  limit: `1 to ${max} characters`,
  read: (text) => (text.length >= 1 && text.length <= max ? text : undefined)
})

const integer = (min: number, max: number): Kind<number> => ({
  limit: `${min} to ${max}`,
  read: (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  }
})

const port = integer(0, 65_535)

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]"

/** Keys come over TLS, except from this machine itself. */
const keysAddress: Kind<URL> = {
  limit: "an https address, or an http one of this machine",
  read: (text) => {
    if (!URL.canParse(text)) return undefined
    const url = new URL(text)
    return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))
      ? url
      : undefined
  }
}

const duration: Kind<number> = {
  limit: "an ISO 8601 duration of at most a year, such as PT24H",
  read: (text) => {
    const parsed = Duration.parse(text)
    if (Result.isFailure(parsed)) return undefined
    const { years, months, days, time } = parsed.success
    if (years !== 0 || months !== 0) return undefined
    const millis = days * 86_400_000 + Number(time / 1_000_000n)
    return millis > 0 && millis <= 366 * 86_400_000 ? millis : undefined
  }
}

/** A setting that may be left empty. */
const maybe = <A>(kind: Kind<A>): Kind<A | null> => ({
  limit: `${kind.limit}; empty: none`,
  read: (text) => (text === "" ? null : kind.read(text))
})

const secret = (kind: Kind<string>): Kind<Redacted.Redacted> => ({
  limit: kind.limit,
  read: (text) => {
    const value = kind.read(text)
    return value === undefined ? undefined : Redacted.make(value)
  }
})

const algorithmList: Kind<ReadonlyArray<Algorithm>> = {
  limit: `some of ${algorithms.join(", ")}, separated by commas`,
  read: (text) => {
    const named = text.split(",").map((name) => name.trim())
    const chosen = algorithms.filter((algorithm) => named.includes(algorithm))
    return chosen.length === named.length ? chosen : undefined
  }
}

interface CursorKey {
  readonly id: number
  readonly secret: Uint8Array
}

/** `1:<base64url>,0:<base64url>`: the first signs, the others still verify. */
const cursorKeys: Kind<ReadonlyArray<CursorKey>> = {
  limit: "id:secret pairs separated by commas; ids 0 to 255, secrets of 32 bytes in base64url",
  read: (text) => {
    if (text === "") return []
    const keys = text.split(",").map((pair) => {
      const [, id, secret] = /^([0-9]{1,3}):([A-Za-z0-9_-]{43})=?$/.exec(pair.trim()) ?? []
      return { id: Number(id ?? Number.NaN), secret: Buffer.from(secret ?? "", "base64url") }
    })
    const ids = new Set(keys.map(({ id }) => id))
    return keys.every(({ id, secret }) => id <= 255 && secret.length === 32) &&
      ids.size === keys.length
      ? keys
      : undefined
  }
}

// The table

export const settings = {
  tenantId: setting(
    "BURSAR_TENANT_ID",
    matching("1 to 64 of A-Z a-z 0-9 -", /^[A-Za-z0-9-]{1,64}$/),
    {
      doc: "The venue's id, as its public record and its webhooks name it.",
      fallback: "venue-1"
    }
  ),
  displayName: setting("BURSAR_DISPLAY_NAME", words(100), {
    doc: "What people call the venue.",
    fallback: "Venue One"
  }),
  issuer: setting("BURSAR_ISSUER", words(2048), {
    doc: "The issuer that every bearer token must name, exactly."
  }),
  audience: setting("BURSAR_AUDIENCE", words(2048), {
    doc: "The audience that every bearer token must name, exactly.",
    fallback: "urn:bursar"
  }),
  jwksUrl: setting("BURSAR_JWKS_URL", keysAddress, {
    doc: "Where the identity provider's keys are read."
  }),
  algorithms: setting("BURSAR_ALGORITHMS", algorithmList, {
    doc: "The signature algorithms a token may have; this can only narrow the list.",
    fallback: algorithms.join(",")
  }),
  clientId: setting("BURSAR_CLIENT_ID", words(256), {
    doc: "The identity provider's client that people sign in with.",
    fallback: "venue-web"
  }),
  host: setting("BURSAR_HOST", words(255), {
    doc: "The address the API listens on.",
    fallback: "127.0.0.1"
  }),
  port: setting("BURSAR_PORT", port, {
    doc: "The port the API listens on; 0 takes any that is free.",
    fallback: "8080"
  }),
  managementHost: setting("BURSAR_MANAGEMENT_HOST", words(255), {
    doc: "The address the management listener is bound to; it is not for the public.",
    fallback: "127.0.0.1"
  }),
  managementPort: setting("BURSAR_MANAGEMENT_PORT", port, {
    doc: "The port of /livez and /readyz; 0 takes any that is free.",
    fallback: "9464"
  }),
  basePath: setting(
    "BURSAR_BASE_PATH",
    matching("empty, or a path such as /engine", /^(\/[A-Za-z0-9._~-]{1,64}){0,8}$/),
    {
      doc: "The path that a proxy in front adds to every address of the API.",
      fallback: ""
    }
  ),
  databaseUrl: setting(
    "DATABASE_URL",
    maybe(secret(matching("a postgres:// address", /^postgres(ql)?:\/\/.{1,2000}$/))),
    {
      doc: "The PostgreSQL (15 or newer) that holds everything; empty starts the embedded one.",
      fallback: "",
      secret: "secret"
    }
  ),
  databaseConnections: setting("BURSAR_DATABASE_CONNECTIONS", integer(2, 500), {
    doc: "How many database connections the engine keeps.",
    fallback: "24"
  }),
  dataFolder: setting("BURSAR_DATA", words(1024), {
    doc: "The folder of the embedded database and of what the engine makes for itself.",
    fallback: ".data"
  }),
  ledgerToken: setting("BURSAR_LEDGER_TOKEN", maybe(secret(words(4096))), {
    doc: "The venue's own token at the ledger; empty: the simulated ledger makes one at first start.",
    fallback: "",
    secret: "secret"
  }),
  doorHost: setting("BURSAR_LEDGER_DOOR_HOST", words(255), {
    doc: "The address of the simulated ledger's outside door.",
    fallback: "127.0.0.1"
  }),
  doorPort: setting("BURSAR_LEDGER_DOOR_PORT", port, {
    doc: "The port of the simulated ledger's outside door; 0 takes any that is free.",
    fallback: "7575"
  }),
  operationsAtOnce: setting("BURSAR_OPERATIONS_AT_ONCE", integer(1, 256), {
    doc: "How many operations one instance runs at a time.",
    fallback: "8"
  }),
  operationLease: setting("BURSAR_OPERATION_LEASE", integer(1, 300), {
    doc: "For how many seconds a worker holds an operation without renewing: how long one waits that a killed instance held.",
    fallback: "30"
  }),
  bodyKeyWindow: setting("BURSAR_BODY_KEY_WINDOW", duration, {
    doc: "For how long a write without an Idempotency-Key is the same write when its body repeats.",
    fallback: "PT24H"
  }),
  approvalExpiry: setting("BURSAR_APPROVAL_EXPIRY", maybe(duration), {
    doc: "After how long an action that awaits its approvers lapses.",
    fallback: ""
  }),
  cursorKeys: setting("BURSAR_CURSOR_KEYS", cursorKeys, {
    doc: "The keys that sign list cursors, shared by all instances; empty: each makes its own.",
    fallback: "",
    secret: "secret"
  })
} as const satisfies Readonly<Record<string, Setting>>

type Settings = typeof settings

export type HostConfig = {
  readonly [K in keyof Settings]: Settings[K] extends Setting<infer A> ? A : never
}

/** Settings that are missing or wrong, each named with what it may be; the host does not start. */
export class WrongSettings extends Data.TaggedError("WrongSettings")<{
  readonly faults: ReadonlyArray<string>
}> {
  override get message(): string {
    return `wrong settings:\n${this.faults.map((fault) => `  ${fault}`).join("\n")}`
  }
}

type Reading<A> = Effect.Effect<Result.Result<A, string>>

const reading = <A>(of: Setting<A>): Reading<A> =>
  Config.option(Config.String(of.variable)).pipe(
    Effect.map((given) => {
      const text = Option.isSome(given) ? given.value : of.fallback
      if (text === null) return Result.fail(`${of.variable} is not set: ${of.limit}. ${of.doc}`)
      const value = of.read(text)
      return value === undefined
        ? Result.fail(`${of.variable} is not ${of.limit}. ${of.doc}`)
        : Result.succeed(value)
    }),
    Effect.catch((error) => Effect.succeed(Result.fail(`${of.variable}: ${error.message}`)))
  )

/** Reads every setting; all faults are told at once, and never a value. */
export const load: Effect.Effect<HostConfig, WrongSettings> = Effect.gen(function* () {
  const entries: Array<readonly [string, unknown]> = []
  const faults: Array<string> = []
  for (const [name, setting] of Object.entries(settings)) {
    const read = yield* reading<unknown>(setting)
    if (Result.isSuccess(read)) entries.push([name, read.success])
    else faults.push(read.failure)
  }
  if (faults.length > 0) return yield* new WrongSettings({ faults })
  // Every name of the table is there, with what its own setting reads.
  return Object.fromEntries(entries) as unknown as HostConfig
})
