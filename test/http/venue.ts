/** A whole venue on loopback for the tests of the wire: the engine on memory, its host, its issuer. */
import {
  Engine,
  type Intake,
  type Refusal,
  Settings,
  settingsDefaults,
  type Vocabulary
} from "@bursar/engine-core"
import { Offset, Party } from "@bursar/engine-core/kernel"
import {
  type Bulk,
  type Feed,
  type Ids,
  Ledger,
  type WorkQueue,
  ScreeningSource,
  StatementSource
} from "@bursar/engine-core/ports"
import * as Host from "@bursar/http-host"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Layer, Logger, ManagedRuntime, Metric, Option, Stream } from "effect"
import { HttpServer } from "effect/http"
import {
  exportJWK,
  generateKeyPair,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT
} from "jose"
import { connect } from "node:net"
import { expect } from "vitest"
import { table } from "#host/api/Route.ts"
import { tables } from "./tables.ts"
import * as Witness from "./witness.ts"

type Tables = Host.Tables

export const issuer = "https://issuer.test"
export const audience = "urn:bursar:test"

const keys = await generateKeyPair("ES256", { extractable: true })
const kid = "test-1"
export const publicJwk = { ...(await exportJWK(keys.publicKey)), kid, alg: "ES256", use: "sig" }
export const privateKey = keys.privateKey

/** A token of the test issuer; any part of it may be replaced. */
export const token = (
  claims: JWTPayload & { readonly roles?: unknown },
  header: Partial<JWTHeaderParameters> = {}
): Promise<string> =>
  new SignJWT({
    iss: issuer,
    aud: audience,
    sub: "somebody",
    exp: Math.floor(Date.now() / 1000) + 3600,
    ...claims
  })
    .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid, ...header })
    .sign(privateKey)

/** A person with roles; `sub` is the first role unless given. */
export const bearer = async (
  roles: ReadonlyArray<Vocabulary.Role | string>,
  claims: JWTPayload = {}
): Promise<string> =>
  `Bearer ${await token({ roles: [...roles], sub: `${roles.join("+")}-1`, name: "Some One", ...claims })}`

/** A ledger on which nothing ever happens. */
const quietLedger: Ledger.Ledger["Service"] = {
  venue: Party.make({ hint: "venue", fingerprint: "1220aa" }),
  submit: () => Effect.die(new Error("nothing is submitted here")),
  outcome: () => Effect.succeed(Option.none()),
  updates: () => Stream.never,
  acs: () => Stream.empty,
  ledgerEnd: Effect.succeed(Offset.zero),
  horizon: Effect.succeed(Offset.zero),
  describe: Effect.succeed<Ledger.Description>({
    kind: "simulated",
    version: "1",
    participant: "quiet",
    features: [],
    rights: []
  }),
  packages: () => Effect.succeed([])
}

type Storage = Layer.Layer<Memory.Storage, { readonly message: string }>

const engineOf = (
  operations: Tables["operations"],
  storage: Storage,
  ledger: Partial<Ledger.Ledger["Service"]> | undefined
) =>
  Engine.layerOf({ operations, fromLedger: [] }).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        storage,
        NodeCrypto.layer,
        StatementSource.layerNone,
        ScreeningSource.layerNone,
        Layer.succeed(Ledger.Ledger, { ...quietLedger, ...ledger })
      )
    )
  )

export const tenant: Host.Venue = {
  tenantId: "venue-1",
  displayName: "Venue One",
  api: ["v1"],
  signIn: {
    issuer,
    audience,
    clientId: "venue-web",
    scopes: ["openid"],
    parameters: { resource: "urn:bursar:test" }
  },
  keys: []
}

export interface Venue {
  readonly url: string
  readonly port: number
  readonly logs: ReadonlyArray<string>
  /** Runs the queued operations. */
  readonly settle: () => Promise<void>
  readonly close: () => Promise<void>
  readonly run: <A>(
    effect: Effect.Effect<A, unknown, Engine.Services | Bulk | Feed | Ids | WorkQueue>
  ) => Promise<A>
}

