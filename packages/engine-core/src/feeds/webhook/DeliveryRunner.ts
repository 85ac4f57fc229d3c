/**
 * Outbox dispatcher of webhook deliveries: posts each at least once, with a queue for each webhook.
 */
import {
  Clock,
  Context,
  Duration,
  Effect,
  Exit,
  FiberSet,
  Layer,
  Option,
  Queue,
  Stream
} from "effect"
import { Settings } from "../../engine/Settings.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Ids } from "../../ports/Ids.ts"
import { Feed } from "../../ports/storage/Feed.ts"
import type { LeaseLost } from "../../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../../ports/storage/WorkQueue.ts"
import { WebhookSender } from "../../ports/WebhookSender.ts"
import { together } from "../../records/BatchedWork.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { drains } from "../../records/Outbox.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { deliveries, type Delivery, queueOf } from "../../records/webhook/Delivery.ts"
import { active, activeMax, type Webhook, webhooks } from "../../records/webhook/Webhook.ts"
import * as AttemptSteps from "./AttemptSteps.ts"
import * as ConfiguredWebhookSteps from "./ConfiguredWebhookSteps.ts"
import { atOnce, freeAttempts, rotate } from "./DispatchRules.ts"

/**
 * Milliseconds until a delivery that could not be attempted (a key is missing) is leased again.
 */
const unattemptedFor = 60_000

/** Milliseconds that running attempts get to finish when the engine stops. */
const stopWithin = 20_000

/** Deliveries of a removed webhook that are taken off its queue in one statement. */
const drainMax = 500

export class DeliveryRunner extends Context.Service<
  DeliveryRunner,
  {
    /**
     * Attempts the deliveries that are due now, up to the limit of parallel attempts; returns how
     * many. For tests and for embedders that drive the engine themselves.
     */
    readonly runOnce: Effect.Effect<number, Unavailable>
    /** Runs until interrupted: then starts no new attempt and records the running ones. */
    readonly run: Effect.Effect<never>
  }
>()("@bursar/engine-core/feeds/webhook/DeliveryRunner") {}

const isPending = ({ state }: Delivery): boolean => state === "pending"

/** Leased deliveries by id, as one look-up found them, or its failure. */
type FoundDeliveries = Exit.Exit<ReadonlyMap<string, Stored<Delivery>>, Unavailable>

/** A leased delivery of a webhook, and the look-up of all that were leased with it. */
interface DueDelivery {
  readonly webhook: Webhook
  readonly leased: Lease
  readonly found: FoundDeliveries
}

/** Loads leased deliveries in one look-up. */
const loaded = Effect.fnUntraced(function* (leases: ReadonlyArray<Lease>) {
  const records = yield* Records
  const ids = leases.map(({ itemId }) => itemId)
  const rows = yield* records.many(deliveries, ids)
  return new Map(rows.map((delivery) => [delivery.deliveryId, delivery]))
}, Effect.exit)

/**
 * Finds the leased delivery. Where the look-up of all failed, it is looked up alone: a record that
 * cannot be read keeps no other delivery back.
 */
const deliveryOf = Effect.fnUntraced(function* ({ leased, found }: DueDelivery) {
  if (Exit.isSuccess(found)) return found.value.get(leased.itemId)
  const records = yield* Records
  return Option.getOrUndefined(yield* records.find(deliveries, leased.itemId))
})

/** Attempts the leased delivery and records the attempt. */
const deliver = Effect.fnUntraced(function* (due: DueDelivery) {
  const { webhook, leased: lease } = due
  const records = yield* Records
  const work = yield* WorkQueue
  const delivery = yield* deliveryOf(due)
  // Cancelled in the meantime, or recorded by the operation that tested the webhook.
  if (delivery === undefined || !isPending(delivery))
    return yield* orUnavailable(work.finish(lease))
  const made = yield* AttemptSteps.attempt({ webhook, delivery, body: lease.payload })
  yield* records.transact(
    Effect.gen(function* () {
      // Checks the fence: a worker that lost its lease records nothing, and the next one attempts
      // again.
      yield* orUnavailable(work.hold(lease))
      const before = Option.filter(yield* records.find(deliveries, lease.itemId), isPending)
      const delay = Option.isNone(before) ? undefined : yield* AttemptSteps.note(before.value, made)
      yield* orUnavailable(
        delay === undefined ? work.finish(lease) : work.release(lease, { delay })
      )
    })
  )
})

