/**
 * Twins: two venues that differ by one act on a holder, so that all answers to its investor can be
 * compared.
 */
import {
  Catalogue,
  Engine,
  type Read,
  Settings,
  settingsDefaults,
  type Vocabulary
} from "@bursar/engine-core"
import { Base32, Instant, Offset } from "@bursar/engine-core/kernel"
import {
  Documents,
  FactLog,
  Feed,
  Ids,
  type Ledger,
  ProjectionLog,
  ScreeningSource,
  WebhookSender,
  type Bulk,
  StatementSource
} from "@bursar/engine-core/ports"
import * as Host from "@bursar/http-host"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Clock, Context, Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import * as Venue from "./venue.ts"

const digest = (text: string) => createHash("sha256").update(text).digest()

/** Counters in place of random ids: the nth id of a kind is the same in both venues. */
const ids = (): Ids["Service"] => {
  const counts = new Map<string, number>()
  const next = (kind: string, length: number): Uint8Array => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return Uint8Array.from(
      { length },
      (_, at) => digest(`${kind} ${count} ${at >> 5}`)[at & 31] ?? 0
    )
  }
  return {
    make: (prefix) =>
      Effect.map(
        Clock.currentTimeMillis,
        (millis) => `${prefix}_${Base32.encode(millis, next(prefix, 10))}`
      ),
    uuid: Effect.sync(() => Buffer.from(next("uuid", 16)).toString("hex")),
    bytes: (count) => Effect.sync(() => next("bytes", count))
  }
}

type Node = SimulatedLedger.Participant["Service"]

/** A party of one name has one key. */
const keyed = (node: Node): Node => ({
  ...node,
  admin: {
    ...node.admin,
    addParty: (party) =>
      node.admin.addParty({ publicKey: new Uint8Array(digest(`key of ${party.hint}`)), ...party })
  }
})

const ledger = Layer.unwrap(
  Effect.gen(function* () {
    const { admin } = yield* SimulatedLedger.Participant
    const { token } = yield* admin.addParty({
      hint: "venue",
      kind: "local",
      userId: "bursar-engine"
    })
    return SimulatedLedger.Venue.layer({ token })
  })
).pipe(
  Layer.provideMerge(
    Layer.effect(SimulatedLedger.Participant, Effect.map(SimulatedLedger.Participant, keyed)).pipe(
      Layer.provideMerge(
        SimulatedLedger.layerMemory({ ledgerId: "twin", participantId: "participant-1" })
      )
    )
  ),
  Layer.orDie
)

/** Calls of a store, in order. */
type Asked = Array<string>

/** A store whose calls are noted: which, and of which collection. */
const noting = <S extends object>(service: S, name: string, calls: Asked): S =>
  new Proxy(service, {
    get: (target, member, receiver) => {
      const value: unknown = Reflect.get(target, member, receiver)
      if (typeof value !== "function") return value
      return (...given: ReadonlyArray<unknown>) => {
        const [first] = given
        const place =
          typeof first === "object" && first !== null && "collection" in first
            ? String(first.collection)
            : typeof first === "string"
              ? first
              : ""
        calls.push(`${name}.${String(member)} ${place}`)
        return Reflect.apply(value, target, given)
      }
    }
  })

const noted = (calls: Asked) =>
  Layer.effectContext(
    Effect.gen(function* () {
      return Context.make(Documents, noting(yield* Documents, "Documents", calls)).pipe(
        Context.add(FactLog, noting(yield* FactLog, "FactLog", calls)),
        Context.add(Feed, noting(yield* Feed, "Feed", calls)),
        Context.add(ProjectionLog, noting(yield* ProjectionLog, "ProjectionLog", calls))
      )
    })
  ).pipe(Layer.provideMerge(Memory.layer))

/** A court's order, as a restriction cites it. */
export const order = {
  authority: "Bezirksgericht Zug, Kammer 7",
  reference: "Z 2026/123456",
  documentHash: "c0ffee".padEnd(64, "0")
}

/** Findings of the screening source by holder; for all other holders `none`. */
export type Found = Map<string, "none" | "possible" | "confirmed">

const screening = (found: Found): ScreeningSource.Source => ({
  screens: "yes",
  listVersion: Effect.succeed("1"),
  ask: ({ holderId }) =>
    Effect.map(Instant.now, (screenedAt) => ({
      found: found.get(holderId) ?? "none",
      screenedAt,
      listVersion: "1",
      validUntil: null,
      reason: null
    }))
})

/** One of the two, as its tests reach it. */
export interface Twin {
  readonly port: number
  readonly found: Found
  readonly storeCalls: Asked
}

