/**
 * Outbox dispatcher of webhook deliveries: posts each at least once, with a queue for each webhook.
 */
import { Clock, Context, Duration, Effect, FiberSet, Layer, Metric, Option } from "effect"
import { Queue, Stream } from "effect"
import * as Metrics from "../../engine/Metrics.ts"
import { Settings } from "../../engine/Settings.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Ids } from "../../ports/Ids.ts"
import { Feed } from "../../ports/storage/Feed.ts"
import type { LeaseLost } from "../../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../../ports/storage/WorkQueue.ts"
import { WebhookSender } from "../../ports/WebhookSender.ts"
import { stored } from "../../records/PortFailure.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { drains } from "../../records/Outbox.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Secrets from "../../writes/Secrets.ts"
import * as Audit from "../../records/Audit.ts"
import { type Attempt, deliveries, type Delivery, queueOf } from "../../records/webhook/Delivery.ts"
import * as DeliveryRules from "../../records/webhook/DeliveryRules.ts"
import {
  active,
  activeMax,
  type ConfiguredWebhook,
  type Webhook,
  WebhookId,
  webhooks
} from "../../records/webhook/Webhook.ts"

/**
 * Attempts that run at one time: to one webhook, and in an instance
 * (docs/contract/webhooks.md#retries).
 */
const atOnce = { webhook: 4, instance: 32 }

/**
 * Milliseconds after which an attempt counts as failed, should the port not end it within its own
 * 15 s.
 */
const attemptWithin = 16_000

/**
 * Milliseconds until a delivery that could not be attempted (a key is missing) is taken up again.
 */
const untriedFor = 60_000

/** Milliseconds that running attempts get to finish when the engine stops. */
const stopWithin = 20_000

/** Deliveries of a removed webhook that are taken off its queue in one statement. */
const drainedAtOnce = 500

/** An attempt, and the Retry-After of its answer. */
export interface Tried {
  readonly attempt: Attempt
  readonly retryAfter: string | null
}

const secretsOf = Effect.fnUntraced(function* (webhook: Webhook) {
  const settings = yield* Settings
  if (webhook.source === "config") {
    const configured = settings.webhooks.find(({ webhookId }) => webhookId === webhook.webhookId)
    return configured?.secrets ?? []
  }
  if (webhook.sealed === null) return []
  const text = Secrets.unseal(webhook.sealed, { keys: settings.sealingKeys }, yield* Crypto)
  const secret = DeliveryRules.secretOf(text)
  if (secret === undefined) throw new Error("a webhook's kept secret is none")
  return [secret]
})

/** Makes one attempt; its outcome is still to be recorded by `note`. */
export const attempt = Effect.fnUntraced(function* (of: {
  readonly webhook: Webhook
  readonly delivery: Pick<Delivery, "seq" | "attempts" | "trace">
  readonly body: string
}) {
  const { webhook, delivery, body } = of
  const settings = yield* Settings
  const sender = yield* WebhookSender
  const crypto = yield* Crypto
  const began = yield* Instant.now
  const id = DeliveryRules.eventId(settings.tenantId, delivery.seq)
  const timestamp = String(Math.floor(Instant.toEpochMillis(began) / 1_000))
  const signature = DeliveryRules.signature(crypto, {
    id,
    timestamp,
    body,
    secrets: yield* secretsOf(webhook),
    keys: DeliveryRules.signing(settings.webhookKeys, began)
  })
  const headers = DeliveryRules.headers({
    id,
    timestamp,
    signature,
    webhookId: webhook.webhookId,
    attempt: delivery.attempts + 1
  })
  const answered = yield* sender
    .post({ url: webhook.url, headers, body, trace: delivery.trace })
    .pipe(Effect.timeoutOption(Duration.millis(attemptWithin)))
  const at = yield* Instant.now
  return tried(
    Option.getOrElse(answered, () => ({ failure: "timeout" as const })),
    {
      at,
      durationMs: Instant.toEpochMillis(at) - Instant.toEpochMillis(began)
    }
  )
})

type Answered = Effect.Success<ReturnType<(typeof WebhookSender)["Service"]["post"]>>

const tried = (answered: Answered, around: Pick<Attempt, "at" | "durationMs">): Tried => {
  if ("failure" in answered) {
    const { failure } = answered
    return { attempt: { ...around, status: null, failure }, retryAfter: null }
  }
  const { status, retryAfter } = answered
  const failure = DeliveryRules.isTaken(status) ? null : ("status" as const)
  return { attempt: { ...around, status, failure }, retryAfter }
}

/**
 * Records an attempt on its delivery; answers the milliseconds until the next one, undefined when
 * the delivery has ended. Only inside `Records.transact`.
 */