export const open = async (
  options: {
    readonly vitals?: Effect.Effect<Host.Readiness.Vitals, Refusal.Unavailable>
    /** Verifier of tokens; that of the test issuer by default. */
    readonly issuer?: string
    readonly jwks?: Layer.Layer<Host.Jwks.Jwks>
    readonly basePath?: string
    readonly tables?: Tables
    readonly signing?: Partial<Host.SignedRequests.Rules>
    readonly rateLimit?: Partial<Host.RateLimit.Rules>
    readonly origins?: ReadonlyArray<string>
    /** The venue console; not served by default. */
    readonly console?: Host.Options["console"]
    readonly times?: Partial<Host.Times>
    /** Storage ports in place of those in memory. */
    readonly storage?: Storage
    readonly settings?: Partial<typeof settingsDefaults>
    /** Members of the ledger that a test replaces; the others do nothing. */
    readonly ledger?: Partial<Ledger.Ledger["Service"]>
    /** Intake of statements in place of the engine's own. */
    readonly intake?: Layer.Layer<Intake.StatementIntake>
    /** Limits of a body that is a file. */
    readonly uploads?: Partial<Host.Uploads>
    /** Limits of what is answered and not read. */
    readonly unread?: Partial<Host.UnreadLimits>
    /** Limits of calls that wait for their end. */
    readonly waits?: Partial<Host.WaitLimits>
    /** Exporter of telemetry. */
    readonly telemetry?: Layer.Layer<never>
  } = {}
): Promise<Venue> => {
  const served = options.tables ?? tables
  const logs: Array<string> = []
  const log = Logger.layer([Logger.map(Host.Logs.line, (line) => void logs.push(line))])
  const vitals = {
    projectionOffset: Offset.zero,
    ledgerEnd: Offset.zero,
    oldestQueuedSeconds: 0,
    lagSeconds: 0,
    migrationsPending: false
  }
  const signIn = Host.Authentication.layer({
    issuer: options.issuer ?? issuer,
    audience,
    algorithms: Host.HostConfig.algorithms
  }).pipe(Layer.provide(options.jwks ?? Host.Jwks.layerLocal({ keys: [publicJwk] })))
  const readiness = Host.Readiness.layer({ version: "0.1.0" }).pipe(
    Layer.provide(
      Layer.succeed(Host.Readiness.Vital, { look: options.vitals ?? Effect.succeed(vitals) })
    )
  )
  const host = Host.layer({
    tables: served,
    tenant,
    basePath: options.basePath ?? "",
    host: "127.0.0.1",
    port: 0,
    signing: { keys: [], window: 300_000, basePath: "", ...options.signing },
    // A test calls more than a person does; those of the limit set their own.
    rateLimit: { limit: 1_000_000, window: 60_000, perRole: {}, ...options.rateLimit },
    origins: options.origins ?? [],
    ...(options.console === undefined ? {} : { console: options.console })
  })
  const times = Layer.effect(
    Host.Times,
    Effect.map(Host.Times, (usual) => ({ ...usual, ...options.times }))
  )
  const uploads = Layer.effect(
    Host.Uploads,
    Effect.map(Host.Uploads, (usual) => ({ ...usual, ...options.uploads }))
  )
  const unread = Layer.effect(
    Host.UnreadLimits,
    Effect.map(Host.UnreadLimits, (usual) => ({ ...usual, ...options.unread }))
  )
  const waits = Layer.effect(
    Host.WaitLimits,
    Effect.map(Host.WaitLimits, (usual) => ({ ...usual, ...options.waits }))
  )
  const runtime = ManagedRuntime.make(
    host.pipe(
      Layer.provide(Layer.mergeAll(signIn, readiness, times, uploads, unread, waits)),
      (served) => (options.intake === undefined ? served : Layer.provide(served, options.intake)),
      Layer.provideMerge(
        engineOf(served.operations, options.storage ?? Memory.layer, options.ledger)
      ),
      Layer.provideMerge(options.telemetry ?? Layer.empty),
      Layer.provideMerge(log),
      // The registry of metrics is the process's own otherwise, shared with every other venue.
      Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, new Map())),
      Layer.provide(Layer.succeed(Settings, { ...settingsDefaults, ...options.settings }))
    )
  )
  const port = await runtime.runPromise(
    Effect.map(HttpServer.HttpServer, ({ address }) => ("port" in address ? address.port : 0))
  )
  const witness = Witness.watch({ port, routes: table(served) })
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    logs,
    settle: () => runtime.runPromise(Effect.flatMap(Engine.Engine, ({ settle }) => settle)),
    close: async () => {
      await runtime.dispose()
      witness.stop()
      // Every answer of every test here is one that the document of its routes allows.
      expect(witness.breaches()).toEqual([])
    },
    run: (effect) => runtime.runPromise(effect)
  }
}

/** A response's JSON, taken to have the shape that the test then checks. */
export const json = async <A>(response: Response): Promise<A> => JSON.parse(await response.text())

export interface Listed {
  readonly value: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly next: string | null
}

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly requestId: string
  readonly retryable: boolean
  readonly retryAfter: number | null
  readonly errors: ReadonlyArray<{ readonly pointer: string; readonly detail: string }> | null
}

/** The slug of an answer that has to be a problem, with everything a problem must have. */
export const slugOf = async (response: Response): Promise<string> => {
  const problem = await json<Problem>(response)
  expect(response.headers.get("content-type")).toBe("application/problem+json")
  expect(Object.keys(problem).toSorted()).toEqual(problemMembers)
  expect(problem.status).toBe(response.status)
  expect(problem.requestId).toBe(response.headers.get("x-request-id"))
  const retryAfter = response.headers.get("retry-after")
  expect(problem.retryAfter).toBe(retryAfter === null ? null : Number(retryAfter))
  return problem.type.replace("urn:bursar:problem:", "")
}

/** Every member a problem has. */
export const problemMembers = [
  "type",
  "title",
  "status",
  "detail",
  "requestId",
  "gate",
  "check",
  "recovery",
  "packageName",
  "party",
  "contractId",
  "reason",
  "retryAfter",
  "retryable",
  "projectionOffset",
  "ledgerEnd",
  "code",
  "policyVersion",
  "errors"
].toSorted()

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly as?: string
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request as a client does: JSON and a bearer. */
export const send = (venue: Venue, { method = "GET", path, as, body, headers }: Sent) =>
  fetch(`${venue.url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      ...(as === undefined ? {} : { authorization: as }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : Buffer.from(body) })
  })

/**
 * Answer of a server to exactly these bytes, until it closes the connection or is silent for
 * `silence` ms.
 */
export const raw = (port: number, bytes: string | Buffer, silence = 1500): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1")
    const parts: Array<Buffer> = []
    const done = () => {
      socket.destroy()
      resolve(Buffer.concat(parts).toString("latin1"))
    }
    socket.setTimeout(silence, done)
    socket.on("data", (part) => parts.push(part))
    socket.on("close", done)
    socket.on("error", (error) => (parts.length > 0 ? done() : reject(error)))
    socket.write(bytes)
  })
