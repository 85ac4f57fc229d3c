/** Outbox: writes the webhook deliveries in the same transaction as the event. */
import { Effect } from "effect"
import { deliveries, type Delivery, type Fact, pendingOf, queueOf } from "./webhook/Delivery.ts"
import * as DeliveryRules from "./webhook/DeliveryRules.ts"
import * as StoredEvent from "./StoredEvent.ts"
import { active, activeMax, isActive, type Webhook, webhooks } from "./webhook/Webhook.ts"
import { causeText } from "../kernel/Fact.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Invariant from "../kernel/Invariant.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type { Trace } from "../kernel/Trace.ts"
import type { Documents, StoredVersion } from "../ports/storage/Documents.ts"
import type { EventRow, FeedHead } from "../ports/storage/Feed.ts"
import type { StorageUnavailable } from "../ports/storage/StorageError.ts"
import type { WorkItem } from "../ports/storage/WorkQueue.ts"
import * as Codecs from "./Codecs.ts"
import * as UnitOfWork from "./UnitOfWork.ts"

/** Queue of removed webhooks whose deliveries are to be taken off their queues. */
export const drains = "deliveries"

/**
 * Milliseconds for which a test's delivery is reserved for the operation that makes its first
 * attempt: longer than the attempt and its recording.
 */
const testedFirst = 45_000

/** Deliveries that are read, and cancelled, in one statement. */
const cancelledAtOnce = 1_000

interface OwedDeliveries {
  readonly drafts: ReadonlyArray<UnitOfWork.Draft>
  readonly items: ReadonlyArray<WorkItem>
  readonly webhooks: "same" | "moved"
}

const nothing: OwedDeliveries = { drafts: [], items: [], webhooks: "same" }

const draftOf = (
  delivery: Delivery,
  change: Pick<UnitOfWork.Draft, "version" | "createdAt"> & { readonly fact: Fact | undefined }
): UnitOfWork.Draft => {
  Invariant.assert(deliveries.invariants, delivery, deliveries.name)
  return {
    ...change,
    collection: deliveries,
    recordId: delivery.deliveryId,
    cause: causeText({ by: "event", seq: delivery.seq }),
    // Deliveries are records of the engine that no ledger offset dates.
    offset: 0,
    record: delivery
  }
}

const opened = (delivery: Delivery): UnitOfWork.Draft =>
  draftOf(delivery, { version: 1, fact: undefined, createdAt: undefined })

/** Id of the operation that sent a test event, from the event's payload. */
const operationOf = ({ payload }: EventRow): string => {
  const { operationId } = PlainJson.parseTrusted(payload) as { readonly operationId: string }
  return operationId
}

const itemsOf = (event: EventRow, owed: ReadonlyArray<Delivery>): ReadonlyArray<WorkItem> => {
  if (owed.length === 0) return []
  // Printed once: every attempt at every webhook posts these bytes.
  const payload = StoredEvent.print(StoredEvent.ofRow(event))
  return owed.map((delivery) => ({
    queue: queueOf(delivery.webhookId),
    itemId: delivery.deliveryId,
    resource: delivery.deliveryId,
    payload,
    delay: DeliveryRules.isTest(delivery) ? testedFirst : 0
  }))
}

const webhookOf = ({ record }: UnitOfWork.WrittenRecord): Webhook => record as Webhook

/** Drafts the end of a pending delivery; none where it has ended. */
const cancel = (
  work: UnitOfWork.UnitOfWork,
  row: StoredVersion,
  at: Instant.Instant
): ReadonlyArray<UnitOfWork.Draft> => {
  // A delivery that this transaction has written itself is cancelled as written.
  const written = work.writtenRecords.get(UnitOfWork.keyOf(deliveries, row.recordId))
  const before =
    written === undefined
      ? Codecs.of(deliveries).decodeRecord(row.body)
      : (written.record as Delivery)
  if (before.state !== "pending") return []
  const fact: Fact = { on: "cancel", at }
  const after = deliveries.evolve(before, fact)
  return [
    draftOf(after, {
      version: (written?.version ?? row.version) + 1,
      fact,
      createdAt: Instant.of(row.createdAt)
    })
  ]
}

