/** Kit of webhooks: a venue in memory, the posts that its receivers get, and their answers. */
import {
  Catalogue,
  Engine as Engines,
  FourEyes,
  type Operation,
  Records,
  Settings,
  settingsDefaults
} from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import { WebhookSender, WorkQueue } from "@bursar/engine-core/ports"
import { type Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { deliveries, queueOf } from "#core/records/webhook/Delivery.ts"
import { ports as worldPorts, world, type WorldOptions } from "../engine/world.ts"
import { person } from "../operations/venue.ts"

export const operator = person("olga", ["operator"])
export const approver = person("anna", ["approver"])
export const auditor = person("aida", ["auditor"])

const bytes = (fill: number) => new Uint8Array(32).fill(fill)

/** The test secret of the contract: 00 11 22 … ff, twice. */
export const contractSecret = Uint8Array.from({ length: 32 }, (_, at) => (at % 16) * 0x11)
export const contractSecretText = "whsec_ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8="

export const settings = {
  sealingKeys: [{ keyId: "seal-1", secret: bytes(7) }],
  webhookKeys: [{ keyId: "ev-1", seed: contractSecret, notBefore: 0n as never, notAfter: null }]
} satisfies WorldOptions["settings"]

/** A post as its receiver got it. */
export interface Got extends WebhookSender.Post {
  /** The engine's clock, in milliseconds. */
  readonly at: number
}

/** A receiver's answer to a post. */
export type Answering = (post: WebhookSender.Post) => Effect.Effect<WebhookSender.AttemptOutcome>

export const taken: Answering = () => Effect.succeed({ status: 200, retryAfter: null })

/** Receivers that record their requests; their answers may be changed at any time. */
export class Receivers {
  readonly got: Array<Got> = []
  answer: Answering = taken
  /** The sender's judgement of every address; undefined: it may be posted to. */
  said: WebhookSender.Judgement = undefined

  readonly sender: WebhookSender.Sender = {
    sends: "yes",
    judge: () => Effect.sync(() => this.said),
    post: (post) =>
      Effect.clockWith((clock) => {
        this.got.push({ ...post, at: clock.currentTimeMillisUnsafe() })
        return this.answer(post)
      })
  }

  /** Posts to one webhook, in order of arrival. */
  postsTo(webhookId: string): ReadonlyArray<Got> {
    return this.got.filter(({ headers }) => headers["x-webhook-id"] === webhookId)
  }
}

/** An engine without a sender of webhooks. */
export const plainWorld = () => world({ settings })

/** Ports of an engine that posts, so that several engines may be built over them. */
export const ports = (receivers: Receivers, options: WorldOptions = {}) =>
  Layer.merge(worldPorts(options), Layer.succeed(WebhookSender.WebhookSender, receivers.sender))

/** An engine over ports that outlive it, with settings of its own. */
export const engineOver = (
  built: Layer.Success<ReturnType<typeof ports>> extends infer S ? Context.Context<S> : never,
  more: WorldOptions["settings"]
) =>
  Engines.layer.pipe(
    Layer.provideMerge(Layer.succeed(Settings, { ...settingsDefaults, ...settings, ...more })),
    Layer.provideMerge(Layer.succeedContext(built))
  )

/** Number of deliveries in a webhook's queue. */
export const queued = (webhookId: string) =>
  Effect.flatMap(WorkQueue, (work) =>
    Effect.map(work.depth(queueOf(webhookId)), ({ leased, waiting }) => leased + waiting)
  )

/** An engine that posts to these receivers. */
export const posting = (receivers: Receivers, options: WorldOptions = {}) =>
  world({ ...options, settings: { ...settings, ...options.settings } }).pipe(
    Layer.provideMerge(Layer.succeed(WebhookSender.WebhookSender, receivers.sender))
  )

export const settle = Effect.flatMap(Engines.Engine, (engine) => engine.settle)

/** Lets time pass, and posts the deliveries that are due by then. */
export const pass = (millis: number) => Effect.andThen(TestClock.adjust(millis), settle)

let count = 0
export const identity = () => ({ requestId: `request-${++count}`, traceId: null, keyId: null })

export const declared = (kind: string): Operation.Operation => {
  const operation = Catalogue.operations.find((one) => one.kind === kind)
  if (operation === undefined) throw new Error(`no operation ${kind}`)
  return operation
}

type Body = Parameters<typeof JSON.stringify>[0]

const plain = (body: Body): PlainJson.Plain | undefined =>
  body === undefined ? undefined : PlainJson.parseTrusted(JSON.stringify(body))

/** One call of a write's route, as its door sees it. */
export const call = (
  kind: string,
  options: {
    readonly params?: Readonly<Record<string, string>>
    readonly body?: Body
    readonly caller?: typeof operator
    readonly key?: string | null
  }
) =>
  Effect.gen(function* () {
    const door = yield* FourEyes
    const operation = declared(kind)
    const params = options.params ?? {}
    const path = operation.route
      .slice(operation.route.indexOf(" ") + 1)
      .replaceAll(/\{([a-zA-Z]+)\}/g, (_, name: string) => params[name] ?? "")
    return yield* door.submit(operation, {
      caller: options.caller ?? operator,
      identity: identity(),
      key: options.key === undefined ? `key-${++count}` : options.key,
      path,
      query: "",
      body: plain(options.body),
      params
    })
  })

export const memberOf = (value: PlainJson.Plain, name: string): PlainJson.Plain =>
  (value as { readonly [member: string]: PlainJson.Plain })[name] ?? null

export const approve = (actionKey: string) =>
  Effect.flatMap(FourEyes, (door) =>
    door.approve({ actionKey, caller: approver, identity: identity() })
  )

/** Registers a webhook with two people, and has it done. */
export const register = (body: Body) =>
  Effect.gen(function* () {
    const made = yield* call("webhook.register", { body })
    yield* approve(String(memberOf(made.value, "actionKey")))
    yield* settle
    return String(memberOf(memberOf(made.value, "resource"), "id"))
  })

/** An act that makes one control event, `approval.requested`, and nothing else. */
export const happen = (name: string) =>
  call("webhook.register", {
    body: { webhookId: name, url: "https://never.example/", secret: null }
  })

/** Stored deliveries to a webhook. */
export const kept = (webhookId: string) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(
      records.list(deliveries, { where: { webhookId: [webhookId] }, limit: 1000 }),
      (rows) => rows.map(({ record }) => record)
    )
  )
