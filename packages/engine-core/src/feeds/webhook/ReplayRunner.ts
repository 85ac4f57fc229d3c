/**
 * Replay: posts past events to a webhook again under their old webhook-ids, for a receiver that
 * lost them.
 */
import { Effect } from "effect"
import { refused } from "../../kernel/Refusal.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Ids } from "../../ports/Ids.ts"
import { type EventRow, Feed } from "../../ports/storage/Feed.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import { EventType } from "../../vocabulary/EventType.ts"
import * as StoredEvent from "../../records/StoredEvent.ts"
import { deliveries, pending, queueOf } from "../../records/webhook/Delivery.ts"
import * as DeliveryRules from "../../records/webhook/DeliveryRules.ts"
import { isActive, takes, webhooks } from "../../records/webhook/Webhook.ts"

/** Events written to the outbox in one transaction. */
const batchMax = 200

/**
 * Queues a delivery of every control event from one number of the feed to another, both included,
 * that the webhook takes; returns how many. Each is posted as all deliveries are, with the same
 * webhook-id as before. Refuses `not-found`, and `cursor-expired` where retention deleted events of
 * the range.
 */
export const replay = Effect.fn("webhook.replay")(function* (request: {
  readonly webhookId: string
  readonly fromSeq: number
  readonly toSeq: number
}) {
  const records = yield* Records
  const feed = yield* Feed
  const replayId = yield* (yield* Ids).make("rp")
  const webhook = yield* records.get(webhooks, request.webhookId)
  if (!isActive(webhook)) {
    return yield* Effect.fail(refused("not-found", { detail: "There is no such webhook." }))
  }
  const { webhookId } = webhook
  const queue = queueOf(webhookId)
  const { prunedTo, restores } = yield* orUnavailable(feed.head)
  if (request.fromSeq <= prunedTo) {
    return yield* Effect.fail(
      refused("cursor-expired", {
        detail: `Events up to number ${prunedTo} are pruned: replay from ${prunedTo + 1} on.`
      })
    )
  }

  const write = (events: ReadonlyArray<EventRow>) =>
    records.transact(
      Effect.gen(function* () {
        const now = yield* Instant.now
        for (const event of events) {
          const { seq, type } = event
          if (!EventType.has(type)) continue
          const deliveryId = `${seq}.${webhookId}.${replayId}`
          const restoredAt = DeliveryRules.restoredAtOf(restores, seq)
          const opened = pending({ deliveryId, webhookId, seq, restoredAt, type, trace: null })
          const act = { cause: { by: "event" as const, seq }, now }
          yield* records
            .open(deliveries, opened, act)
            .pipe(Effect.catchTag("Refused", () => Effect.die(new Error("a replay came twice"))))
          const payload = StoredEvent.print(StoredEvent.ofRow(event))
          yield* records.enqueue([
            { queue, itemId: deliveryId, resource: deliveryId, payload, delay: 0 }
          ])
        }
      })
    )

  let count = 0
  let after = request.fromSeq - 1
  for (;;) {
    const { events, scanned } = yield* orUnavailable(
      feed.read({ order: "asc", kind: ["control"], after, limit: batchMax })
    )
    const wanted = events.filter(({ seq, type }) => seq <= request.toSeq && takes(webhook, type))
    if (wanted.length > 0) yield* write(wanted)
    count += wanted.length
    if (events.length < batchMax || scanned >= request.toSeq) return count
    after = scanned
  }
})
