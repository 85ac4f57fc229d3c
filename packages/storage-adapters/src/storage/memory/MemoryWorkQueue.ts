/** In-memory work queue: one item of each resource at a time, ordered by when they were due. */
import { Instant } from "@bursar/engine-core/kernel"
import { type Lease, LeaseLost, type WorkItem, type WorkQueue } from "@bursar/engine-core/ports"
import { Clock, Effect, Option, Result } from "effect"
import * as SortedRows from "./SortedRows.ts"
import type { Transaction, Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"
import type { Wakes } from "./Wakes.ts"

interface Item extends WorkItem {
  readonly place: number
  payload: string
  runAt: number
  /** Lease expiry in milliseconds of the clock; null: not leased. */
  leasedUntil: number | null
  /**
   * Id of the transaction that last used the lease, which cannot expire before that transaction
   * ends.
   */
  heldBy: number
  fence: number
  attempt: number
  startedAt: string | null
}

/** Items wait behind the oldest item of their resource, so only the front items are scanned. */
interface Queue {
  readonly items: Map<string, Item>
  readonly lines: Map<string, SortedRows.SortedRows<Item>>
  readonly fronts: SortedRows.SortedRows<Item>
}

export const make = ({
  transactions,
  wakes
}: {
  readonly transactions: Transactions
  readonly wakes: Wakes
}): WorkQueue["Service"] => {
  const queues = new Map<string, Queue>()
  let places = 0
  let fences = 0
  const queue = (name: string): Queue => {
    const existing = queues.get(name)
    if (existing !== undefined) return existing
    const made = {
      items: new Map(),
      lines: new Map(),
      fronts: SortedRows.make<Item>(byDue)
    }
    queues.set(name, made)
    return made
  }
  const awaken = (transaction: Transaction, name: string): void => {
    transaction.afterCommit.push(() => wakes.wake(`work:${name}`))
  }

  /** Returns the item of a lease that is still valid. */
  const held = (
    transaction: Transaction,
    lease: Lease,
    now: number
  ): Result.Result<Item, LeaseLost> => {
    const item = queues.get(lease.queue)?.items.get(lease.itemId)
    const holds =
      item !== undefined &&
      item.fence === lease.fence &&
      item.leasedUntil !== null &&
      (item.leasedUntil > now || item.heldBy === transaction.id)
    return holds
      ? Result.succeed(item)
      : Result.fail(new LeaseLost({ queue: lease.queue, itemId: lease.itemId }))
  }

  const leased = (
    lease: Lease,
    f: (transaction: Transaction, item: Item, now: number) => void
  ): Effect.Effect<void, LeaseLost> =>
    Effect.flatMap(Clock.Clock, (clock) =>
      transactions.attempt((transaction) => {
        const now = clock.currentTimeMillisUnsafe()
        return Result.map(held(transaction, lease, now), (item) => f(transaction, item, now))
      })
    )

  const leave = (transaction: Transaction, item: Item): void => {
    const from = queue(item.queue)
    Undo.remove(transaction, from.items, item.itemId)
    stepOut(from, item)
    transaction.undo.push(() => stepIn(from, item))
    awaken(transaction, item.queue)
  }

  /** Leases the items of a queue that are due, within a transaction. */
  const leaseDue = (
    transaction: Transaction,
    { queue: name, limit }: { readonly queue: string; readonly limit: number },
    { now, leaseMillis }: { readonly now: number; readonly leaseMillis: number }
  ): ReadonlyArray<Lease> => {
    const leases: Array<Lease> = []
    for (const item of queue(name).fronts.walk({ direction: "asc" })) {
      if (leases.length >= limit) break
      if (item.runAt > now) break
      if (item.leasedUntil !== null && item.leasedUntil > now) continue
      const startedAt = item.startedAt ?? Instant.sortable(Instant.fromEpochMillis(now))
      Undo.patch(transaction, item, {
        leasedUntil: now + leaseMillis,
        fence: ++fences,
        attempt: item.attempt + 1,
        startedAt
      })
      leases.push({
        queue: name,
        itemId: item.itemId,
        resource: item.resource,
        payload: item.payload,
        fence: item.fence,
        attempt: item.attempt,
        startedAt
      })
    }
    return leases
  }

  const leaseEach: WorkQueue["Service"]["leaseEach"] = ({ queues: requests, limit, leaseMillis }) =>
    Effect.flatMap(Clock.Clock, (clock) =>
      transactions.write((transaction) => {
        const at = { now: clock.currentTimeMillisUnsafe(), leaseMillis }
        const leases: Array<Lease> = []
        for (const request of requests) {
          const most = Math.min(request.limit, limit - leases.length)
          leases.push(...leaseDue(transaction, { ...request, limit: most }, at))
        }
        return leases
      })
    )

  return {
    store: transactions.store,
    enqueue: (items) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        transactions.write((transaction) => {
          for (const item of items) {
            const into = queue(item.queue)
            if (into.items.has(item.itemId)) continue
            const row: Item = {
              ...item,
              place: ++places,
              runAt: now + item.delay,
              leasedUntil: null,
              heldBy: 0,
              fence: 0,
              attempt: 0,
              startedAt: null
            }
            Undo.set(transaction, into.items, item.itemId, row)
            stepIn(into, row)
            transaction.undo.push(() => stepOut(into, row))
            awaken(transaction, item.queue)
          }
        })
      ),
    lease: ({ queue: name, ...request }) =>
      leaseEach({ ...request, queues: [{ queue: name, limit: request.limit }] }),
    leaseEach,
    fence: (lease) =>
      Effect.andThen(
        transactions.inside("WorkQueue.fence", () => {}),
        leased(lease, (transaction, item) =>
          Undo.patch(transaction, item, { heldBy: transaction.id })
        )
      ),
    renew: (lease, leaseMillis) =>
      leased(lease, (transaction, item, now) =>
        Undo.patch(transaction, item, { leasedUntil: now + leaseMillis })
      ),
    finish: (lease) => leased(lease, leave),
    settle: ({ queue: name, itemIds }) =>
      transactions.write((transaction) => {
        for (const itemId of itemIds) {
          const item = queues.get(name)?.items.get(itemId)
          if (item !== undefined) leave(transaction, item)
        }
      }),
    release: (lease, { delay, payload }) =>
      leased(lease, (transaction, item, now) => {
        const { fronts } = queue(item.queue)
        // A leased item stays at the front of its resource, ordered by its due time.
        fronts.remove(item)
        transaction.undo.push(() => fronts.add(item))
        Undo.patch(transaction, item, {
          leasedUntil: null,
          runAt: now + delay,
          payload: payload ?? item.payload
        })
        fronts.add(item)
        transaction.undo.push(() => fronts.remove(item))
        awaken(transaction, item.queue)
      }),
    hasten: ({ queue: name, itemIds }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        transactions.write((transaction) => {
          const { items, lines, fronts } = queue(name)
          for (const itemId of itemIds) {
            const item = items.get(itemId)
            if (item === undefined || item.runAt <= now) continue
            if (item.leasedUntil !== null && item.leasedUntil > now) continue
            const isFront = frontOf(lines.get(item.resource)) === item
            if (isFront) {
              fronts.remove(item)
              transaction.undo.push(() => fronts.add(item))
            }
            Undo.patch(transaction, item, { runAt: now })
            if (isFront) {
              fronts.add(item)
              transaction.undo.push(() => fronts.remove(item))
            }
            awaken(transaction, name)
          }
        })
      ),
    find: ({ queue: name, itemId }) =>
      transactions.read(() =>
        Option.map(
          Option.fromUndefinedOr(queues.get(name)?.items.get(itemId)),
          ({ payload, attempt }) => ({ payload, attempt })
        )
      ),
    depth: (name) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        transactions.read(() => {
          const items = [...(queues.get(name)?.items.values() ?? [])]
          const waiting = items.filter((i) => i.leasedUntil === null || i.leasedUntil <= now)
          const due = waiting.filter((item) => item.runAt <= now)
          return {
            waiting: waiting.length,
            leased: items.length - waiting.length,
            oldestMillis: due.reduce<number | null>(
              (oldest, item) => Math.max(oldest ?? 0, now - item.runAt),
              null
            )
          }
        })
      ),
    wakes: (name) => wakes.stream(`work:${name}`)
  }
}

const byPlace = (a: Item, b: Item): number => a.place - b.place

const byDue = (a: Item, b: Item): number => a.runAt - b.runAt || byPlace(a, b)

const frontOf = (line: SortedRows.SortedRows<Item> | undefined): Item | undefined =>
  line?.walk({ direction: "asc" }).next().value

/** Queues an item behind the others of its resource; the first of a resource can be leased. */
const stepIn = (queue: Queue, item: Item): void => {
  const line = queue.lines.get(item.resource) ?? SortedRows.make<Item>(byPlace)
  queue.lines.set(item.resource, line)
  const before = frontOf(line)
  line.add(item)
  if (frontOf(line) !== item) return
  if (before !== undefined) queue.fronts.remove(before)
  queue.fronts.add(item)
}

const stepOut = (queue: Queue, item: Item): void => {
  const line = queue.lines.get(item.resource)
  if (line === undefined) return
  const first = frontOf(line) === item
  line.remove(item)
  if (first) queue.fronts.remove(item)
  const next = frontOf(line)
  if (first && next !== undefined) queue.fronts.add(next)
  if (next === undefined) queue.lines.delete(item.resource)
}