export const note = Effect.fnUntraced(function* (
  before: Stored<Delivery>,
  { attempt, retryAfter }: Tried
) {
  const records = yield* Records
  const chance = DeliveryRules.chanceOf(yield* (yield* Ids).bytes(4))
  const { fact, again } = DeliveryRules.judge(before, { attempt, retryAfter, chance })
  const { seq, webhookId } = before
  yield* records.record(deliveries, before, fact, {
    cause: { by: "event", seq },
    now: attempt.at
  })
  const outcome = attempt.failure ?? "taken"
  yield* records.whenCommitted(
    Metric.update(Metric.withAttributes(Metrics.webhookAttempts, { outcome }), 1)
  )
  if (fact.on === "exhaust") {
    yield* records.audit([
      Audit.entry({
        action: "webhook.exhausted",
        stage: "failed",
        resourceKind: "webhook",
        resourceId: webhookId,
        detail: { seq, attempts: before.attempts + 1, failure: outcome }
      })
    ])
    yield* records.whenCommitted(Metric.update(Metrics.webhookExhausted, 1))
  }
  return again
})

export class DeliveryRunner extends Context.Service<
  DeliveryRunner,
  {
    /**
     * Attempts the deliveries that are due now, up to the limit of parallel attempts; answers how
     * many. For tests and for embedders that drive the engine themselves.
     */
    readonly once: Effect.Effect<number, Unavailable>
    /** Runs until interrupted: then starts no new attempt and records the running ones. */
    readonly run: Effect.Effect<never>
  }
>()("@bursar/engine-core/feeds/webhook/DeliveryRunner") {}

const make = Effect.gen(function* () {
  const records = yield* Records
  const work = yield* WorkQueue
  const feed = yield* Feed
  const crypto = yield* Crypto
  const ids = yield* Ids
  const settings = yield* Settings
  const sender = yield* WebhookSender
  const worker = `deliverer-${Math.floor(Number(yield* Instant.now) / 1e3)}`

  yield* Effect.orDie(adopt(records, settings.webhooks))

  /** Cache of the active webhooks, keyed by the counter of their changes. */
  let known: { readonly moved: number; readonly all: ReadonlyArray<Stored<Webhook>> } = {
    moved: -1,
    all: []
  }

  const refresh = Effect.gen(function* () {
    const { webhooksMoved: moved } = yield* stored(feed.head)
    if (moved !== known.moved) {
      const rows = yield* records.list(webhooks, { where: active, limit: activeMax * 2 })
      known = { moved, all: rows.map(({ record }) => record) }
    }
  })

  const lease = (queue: string, limit: number) =>
    stored(work.lease({ queue, worker, limit, leaseMillis: settings.lease }))

  const pendingOf = (lease: Lease) =>
    Effect.map(
      records.find(deliveries, lease.itemId),
      Option.filter(({ state }) => state === "pending")
    )

  const deliver = Effect.fnUntraced(function* (webhook: Webhook, lease: Lease) {
    const found = yield* pendingOf(lease)
    // Cancelled in the meantime, or recorded by the operation that tested the webhook.
    if (Option.isNone(found)) return yield* stored(work.finish(lease))
    const made = yield* attempt({ webhook, delivery: found.value, body: lease.payload })
    yield* records.transact(
      Effect.gen(function* () {
        // Checks the fence: a worker that lost its lease records nothing, and the next one attempts
        // again.
        yield* stored(work.hold(lease))
        const before = yield* pendingOf(lease)
        const again = Option.isNone(before) ? undefined : yield* note(before.value, made)
        yield* again === undefined
          ? stored(work.finish(lease))
          : stored(work.release(lease, { delay: again }))
      })
    )
  })

  /** Removes the remaining deliveries of a removed webhook from its queue. */
  const drain = Effect.fnUntraced(function* (lease: Lease) {
    const webhookId = lease.itemId
    let after: string | undefined
    do {
      const rows = yield* records.list(deliveries, {
        where: { webhookId: [webhookId], state: ["cancelled"] },
        limit: drainedAtOnce,
        ...(after === undefined ? {} : { after })
      })
      const itemIds = rows.map(({ record }) => record.deliveryId)
      yield* stored(work.settle({ queue: queueOf(webhookId), itemIds }))
      after = rows.length < drainedAtOnce ? undefined : rows[rows.length - 1]?.sortKey
    } while (after !== undefined)
    yield* stored(work.finish(lease))
  })

  const under = <R>(lease: Lease, doing: Effect.Effect<void, Unavailable | LeaseLost, R>) =>
    LeasedWork.under(
      {
        work,
        lease,
        leaseMillis: settings.lease,
        failed: `delivery ${lease.itemId} was not tried or not noted`,
        failedFor: untriedFor
      },
      doing
    )

  const one = (webhook: Webhook, lease: Lease): Effect.Effect<void> =>
    under(lease, deliver(webhook, lease)).pipe(
      Effect.withSpan("delivery", { attributes: { deliveryId: lease.itemId } }),
      Effect.provideService(Records, records),
      Effect.provideService(Crypto, crypto),
      Effect.provideService(Ids, ids),
      Effect.provideService(WebhookSender, sender),
      Effect.provideService(Settings, settings)
    )

  const drainAll = Effect.gen(function* () {
    const leases = yield* lease(drains, atOnce.webhook)
    yield* Effect.forEach(leases, (it) => under(it, drain(it)), { discard: true })
    return leases.length
  })

  const once = Effect.gen(function* () {
    yield* refresh
    const due: Array<Effect.Effect<void>> = []
    for (const webhook of known.all) {
      const free = Math.min(atOnce.webhook, atOnce.instance - due.length)
      const leases = free > 0 ? yield* lease(queueOf(webhook.webhookId), free) : []
      due.push(...leases.map((it) => one(webhook, it)))
    }
    yield* Effect.all(due, { concurrency: "unbounded", discard: true })
    return due.length + (yield* drainAll)
  })

  const run: Effect.Effect<never> = Effect.scoped(
    Effect.gen(function* () {
      const running = yield* FiberSet.make<void>()
      const underWay = new Map<string, number>()
      const count = (webhookId: string, by: 1 | -1) =>
        underWay.set(webhookId, (underWay.get(webhookId) ?? 0) + by)
      const bell = yield* Queue.sliding<void>(1)
      const ring = Queue.offer(bell, undefined)
      yield* feed.wakes.pipe(
        // Without webhooks only the poll looks whether one was registered.
        Stream.runForEach(() => (known.all.length === 0 ? Effect.void : ring)),
        Effect.catchTag("StorageUnavailable", () => Effect.sleep(Duration.millis(settings.poll))),
        Effect.forever,
        Effect.forkScoped
      )
      const pause = Effect.raceFirst(Queue.take(bell), Effect.sleep(Duration.millis(settings.poll)))
      let refreshedAt = Number.NEGATIVE_INFINITY
      let turn = 0

      const begin = Effect.fnUntraced(function* (webhook: Webhook) {
        const { webhookId } = webhook
        const free = Math.min(
          atOnce.webhook - (underWay.get(webhookId) ?? 0),
          atOnce.instance - (yield* FiberSet.size(running))
        )
        const leases = free > 0 ? yield* lease(queueOf(webhookId), free) : []
        for (const it of leases) {
          count(webhookId, 1)
          const ended = Effect.andThen(
            Effect.sync(() => count(webhookId, -1)),
            ring
          )
          yield* FiberSet.run(running, Effect.ensuring(one(webhook, it), ended))
        }
        return leases.length
      })

      const cycle = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        let began = 0
        if (now - refreshedAt >= settings.poll) {
          refreshedAt = now
          yield* refresh
          began += yield* drainAll
        }
        // Round robin: each round starts with another webhook, so that none is always served last.
        turn += 1
        const first = known.all.length === 0 ? 0 : turn % known.all.length
        for (const webhook of [...known.all.slice(first), ...known.all.slice(0, first)]) {
          began += yield* begin(webhook)
        }
        if (began === 0) yield* pause
      })
      const round = LeasedWork.round(cycle, { failed: "deliveries could not be read", pause })
      return yield* Effect.forever(round).pipe(
        Effect.onInterrupt(() =>
          FiberSet.awaitEmpty(running).pipe(Effect.timeoutOption(Duration.millis(stopWithin)))
        )
      )
    })
  )

  return DeliveryRunner.of({ once, run })
})