const host = Host.layer({
  tables: Catalogue,
  tenant: Venue.tenant,
  basePath: "",
  host: "127.0.0.1",
  port: 0,
  signing: { keys: [], window: 300_000, basePath: "" },
  rateLimit: { limit: 1_000_000, window: 60_000, perRole: {} },
  origins: []
})

const signIn = Host.Authentication.layer({
  issuer: Venue.issuer,
  audience: Venue.audience,
  algorithms: Host.HostConfig.algorithms
}).pipe(Layer.provide(Host.Jwks.layerLocal({ keys: [Venue.publicJwk] })))

/** Ready, without looking again and again: two seconds are nothing on a clock that is set. */
const readiness = Layer.succeed(Host.Readiness.Readiness, {
  current: Effect.succeed({
    _tag: "Ready" as const,
    status: "up" as const,
    ready: true,
    api: "v1",
    version: "0.1.0",
    startedAt: Instant.of("2026-07-31T00:00:00Z"),
    projectionOffset: Offset.zero,
    ledgerEnd: Offset.zero
  }),
  stopping: Effect.void
})

/** A host over the given engine, at a port of its own. */
export const served = host.pipe(Layer.provide(Layer.mergeAll(signIn, readiness)))

export type Services =
  | Engine.Services
  | Bulk
  | Ledger.Ledger
  | SimulatedLedger.Participant
  | HttpServer.HttpServer

/** A venue with a clock of its own, until the scope ends. */
export const within = <A>(
  use: (twin: Twin) => Effect.Effect<A, unknown, Services>,
  settings: Partial<typeof settingsDefaults> = {},
  sender: WebhookSender.Sender = WebhookSender.none
): Promise<A> => {
  const found: Found = new Map()
  const storeCalls: Asked = []
  const layer = served.pipe(
    Layer.provideMerge(Engine.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        noted(storeCalls),
        NodeCrypto.layerCrypto,
        StatementSource.layerNone,
        Layer.succeed(Ids, ids()),
        ledger
      )
    ),
    Layer.provide(Layer.succeed(ScreeningSource.ScreeningSource, screening(found))),
    Layer.provide(Layer.succeed(WebhookSender.WebhookSender, sender)),
    Layer.provide(Layer.succeed(Settings, { ...settingsDefaults, ...settings })),
    Layer.provideMerge(Logger.layer([])),
    Layer.provideMerge(TestClock.layer())
  )
  return Effect.runPromise(
    Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      return yield* use({ port: "port" in address ? address.port : 0, found, storeCalls })
    }).pipe(Effect.provide(layer), Effect.orDie)
  )
}

/** A call as it is answered: its status, its headers but for the wall clock's, and its bytes. */
export const call = (
  { port }: Twin,
  call: {
    readonly path: string
    readonly as: string
    readonly body?: object
    readonly key?: string
  }
) =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}${call.path}`, {
      method: call.body === undefined ? "GET" : "POST",
      headers: {
        authorization: call.as,
        "x-request-id": "the-same",
        ...(call.key === undefined ? {} : { "idempotency-key": call.key }),
        ...(call.body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) })
    })
    const headers = [...response.headers]
      .filter(([name]) => name !== "date")
      .map(([name, value]) => `${name}: ${value}`)
    return { status: response.status, head: headers.join("\n"), text: await response.text() }
  })

/** Every read that a role may make. */
export const readsOf = (role: "investor" | "app"): ReadonlyArray<Read.Read> =>
  Catalogue.queries.filter((read) => role in read.audience)

/** A token that holds at any time a test may play in. */
export const token = (roles: Vocabulary.Role | ReadonlyArray<Vocabulary.Role>, holder?: string) =>
  Effect.promise(() =>
    Venue.bearer([roles].flat(), {
      exp: Instant.toEpochMillis(Instant.of("2030-01-01T00:00:00Z")) / 1000,
      ...(holder === undefined ? {} : { holder })
    })
  )

/** Points of reads that `mark` collects as a story goes on: the latest offset and instant of each call. */
export const pinsOf = (twin: Twin) => {
  const points: Array<string> = []
  const mark = Effect.gen(function* () {
    const as = yield* token("investor", "h1")
    const { text } = yield* call(twin, { path: "/v1/instruments", as })
    const { offset, now } = JSON.parse(text) as { readonly offset: number; readonly now: string }
    points.push(`at=${offset}`, `asOf=${now}`)
    yield* TestClock.adjust("1 second")
  })
  return { points, mark }
}