/** Cancels the pending deliveries of a webhook that the transaction removes. */
const cancelled = Effect.fnUntraced(function* (
  documents: Documents["Service"],
  work: UnitOfWork.UnitOfWork,
  { webhookId, at }: { readonly webhookId: string; readonly at: Instant.Instant }
) {
  const drafts: Array<UnitOfWork.Draft> = []
  let after: string | undefined
  do {
    const rows: ReadonlyArray<StoredVersion> = yield* documents.list({
      collection: deliveries.name,
      pin: { by: "latest" },
      where: Object.entries(pendingOf(webhookId)).map(([column, anyOf]) => ({ column, anyOf })),
      direction: "asc",
      limit: cancelledAtOnce,
      ...(after === undefined ? {} : { after })
    })
    for (const row of rows) drafts.push(...cancel(work, row, at))
    after = rows.length < cancelledAtOnce ? undefined : rows[rows.length - 1]?.sortKey
  } while (after !== undefined)
  return drafts
})

/** Ids of the webhooks that the transaction removes. */
const removedIn = (work: UnitOfWork.UnitOfWork): ReadonlySet<string> =>
  new Set(
    [...work.writtenRecords]
      .filter(([key]) => key.startsWith(`${webhooks.name}/`))
      .map(([, written]) => webhookOf(written))
      .filter((webhook) => !isActive(webhook))
      .map(({ webhookId }) => webhookId)
  )

export interface Outbox {
  /**
   * The deliveries of this transaction's events, computed under the feed's head, so that the set of
   * webhooks is final and no other transaction adds deliveries at the same time.
   */
  readonly owed: (batch: {
    readonly work: UnitOfWork.UnitOfWork
    readonly head: FeedHead
    readonly events: ReadonlyArray<EventRow>
    /** The trace of each of the events. */
    readonly traces: ReadonlyArray<Trace | null>
  }) => Effect.Effect<OwedDeliveries, StorageUnavailable>
}

export const make = (documents: Documents["Service"]): Outbox => {
  /** Cache of the active webhooks, keyed by the counter of their changes. */
  let cache: { readonly moved: number; readonly all: ReadonlyArray<Webhook> } | undefined

  const current = Effect.fnUntraced(function* (moved: number) {
    if (cache?.moved === moved) return cache.all
    const rows = yield* documents.list({
      collection: webhooks.name,
      pin: { by: "latest" },
      where: Object.entries(active).map(([column, anyOf]) => ({ column, anyOf })),
      direction: "asc",
      limit: activeMax * 2
    })
    const { decodeRecord } = Codecs.of(webhooks)
    const all = rows.map(({ body }) => decodeRecord(body))
    cache = { moved, all }
    return all
  })

  const owed: Outbox["owed"] = Effect.fnUntraced(function* ({ work, head, events, traces }) {
    const changed = work.drafts.some(({ collection }) => collection.name === webhooks.name)
    if (!changed && cache?.moved === head.webhooksMoved && cache.all.length === 0) return nothing
    if (!changed && events.length === 0) return nothing
    const all = yield* current(head.webhooksMoved)
    const removed = removedIn(work)
    const takers = all.filter(({ webhookId }) => !removed.has(webhookId))
    const drafts: Array<UnitOfWork.Draft> = []
    const items: Array<WorkItem> = []
    for (const [index, event] of takers.length === 0 ? [] : events.entries()) {
      const owed = DeliveryRules.deliveriesOf(event, takers, {
        operationOf,
        restores: head.restores,
        trace: traces[index] ?? null
      })
      drafts.push(...owed.map(opened))
      items.push(...itemsOf(event, owed))
    }
    for (const webhookId of removed) {
      drafts.push(...(yield* cancelled(documents, work, { webhookId, at: Instant.of(head.at) })))
      // Their queue items are removed by the dispatcher, after this commit.
      items.push({ queue: drains, itemId: webhookId, resource: webhookId, payload: "", delay: 0 })
    }
    return { drafts, items, webhooks: changed ? "moved" : "same" } as const
  })

  return { owed }
}
