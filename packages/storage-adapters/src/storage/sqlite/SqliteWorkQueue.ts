/** Work queue in SQLite: leases, fences and the machine's clock, under the one writer's lock. */
import { Instant } from "@bursar/engine-core/kernel"
import { type Lease, LeaseLost, type WorkQueue } from "@bursar/engine-core/ports"
import { Clock, Effect, Option, Result } from "effect"
import type { Wakes } from "../memory/Wakes.ts"
import * as Columns from "./Columns.ts"
import type { Database } from "./Database.ts"
import type { SqliteTransaction, SqliteTransactions } from "./Transactions.ts"

/** Items that may be leased; the oldest of a resource alone. */
const DUE = `
from work w where w.queue = ? and w.run_at <= ?
  and (w.leased_until is null or w.leased_until <= ?)
  and not exists (
    select 1 from work o where o.queue = w.queue and o.resource = w.resource and o.place < w.place)`

export const make = ({
  transactions,
  wakes
}: {
  readonly transactions: SqliteTransactions
  readonly wakes: Wakes
}): WorkQueue["Service"] => {
  const awaken = ({ afterCommit }: SqliteTransaction, queue: string): void => {
    afterCommit.push(() => wakes.wake(topicOf(queue)))
  }

  /** Runs a change of an item under its lease, which does not run out in a transaction that is fenced by it. */
  const leased = (
    lease: Lease,
    change: (
      transaction: SqliteTransaction,
      item: { readonly place: number; readonly now: number }
    ) => void
  ) =>
    Effect.flatMap(Clock.Clock, (clock) =>
      transactions.attempt((transaction) => {
        const now = clock.currentTimeMillisUnsafe()
        const { queue, itemId, fence } = lease
        const row = transaction.db.get(
          `select place from work where queue = ? and item_id = ? and fence = ?
             and leased_until is not null and (leased_until > ? or ?)`,
          [queue, itemId, fence, now, transaction.notes.has(heldNote(lease)) ? 1 : 0]
        )
        if (row === undefined) return Result.fail(new LeaseLost({ queue, itemId }))
        change(transaction, { place: Columns.number(row, "place"), now })
        return Result.void
      })
    )

  const leaseEach: WorkQueue["Service"]["leaseEach"] = ({ queues, worker, limit, leaseMillis }) =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      // Most looks at a queue find nothing: they take no writer's lock.
      const isOpen = (yield* transactions.current) !== undefined
      const isDue = yield* transactions.read((db) =>
        queues.some((request) => isAnyDue(db, { ...request, now: clock.currentTimeMillisUnsafe() }))
      )
      if (!isOpen && !isDue) return []
      return yield* transactions.write(({ db }) => {
        const now = clock.currentTimeMillisUnsafe()
        const leases: Array<Lease> = []
        for (const request of queues) {
          const most = Math.min(request.limit, limit - leases.length)
          leases.push(
            ...leaseDue(db, { queue: request.queue, worker, limit: most, now, leaseMillis })
          )
        }
        return leases
      })
    })

  return {
    store: transactions.store,
    enqueue: (items) =>
      items.length === 0
        ? Effect.void
        : Effect.flatMap(Clock.Clock, (clock) =>
            transactions.write((transaction) => {
              const now = clock.currentTimeMillisUnsafe()
              for (const { queue, itemId, resource, payload, delay } of items) {
                transaction.db.run(
                  `insert into work (queue, item_id, resource, payload, run_at)
                   values (?, ?, ?, ?, ?) on conflict (queue, item_id) do nothing`,
                  [queue, itemId, resource, payload, now + delay]
                )
                awaken(transaction, queue)
              }
            })
          ),
    lease: ({ queue, ...request }) =>
      leaseEach({ ...request, queues: [{ queue, limit: request.limit }] }),
    leaseEach,
    fence: (lease) =>
      Effect.andThen(
        transactions.inside("WorkQueue.fence", () => {}),
        leased(lease, ({ notes }) => {
          notes.set(heldNote(lease), true)
        })
      ),
    renew: (lease, leaseMillis) =>
      leased(lease, ({ db }, { place, now }) => {
        db.run("update work set leased_until = ? where place = ?", [now + leaseMillis, place])
      }),
    finish: (lease) =>
      leased(lease, (transaction, { place }) => {
        transaction.db.run("delete from work where place = ?", [place])
        awaken(transaction, lease.queue)
      }),
    settle: ({ queue, itemIds }) =>
      itemIds.length === 0
        ? Effect.void
        : transactions.write((transaction) => {
            for (const itemId of itemIds) {
              transaction.db.run("delete from work where queue = ? and item_id = ?", [
                queue,
                itemId
              ])
            }
            awaken(transaction, queue)
          }),
    release: (lease, { delay, payload }) =>
      leased(lease, (transaction, { place, now }) => {
        transaction.db.run(
          `update work set leased_until = null, worker = null, payload = coalesce(?, payload),
             run_at = ? where place = ?`,
          [payload ?? null, now + delay, place]
        )
        awaken(transaction, lease.queue)
      }),
    hasten: ({ queue, itemIds }) =>
      itemIds.length === 0
        ? Effect.void
        : Effect.flatMap(Clock.Clock, (clock) =>
            transactions.write((transaction) => {
              const now = clock.currentTimeMillisUnsafe()
              for (const itemId of itemIds) {
                transaction.db.run(
                  `update work set run_at = ? where queue = ? and item_id = ? and run_at > ?
                     and (leased_until is null or leased_until <= ?)`,
                  [now, queue, itemId, now, now]
                )
              }
              awaken(transaction, queue)
            })
          ),
    find: ({ queue, itemId }) =>
      transactions.read((db) =>
        Option.map(
          Option.fromUndefinedOr(
            db.get("select payload, attempt from work where queue = ? and item_id = ?", [
              queue,
              itemId
            ])
          ),
          (row) => ({
            payload: Columns.text(row, "payload"),
            attempt: Columns.number(row, "attempt")
          })
        )
      ),
    depth: (queue) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        transactions.read((db) => {
          const row =
            db.get(
              `select count(*) filter (where not leased) as waiting,
                 count(*) filter (where leased) as leased,
                 min(run_at) filter (where not leased and run_at <= ?) as oldest
               from (select run_at, coalesce(leased_until > ?, 0) as leased
                     from work where queue = ?)`,
              [now, now, queue]
            ) ?? {}
          const oldest = Columns.numberOrNull(row, "oldest")
          return {
            waiting: Columns.number(row, "waiting"),
            leased: Columns.number(row, "leased"),
            oldestMillis: oldest === null ? null : now - oldest
          }
        })
      ),
    wakes: (queue) => wakes.stream(topicOf(queue))
  }
}