/** Removes the remaining deliveries of a removed webhook from its queue. */
const drain = Effect.fnUntraced(function* (lease: Lease) {
  const records = yield* Records
  const work = yield* WorkQueue
  const webhookId = lease.itemId
  let after: string | undefined
  do {
    const rows = yield* records.list(deliveries, {
      where: { webhookId: [webhookId], state: ["cancelled"] },
      limit: drainMax,
      ...(after === undefined ? {} : { after })
    })
    const itemIds = rows.map(({ record }) => record.deliveryId)
    yield* orUnavailable(work.settle({ queue: queueOf(webhookId), itemIds }))
    after = rows.length < drainMax ? undefined : rows.at(-1)?.sortKey
  } while (after !== undefined)
  yield* orUnavailable(work.finish(lease))
})

/** Runs `task` while its lease is renewed, and releases the lease at every end. */
const underLease = <R>(lease: Lease, task: Effect.Effect<void, Unavailable | LeaseLost, R>) =>
  Effect.gen(function* () {
    const work = yield* WorkQueue
    const { lease: leaseMillis } = yield* Settings
    const failed = `delivery ${lease.itemId} was not tried or not noted`
    const leased = { work, lease, leaseMillis, failed, failedFor: unattemptedFor }
    yield* LeasedWork.under(leased, task)
  })

/** Cache of the active webhooks, keyed by the counter of their changes. */
interface ActiveWebhooks {
  moved: number
  all: ReadonlyArray<Stored<Webhook>>
}

/** Loads the active webhooks again where one of them has changed. */
const refresh = Effect.fnUntraced(function* (cache: ActiveWebhooks) {
  const records = yield* Records
  const feed = yield* Feed
  const { webhooksMoved } = yield* orUnavailable(feed.head)
  if (webhooksMoved === cache.moved) return
  const ids = yield* Stream.runCollect(
    Stream.take(records.ids(webhooks, { where: active }), activeMax * 2)
  )
  const all: Array<Stored<Webhook>> = []
  // A webhook that cannot be read keeps no other one's deliveries back.
  yield* together(
    ids,
    (some) => Effect.map(records.many(webhooks, some), (found) => void all.push(...found)),
    (id) => `the webhook ${id}`
  )
  cache.moved = webhooksMoved
  cache.all = all
})

type Needs = Records | WorkQueue | Feed | Crypto | Ids

/** Services that delivering asks for; two of them have defaults, and so no type demands them. */
const needs = [Records, WorkQueue, Feed, Crypto, Ids, Settings, WebhookSender] as const

/** Makes a dispatcher: the cache of its webhooks, its leases, and deliveries under them. */
const makeDispatcher = Effect.gen(function* () {
  const work = yield* WorkQueue
  const { lease: leaseMillis } = yield* Settings
  const worker = `deliverer-${Math.floor(Number(yield* Instant.now) / 1e3)}`
  const cache: ActiveWebhooks = { moved: -1, all: [] }

  const lease = (queue: string, limit: number) =>
    orUnavailable(work.lease({ queue, worker, limit, leaseMillis }))

  const drainAll = Effect.gen(function* () {
    const leases = yield* lease(drains, atOnce.webhook)
    yield* Effect.forEach(leases, (drained) => underLease(drained, drain(drained)), {
      discard: true
    })
    return leases.length
  })

  return {
    webhooks: () => cache.all,
    refresh: refresh(cache),
    /** Drains the queues of removed webhooks; returns how many. */
    drainAll,
    /** Leases deliveries that are due, as far as attempts are free, in one statement for all webhooks. */
    leaseDue: (list: ReadonlyArray<Webhook>, running: RunningAttempts) => {
      const limit = atOnce.instance - running.instance
      const byQueue = new Map(list.map((webhook) => [queueOf(webhook.webhookId), webhook]))
      const queues = [...byQueue].flatMap(([queue, webhook]) => {
        const free = freeAttempts({ ...running, webhook: running.ofWebhook(webhook) })
        return free > 0 ? [{ queue, limit: free }] : []
      })
      if (queues.length === 0) return Effect.succeed([])
      return Effect.gen(function* () {
        const leases = yield* orUnavailable(work.leaseEach({ queues, worker, limit, leaseMillis }))
        const found = yield* loaded(leases)
        return leases.flatMap((leased): ReadonlyArray<DueDelivery> => {
          const webhook = byQueue.get(leased.queue)
          return webhook === undefined ? [] : [{ webhook, leased, found }]
        })
      })
    },
    deliver: (due: DueDelivery) =>
      underLease(due.leased, deliver(due)).pipe(
        Effect.withSpan(
          "delivery",
          { attributes: { deliveryId: due.leased.itemId } },
          { captureStackTrace: false }
        )
      )
  }
})

