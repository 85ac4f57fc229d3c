/**
 * Plays the stories in which a write of every kind succeeds, each before a host of its own, and reads
 * every route over HTTP: the bodies and answers that the document shows as examples.
 */
import {
  Catalogue,
  Engine,
  FourEyes,
  Refusal,
  Settings,
  settingsDefaults
} from "@bursar/engine-core"
import { Base32, Instant, Offset, PlainJson } from "@bursar/engine-core/kernel"
import { Ids, WebhookSender } from "@bursar/engine-core/ports"
import * as Host from "@bursar/http-host"
import crypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"
import { Clock, Effect, Layer, Metric, References, Result } from "effect"
import { HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { formsOf, type Route } from "#host/api/Route.ts"
import { routes } from "#host/api/Api.ts"
import { world } from "../engine/world.ts"
import * as Webhooks from "../feeds/webhooks.ts"
import * as Venue from "../http/venue.ts"
import { type Ask, type Story, stories } from "./stories.ts"

/** Bodies and answers as texts, by the name of the route and what they are: `holds.get 200`. */
export type Examples = ReadonlyMap<string, string>

/** Texts by their name, the best of those that were met. */
class Best {
  private readonly texts = new Map<string, string>()
  meet(name: string, whole: string): void {
    const text = / (?:answer|20[0-2])$/.test(name) ? cut(whole) : whole
    const before = this.texts.get(name)
    if (before === undefined || isBetter(text, before)) this.texts.set(name, text)
  }
  get all(): Examples {
    return new Map([...this.texts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/**
 * An answer of which a person sees the form at a glance: of each list its first row, of hashes, cursors,
 * the fingerprints of parties and the ids of contracts the first digits.
 */
const cut = (text: string): string =>
  PlainJson.stringify(cutPlain(Result.getOrThrow(PlainJson.parse(text))))

const cutPlain = (plain: PlainJson.Plain): PlainJson.Plain => {
  if (typeof plain === "string") {
    return plain
      .replaceAll(/[0-9a-f]{32,}/g, (hex) => hex.slice(0, 8))
      .replaceAll(/[\w-]{100,}/g, (cursor) => cursor.slice(0, 16))
  }
  if (Array.isArray(plain)) return plain.slice(0, 1).map(cutPlain)
  if (typeof plain !== "object" || plain === null || PlainJson.isPlainNumber(plain)) return plain
  return Object.fromEntries(Object.entries(plain).map(([name, member]) => [name, cutPlain(member)]))
}

/** Up to this many characters an answer with its result is better than one that has none yet. */
const resultMax = 1_000

/**
 * The shortest says enough, since the document is read as one piece; of a write, the shortest that has a
 * result, unless that is long.
 */
const isBetter = (text: string, than: string): boolean =>
  (rank(text) - rank(than) || text.length - than.length) < 0

const rank = (text: string): number =>
  text.startsWith('{"state":"succeeded"') && text.length <= resultMax ? 0 : 1

/** Ids by counting: a story that is played again makes the same ones. */
const counted = () => {
  let count = 0
  const bytes = (length: number): Uint8Array => {
    count += 1
    const made = new Uint8Array(length)
    new DataView(made.buffer).setUint32(Math.max(0, length - 4), count)
    return made
  }
  return Layer.succeed(Ids, {
    make: (prefix) =>
      Effect.map(
        Clock.currentTimeMillis,
        (millis) => `${prefix}_${Base32.encode(millis, bytes(10))}`
      ),
    uuid: Effect.sync(() => `00000000-0000-4000-8000-${String(++count).padStart(12, "0")}`),
    bytes: (length) => Effect.sync(() => bytes(length))
  })
}

/** A caller signs in by the name of a role. */
const signIn = Layer.succeed(Host.Authentication.Authentication, {
  caller: ([authorization = ""]) => {
    const [role = "", subject = `${role}-1`] = authorization.replace("Bearer ", "").split("/")
    if (role === "nobody") {
      return Effect.fail(
        Refusal.refused("unauthenticated", { detail: "The bearer token is not valid." })
      )
    }
    const roles = role.split("+") as never
    const caller = { sub: subject, name: null, email: null, roles, holderId: null, party: null }
    return Effect.succeed(caller)
  }
})

const readiness = Layer.succeed(Host.Readiness.Readiness, {
  current: Effect.succeed({
    _tag: "Ready" as const,
    status: "up" as const,
    ready: true,
    api: "v1",
    version: "1.0.0",
    startedAt: Instant.of("2026-07-31T06:00:00Z"),
    projectionOffset: Offset.of(1204),
    ledgerEnd: Offset.of(1204)
  }),
  stopping: Effect.void
})

const layerOf = ({ settings = {} }: Story, best: Best) => {
  const all = {
    ...settingsDefaults,
    ...Webhooks.settings,
    cursorKeys: [{ id: 1, secret: new Uint8Array(32).fill(1) }],
    ...settings
  }
  // No two writes are of one instant.
  const moving = Layer.effect(
    Engine.Engine,
    Effect.map(Engine.Engine, (self) =>
      Engine.Engine.of({ ...self, settle: Effect.tap(self.settle, () => TestClock.adjust(1)) })
    )
  )
  const served = Host.layer({
    tables: Catalogue,
    tenant: Venue.tenant,
    basePath: "",
    host: "127.0.0.1",
    port: 0,
    signing: { keys: [], window: 300_000, basePath: "" },
    rateLimit: { limit: 1_000_000, window: 60_000, perRole: {} },
    origins: []
  })
  const heard = Layer.effect(
    FourEyes,
    Effect.map(FourEyes, (self) =>
      FourEyes.of({
        ...self,
        submit: (operation, call) =>
          Effect.tap(self.submit(operation, call), ({ value }) =>
            Effect.sync(() => {
              if (value !== null) best.meet(`${operation.kind} answer`, PlainJson.stringify(value))
            })
          )
      })
    )
  )
  return served.pipe(
    Layer.provide(Layer.mergeAll(signIn, readiness)),
    Layer.provideMerge(Layer.mergeAll(moving, heard)),
    Layer.provideMerge(world({ settings: all, ids: counted() })),
    Layer.provideMerge(Layer.succeed(WebhookSender.WebhookSender, new Webhooks.Receivers().sender)),
    Layer.provide(Layer.succeed(Metric.MetricRegistry, new Map())),
    Layer.provide(Layer.succeed(Settings, all))
  )
}

/** Plays one story, and meets what its host answers then. */
const playOne = (story: Story, best: Best) =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const url = `http://127.0.0.1:${"port" in address ? address.port : 0}`
    const ask: Ask = (call) =>
      Effect.promise(async () => {
        const answer = await send(url, call)
        if (answer.status >= 400) best.meet(`${slugOf(answer.text)} refused`, answer.text)
        return answer
      })
    yield* story.play({
      ask,
      met: (name, text) => Effect.sync(() => best.meet(name, text))
    })
    yield* Effect.promise(() => readAll(url, best))
  }).pipe(Effect.provide(layerOf(story, best)))

const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex")

/**
 * Keys of parties, and random bytes, by counting until they are let go: a story that is played again has
 * the same parties.
 */
const countKeys = (): (() => void) => {
  const { generateKeyPairSync } = crypto
  let count = 0
  const fill = <A extends ArrayBufferView | null>(view: A): A => {
    if (view === null) return view
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    count += 1
    const digest = crypto.createHash("sha256").update(`bytes ${count}`).digest()
    for (let at = 0; at < bytes.length; at++) bytes[at] = digest[at % digest.length] ?? 0
    return view
  }
  Object.defineProperty(globalThis.crypto, "getRandomValues", { value: fill, configurable: true })
  const counted = () => {
    count += 1
    const seed = crypto.createHash("sha256").update(`party ${count}`).digest()
    const key = Buffer.concat([pkcs8Head, seed])
    const privateKey = crypto.createPrivateKey({ key, format: "der", type: "pkcs8" })
    return { privateKey, publicKey: crypto.createPublicKey(privateKey) }
  }
  Object.assign(crypto, { generateKeyPairSync: counted })
  syncBuiltinESMExports()
  return () => {
    Reflect.deleteProperty(globalThis.crypto, "getRandomValues")
    Object.assign(crypto, { generateKeyPairSync })
    syncBuiltinESMExports()
  }
}

export const play = async (): Promise<Examples> => {
  const letGo = countKeys()
  try {
    return await playAll()
  } finally {
    letGo()
  }
}

const playAll = async (): Promise<Examples> => {
  const best = new Best()
  for (const story of stories) {
    await Effect.runPromise(
      Effect.provide(Effect.scoped(playOne(story, best)), TestClock.layer()).pipe(
        Effect.provideService(References.MinimumLogLevel, "None")
      )
    )
  }
  return best.all
}

interface Answer {
  readonly status: number
  readonly text: string
}

const send = async (
  url: string,
  { as, body, headers, method = "GET", path }: Parameters<Ask>[0]
): Promise<Answer> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${as}`,
      "x-request-id": "req-2026-07-31-0001",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers
    },
    ...(body === undefined ? {} : { body })
  })
  return { status: response.status, text: await response.text() }
}

/** A read of a record that a story planted without its rows ends before its end. */
const readWhole = async (url: string, route: Route, path: string): Promise<Answer> => {
  try {
    return await send(url, { as: roleOf(route), path })
  } catch (error) {
    if (error instanceof TypeError) return { status: 0, text: "null" }
    throw error
  }
}

const slugOf = (text: string): string => String(JSON.parse(text).type).split(":").at(-1) ?? ""

/** Ids that the venue has answered so far, by the name of the path's parameter. */
type Pool = Map<string, Set<string>>

/** Queries that a route needs, or says more with. */
const queries: Readonly<Record<string, ReadonlyArray<string>>> = {
  "instruments.precheck": [
    "act=subscription.claim&holderId=h1&amount=1000&payment=wire",
    "act=redemption.claim&holderId=h1&units=1&payment=wire"
  ],
  "work.list": ["limit=1&role=operator", "limit=1&role=approver"],
  "work-counts.list": ["role=operator"],
  "instruments.series": ["metric=price&interval=day", "metric=price"],
  "search.list": ["q=fund&limit=1"],
  "auditLog.list": ["limit=1"],
  "instruments.register": [""],
  "distributions.export": [""]
}

const readAll = async (url: string, best: Best): Promise<void> => {
  const pool: Pool = new Map([
    ["year", new Set(["2026"])],
    ["tenantId", new Set([Venue.tenant.tenantId])]
  ])
  const reading = routes.filter(({ name, path }) => path.method === "GET" && name !== "openapi.one")
  // Lists first, by which the ids of the records are known.
  const inOrder = reading.toSorted((a, b) => a.path.names.length - b.path.names.length)
  for (const route of inOrder) {
    const isList = route.answers.with === "list"
    for (const path of pathsOf(route, pool)) {
      for (const query of queries[route.name] ?? [isList ? "limit=1" : ""]) {
        const target = `${path}${query === "" ? "" : `?${query}`}`
        const { status, text } = await readWhole(url, route, target)
        if (status !== 200) continue
        gather(JSON.parse(text), pool)
        if (!isEmpty(text)) best.meet(`${route.name} 200`, text)
        if (formsOf(route).length === 1) continue
        const csv = await readWhole(url, route, `${path}?format=csv`)
        const [head, row, ...others] = csv.text.split("\n")
        if (csv.status === 200 && others.length > 0) {
          best.meet(`${route.name} 200 text/csv`, `${head}\n${row}\n`)
        }
      }
      if (isList) {
        gather(JSON.parse((await readWhole(url, route, path)).text), pool)
      }
    }
  }
  for (const operationId of pool.get("operationId") ?? []) {
    const { status, text } = await send(url, {
      as: "auditor",
      path: `/v1/operations/${operationId}`
    })
    if (status === 200) meetWrite(valueOf(text), best)
  }
}

/** An operation that a caller opened and that has succeeded: the body of its call, and the answer. */
const meetWrite = (answer: string, best: Best): void => {
  const { actor, kind, request, state } = JSON.parse(answer)
  const route = routes.find(({ name }) => name === kind)
  if (state !== "succeeded" || actor === "engine" || route?.answers.with !== "write") return
  best.meet(`${kind} answer`, answer)
  const { ifMatch, secrets = {} } = route.answers.operation
  if (Object.keys(secrets).some((name) => typeof request[name] === "string")) return
  const { request: sent } = Result.getOrThrow(PlainJson.parse(answer)) as unknown as {
    readonly request: Readonly<Record<string, PlainJson.Plain>>
  }
  const elsewhere = new Set([...route.path.names, ...(ifMatch === undefined ? [] : [ifMatch])])
  const body = Object.fromEntries(Object.entries(sent).filter(([name]) => !elsewhere.has(name)))
  best.meet(`${kind} body`, PlainJson.stringify(body))
}

/** Text of the value of a read's answer. */
const valueOf = (text: string): string => text.slice(text.indexOf('"value":') + 8, -1)

const isEmpty = (text: string): boolean => {
  const { value } = JSON.parse(text)
  const list: unknown = value?.counts ?? value
  return value === undefined || (Array.isArray(list) && list.length === 0)
}

const roleOf = ({ admits }: Route): string => {
  if (admits.by !== "role") return "approver"
  return admits.roles.includes("auditor") ? "auditor" : (admits.roles[0] ?? "operator")
}

/** Paths of a route with the ids that are known, at most some of them. */
const pathsOf = ({ path }: Route, pool: Pool): ReadonlyArray<string> => {
  const fill = (template: string, [name, ...others]: ReadonlyArray<string>): Array<string> =>
    name === undefined
      ? [template]
      : [...(pool.get(name) ?? [])].flatMap((id) =>
          fill(template.replace(`{${name}}`, encodeURIComponent(id)), others)
        )
  return fill(path.template, path.names).slice(0, 30)
}

const gather = (json: unknown, pool: Pool): void => {
  if (Array.isArray(json)) for (const item of json) gather(item, pool)
  if (typeof json !== "object" || json === null) return
  for (const [name, member] of Object.entries(json)) {
    if (typeof member === "string" && /(?:Id|Key)$/.test(name)) {
      pool.set(name, (pool.get(name) ?? new Set()).add(member))
    } else gather(member, pool)
  }
}
