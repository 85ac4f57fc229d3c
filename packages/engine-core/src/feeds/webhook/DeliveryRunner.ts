/**
 * Outbox dispatcher of webhook deliveries: posts each at least once, with a queue for each webhook.
 */
import { Effect, Exit, Option, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { Ids } from "../../ports/Ids.ts"
import { Feed } from "../../ports/storage/Feed.ts"
import { type Lease, WorkQueue } from "../../ports/storage/WorkQueue.ts"
import { byItself, together } from "../../records/BatchedWork.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { drains } from "../../records/Outbox.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Worker from "../../records/Worker.ts"
import { deliveries, type Delivery, queueOf } from "../../records/webhook/Delivery.ts"
import { active, activeMax, type Webhook, webhooks } from "../../records/webhook/Webhook.ts"
import * as AttemptSteps from "./AttemptSteps.ts"
import * as ConfiguredWebhookSteps from "./ConfiguredWebhookSteps.ts"
import { atOnce, freeAttempts, rotate } from "./DispatchRules.ts"

/** Time until a delivery that could not be attempted (a key is missing) is leased again. */
const unattemptedFor = "1 minute"

/** Deliveries of a removed webhook that are taken off its queue in one statement. */
const drainMax = 500

const isPending = ({ state }: Delivery): boolean => state === "pending"

/** Leased deliveries by id, as one look-up found them, or its failure. */
type FoundDeliveries = Exit.Exit<ReadonlyMap<string, Stored<Delivery>>, Unavailable>

/** A leased delivery of a webhook, and the look-up of all that were leased with it. */
interface DueDelivery {
  readonly webhook: Webhook
  readonly lease: Lease
  readonly foundDeliveries: FoundDeliveries
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
const deliveryOf = Effect.fnUntraced(function* ({ lease, foundDeliveries }: DueDelivery) {
  if (Exit.isSuccess(foundDeliveries)) return foundDeliveries.value.get(lease.itemId)
  const records = yield* Records
  return Option.getOrUndefined(yield* records.find(deliveries, lease.itemId))
})

/** Attempts the leased delivery and records the attempt. */
const deliver = Effect.fnUntraced(function* (due: DueDelivery) {
  const { webhook, lease } = due
  const records = yield* Records
  const delivery = yield* deliveryOf(due)
  // Cancelled in the meantime, or recorded by the operation that tested the webhook.
  if (delivery === undefined || !isPending(delivery)) return yield* LeasedWork.finish(lease)
  const made = yield* AttemptSteps.attempt({ webhook, delivery, body: lease.payload })
  yield* records.transact(
    Effect.gen(function* () {
      // A worker that lost its lease records nothing, and the next one attempts again.
      yield* LeasedWork.fence(lease)
      const before = Option.filter(yield* records.find(deliveries, lease.itemId), isPending)
      const delay = Option.isNone(before) ? undefined : yield* AttemptSteps.note(before.value, made)
      yield* delay === undefined ? LeasedWork.finish(lease) : LeasedWork.release(lease, { delay })
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
  yield* LeasedWork.finish(lease)
})

/** Cache of the active webhooks, keyed by the counter of their changes. */
interface ActiveWebhooks {
  moved: number
  all: ReadonlyArray<Stored<Webhook>>
  /** Ids of those whose records could not be read: each is looked up by itself, in every round. */
  unreadable: ReadonlySet<string>
}

/**
 * Loads the active webhooks again where one of them has changed, and those that could not be read before.
 * A webhook that cannot be read keeps no other one's deliveries back, nor has it read anew.
 */
const refresh = Effect.fnUntraced(function* (cache: ActiveWebhooks) {
  const records = yield* Records
  const feed = yield* Feed
  const { webhooksMoved } = yield* orUnavailable(feed.head)
  const hasMoved = webhooksMoved !== cache.moved
  if (!hasMoved && cache.unreadable.size === 0) return
  const ids = hasMoved
    ? yield* Stream.runCollect(Stream.take(records.ids(webhooks, { where: active }), activeMax * 2))
    : [...cache.unreadable]
  const found: Array<Stored<Webhook>> = []
  const load = (some: ReadonlyArray<string>) =>
    Effect.map(records.many(webhooks, some), (rows) => void found.push(...rows))
  const nameOf = (id: string) => `the webhook ${id}`
  const isSuspect = (id: string) => cache.unreadable.has(id)
  yield* together(
    ids.filter((id) => !isSuspect(id)),
    load,
    nameOf
  )
  for (const id of ids.filter(isSuspect)) yield* byItself(load([id]), nameOf(id))
  const loadedIds = new Set<string>(found.map(({ webhookId }) => webhookId))
  cache.moved = webhooksMoved
  cache.all = hasMoved ? found : [...cache.all, ...found]
  cache.unreadable = new Set(ids.filter((id) => !loadedIds.has(id)))
})

/** Attempts under way for each webhook. */
const makeAttempts = () => {
  const byWebhook = new Map<string, number>()
  const add = ({ webhookId }: Webhook, by: 1 | -1) => {
    byWebhook.set(webhookId, (byWebhook.get(webhookId) ?? 0) + by)
  }
  return {
    /** Number of attempts that may begin for a webhook, where the instance has room for so many. */
    free: ({ webhookId }: Webhook, room: number) =>
      freeAttempts({
        webhook: byWebhook.get(webhookId) ?? 0,
        instance: atOnce.instance - room
      }),
    /** Counts an attempt of the webhook until it ends. */
    counted: <A, E, R>(webhook: Webhook, attempt: Effect.Effect<A, E, R>) => {
      add(webhook, 1)
      return Effect.ensuring(
        attempt,
        Effect.sync(() => add(webhook, -1))
      )
    }
  }
}

/** Leases due deliveries of every active webhook in one statement, as far as its attempts are free. */
const source = Effect.fnUntraced(function* ({ leaseMillis, worker }: Worker.Lessee) {
  const { webhooks: configured } = yield* Settings
  yield* Effect.orDie(ConfiguredWebhookSteps.reconcile(configured))
  const work = yield* WorkQueue
  const feed = yield* Feed
  const cache: ActiveWebhooks = { moved: -1, all: [], unreadable: new Set() }
  const attempts = makeAttempts()
  let turn = 0
  return {
    prepare: refresh(cache),
    take: Effect.fnUntraced(function* (limit: number) {
      turn += 1
      const list = rotate(cache.all, turn)
      const byQueue = new Map(list.map((webhook) => [queueOf(webhook.webhookId), webhook]))
      const queues = [...byQueue].flatMap(([queue, webhook]) => {
        const free = attempts.free(webhook, limit)
        return free > 0 ? [{ queue, limit: free }] : []
      })
      if (queues.length === 0) return []
      const leases = yield* orUnavailable(work.leaseEach({ queues, worker, limit, leaseMillis }))
      const foundDeliveries = yield* loaded(leases)
      return leases.flatMap((lease) => {
        const webhook = byQueue.get(lease.queue)
        if (webhook === undefined) return []
        return [
          { lease, work: attempts.counted(webhook, deliver({ webhook, lease, foundDeliveries })) }
        ]
      })
    }),
    // Without webhooks only the poll finds out that one was registered.
    wakes: Stream.filter(feed.wakes, () => cache.all.length > 0),
    rounds: 1
  }
})

/** Worker of webhook deliveries: posts each at least once, those of each webhook from a queue of its own. */
export const deliveryWorker = Worker.defineBySource<Records | WorkQueue | Feed | Crypto | Ids>({
  name: "deliveries",
  doc: "Posts events to webhooks, each webhook at its own pace.",
  queue: queueOf("{webhookId}"),
  item: "delivery",
  atOnce: atOnce.instance,
  again: unattemptedFor,
  source
})

/** Worker that empties the queues of removed webhooks. */
export const removedWebhookWorker = Worker.define({
  name: "removed-webhooks",
  doc: "Takes the deliveries of removed webhooks off their queues.",
  queue: drains,
  item: "removed-webhook",
  atOnce: atOnce.webhook,
  again: unattemptedFor,
  work: drain
})