/** Numbers of attempts that run: in the instance, and for a webhook. */
interface RunningAttempts {
  readonly instance: number
  readonly ofWebhook: (webhook: Webhook) => number
}

type Dispatcher = Effect.Success<typeof makeDispatcher>

/** Makes one attempt of each delivery that is due now. */
const deliverDue = Effect.fnUntraced(function* (dispatcher: Dispatcher) {
  yield* dispatcher.refresh
  const due = yield* dispatcher.leaseDue(dispatcher.webhooks(), { instance: 0, ofWebhook: () => 0 })
  yield* Effect.forEach(due, dispatcher.deliver, { concurrency: "unbounded", discard: true })
  return due.length + (yield* dispatcher.drainAll)
})

/** Attempts under way: their fibers, and how many run for each webhook. */
const makeAttempts = Effect.gen(function* () {
  const fibers = yield* FiberSet.make<void>()
  const byWebhook = new Map<string, number>()
  const runningFor = ({ webhookId }: Webhook) => byWebhook.get(webhookId) ?? 0
  const count = (webhook: Webhook, by: 1 | -1) =>
    byWebhook.set(webhook.webhookId, runningFor(webhook) + by)
  return {
    running: Effect.map(
      FiberSet.size(fibers),
      (instance): RunningAttempts => ({ instance, ofWebhook: runningFor })
    ),
    /** Starts an attempt of the webhook, and runs `ended` after it. */
    start: <R>(
      webhook: Webhook,
      attempt: Effect.Effect<void, never, R>,
      ended: Effect.Effect<unknown>
    ) =>
      Effect.suspend(() => {
        count(webhook, 1)
        const after = Effect.andThen(
          Effect.sync(() => count(webhook, -1)),
          ended
        )
        return FiberSet.run(fibers, Effect.ensuring(attempt, after))
      }),
    ended: FiberSet.awaitEmpty(fibers)
  }
})

/** Delivers until interrupted, woken by the feed and by each attempt that ends. */
const deliverForever = Effect.fnUntraced(function* (dispatcher: Dispatcher) {
  const feed = yield* Feed
  const { poll } = yield* Settings
  const attempts = yield* makeAttempts
  const bell = yield* Queue.sliding<void>(1)
  const ring = Queue.offer(bell, undefined)
  yield* feed.wakes.pipe(
    // Without webhooks only the poll finds out that one was registered.
    Stream.runForEach(() => (dispatcher.webhooks().length === 0 ? Effect.void : ring)),
    Effect.catchTag("StorageUnavailable", () => Effect.sleep(Duration.millis(poll))),
    Effect.forever,
    Effect.forkScoped
  )
  const pause = Effect.raceFirst(Queue.take(bell), Effect.sleep(Duration.millis(poll)))
  let refreshedAt = Number.NEGATIVE_INFINITY
  let turn = 0

  const cycle = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    let began = 0
    if (now - refreshedAt >= poll) {
      refreshedAt = now
      yield* dispatcher.refresh
      began += yield* dispatcher.drainAll
    }
    turn += 1
    const due = yield* dispatcher.leaseDue(
      rotate(dispatcher.webhooks(), turn),
      yield* attempts.running
    )
    for (const delivery of due) {
      yield* attempts.start(delivery.webhook, dispatcher.deliver(delivery), ring)
    }
    began += due.length
    if (began === 0) yield* pause
  })
  const round = LeasedWork.round(cycle, { failed: "deliveries could not be read", pause })
  return yield* Effect.forever(round).pipe(
    Effect.onInterrupt(() => attempts.ended.pipe(Effect.timeoutOption(Duration.millis(stopWithin))))
  )
}, Effect.scoped)

const make = Effect.gen(function* () {
  const { webhooks: configured } = yield* Settings
  yield* Effect.orDie(ConfiguredWebhookSteps.reconcile(configured))
  const dispatcher = yield* makeDispatcher
  // Only these services: the current span must be that of the delivery, not that of the start.
  const services = Context.pick(...needs)(yield* Effect.context<Needs>())
  return DeliveryRunner.of({
    runOnce: Effect.provideContext(deliverDue(dispatcher), services),
    run: Effect.provideContext(deliverForever(dispatcher), services)
  })
})

export const layer: Layer.Layer<DeliveryRunner, never, Records | WorkQueue | Feed | Crypto | Ids> =
  Layer.effect(DeliveryRunner, make)