const isAnyDue = (
  db: Database,
  { queue, limit, now }: { readonly queue: string; readonly limit: number; readonly now: number }
): boolean => limit > 0 && db.get(`select 1 ${DUE} limit 1`, [queue, now, now]) !== undefined

const leaseDue = (
  db: Database,
  {
    queue,
    worker,
    limit,
    now,
    leaseMillis
  }: {
    readonly queue: string
    readonly worker: string
    readonly limit: number
    readonly now: number
    readonly leaseMillis: number
  }
): ReadonlyArray<Lease> =>
  db
    .all(
      `select w.place, w.item_id, w.resource, w.payload, w.attempt, w.started_at ${DUE}
       order by w.run_at, w.place limit ?`,
      [queue, now, now, Math.max(0, limit)]
    )
    .map((row) => {
      const attempt = Columns.number(row, "attempt") + 1
      const startedAt =
        Columns.textOrNull(row, "started_at") ?? Instant.sortable(Instant.fromEpochMillis(now))
      const fence = Columns.number(
        db.get("update work_fence set last = last + 1 where id = 1 returning last") ?? {},
        "last"
      )
      db.run(
        `update work set leased_until = ?, worker = ?, fence = ?, attempt = ?, started_at = ?
         where place = ?`,
        [now + leaseMillis, worker, fence, attempt, startedAt, Columns.number(row, "place")]
      )
      return {
        queue,
        itemId: Columns.text(row, "item_id"),
        resource: Columns.text(row, "resource"),
        payload: Columns.text(row, "payload"),
        fence,
        attempt,
        startedAt
      }
    })

const heldNote = ({ queue, itemId, fence }: Lease): string =>
  JSON.stringify(["held", queue, itemId, fence])

const topicOf = (queue: string): string => `work:${queue}`