/**
 * Reconciles the stored webhooks of the configuration with the configuration: adds, changes,
 * removes.
 */
const adopt = Effect.fnUntraced(function* (
  records: Records["Service"],
  configured: ReadonlyArray<ConfiguredWebhook>
) {
  const rows = yield* records.list(webhooks, {
    where: { source: ["config"], ...active },
    limit: activeMax * 2
  })
  if (rows.length + configured.length === 0) return
  yield* records.transact(
    Effect.gen(function* () {
      const now = yield* Instant.now
      const act = { cause: { by: "clock" as const }, now }
      const named = new Set<string>(configured.map(({ webhookId }) => webhookId))
      for (const { record } of rows) {
        if (named.has(record.webhookId)) continue
        const before = yield* records.get(webhooks, record.webhookId)
        if (before.removedAt === null)
          yield* records.record(webhooks, before, { on: "remove", at: now }, act)
      }
      for (const { webhookId, url, events } of configured) {
        const before = yield* records.find(webhooks, webhookId)
        if (Option.isNone(before)) {
          const opened = { url, events, source: "config" as const, sealed: null, removedAt: null }
          yield* records.open(
            webhooks,
            { webhookId: WebhookId.make(webhookId), ...opened, createdBy: "config" },
            act
          )
        } else if (before.value.source !== "config") {
          return yield* Effect.die(
            new Error(`the configuration names a webhook ${webhookId}, which is registered already`)
          )
        } else if (!isSame(before.value, { url, events })) {
          yield* records.record(webhooks, before.value, { on: "configure", url, events }, act)
        }
      }
    })
  )
})

const isSame = (self: Webhook, that: Pick<Webhook, "url" | "events">): boolean =>
  self.removedAt === null &&
  self.url === that.url &&
  self.events.length === that.events.length &&
  self.events.every((type) => that.events.includes(type))

export const layer: Layer.Layer<DeliveryRunner, never, Records | WorkQueue | Feed | Crypto | Ids> =
  Layer.effect(DeliveryRunner, make)
