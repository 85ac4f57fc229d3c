/** Work queue in PostgreSQL: leases with `skip locked`, fences, and the database's clock. */
import { type Lease, LeaseLost, type WorkItem, type WorkQueue } from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import type { Wakes } from "../memory/Wakes.ts"
import * as Batches from "./Batches.ts"
import type { Session, Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

/**
 * Number of the locks that resources share by their hash: a batch of any size takes no more of the
 * database's lock table. Two numbers name a lock: a key space apart from the locks of names.
 */
const LOCKS = 1024

const lockOf = (queue: string, resource: string): string =>
  `(hashtext(${queue} || chr(31) || ${resource}) & ${LOCKS - 1})`

/** The place is assigned under the resource's lock, so no older item of it can commit later. */
const ENQUEUE = `
with given as materialized (
  select r.*, pg_advisory_xact_lock(4218, lock) as held
  from (
    select r.*, ${lockOf("queue", "resource")} as lock
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int8[])
      with ordinality as r(queue, item_id, resource, payload, delay, n)
    order by lock, n
  ) r
)
insert into bursar.work (queue, item_id, resource, payload, run_at)
select queue, item_id, resource, payload, clock_timestamp() + delay * interval '1 millisecond'
from given order by n
on conflict (queue, item_id) do nothing`

/** Inserts one item, the most frequent call. */
const ENQUEUE_ONE = `
insert into bursar.work (queue, item_id, resource, payload, run_at)
select $1, $2, $3, $4, clock_timestamp() + $5::int8 * interval '1 millisecond'
from (
  select pg_advisory_xact_lock(4218, ${lockOf("$1::text", "$3::text")}) offset 0
) held
on conflict (queue, item_id) do nothing`

/** Items of a queue that may be leased, locked. */
const due = (queue: string, limit: string): string => `
  select w.queue, w.item_id from bursar.work w
  where w.queue = ${queue} and w.run_at <= statement_timestamp()
    and (w.leased_until is null or w.leased_until <= statement_timestamp())
    and not exists (
      select from bursar.work o
      where o.queue = w.queue and o.resource = w.resource and o.place < w.place)
  order by w.run_at, w.place limit ${limit}
  for no key update of w skip locked`

const leasing = (items: string): string => `
with due as materialized (${items})
update bursar.work w
set leased_until = clock_timestamp() + $4::int8 * interval '1 millisecond', worker = $2,
  fence = nextval('bursar.work_fence'), attempt = attempt + 1,
  started_at = coalesce(started_at, clock_timestamp())
from due where w.queue = due.queue and w.item_id = due.item_id
returning w.queue, w.item_id, (extract(epoch from w.run_at) * 1000000)::int8 as due, w.place, w.resource,
  w.payload, w.fence, w.attempt,
  to_char(w.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '000Z' as started_at`

const LEASE = leasing(due("$1", "$3::int8"))

/** A loop over the queues in their order, which ends once it has found enough. */
const LEASE_EACH = leasing(`
  select d.queue, d.item_id
  from unnest($1::text[], $5::int8[]) as asked(queue, most)
  cross join lateral (${due("asked.queue", "asked.most")}) d
  limit $3::int8`)

const UNDER_FENCE = "queue = $1 and item_id = $2 and fence = $3::int8 and leased_until is not null"

/** Condition of a valid lease: after its expiry the fence alone does not suffice. */
const HELD = `${UNDER_FENCE} and leased_until > clock_timestamp()`

/**
 * Renews a lease without waiting for its row. A transaction that has locked the row holds the lease,
 * which cannot run out before it ends: this one then leaves the expiry as it is. A wait for a long
 * transaction would be ended by the limit on statements, and its worker would take the store to be
 * away.
 */
const RENEW = `
with free as materialized (
  select leased_until > clock_timestamp() or $5::boolean as valid
  from bursar.work where ${UNDER_FENCE} for no key update skip locked
),
renewed as (
  update bursar.work set leased_until = clock_timestamp() + $4::int8 * interval '1 millisecond'
  where ${UNDER_FENCE} and (select valid from free)
  returning 1
)
select 1 where exists (select from renewed)
  or (not exists (select from free) and exists (select from bursar.work where ${UNDER_FENCE}))`

/**
 * Items under the leases of a batch, with further columns for each; a lease that the transaction holds
 * does not expire in it.
 */
const underLeases = (more: { readonly columns: string; readonly names: string }) => `
unnest($1::text[], $2::text[], $3::int8[], $4::text[]${more.columns})
  as l(queue, item_id, fence, held${more.names})
where w.queue = l.queue and w.item_id = l.item_id and w.fence = l.fence
  and w.leased_until is not null and (l.held = 'held' or w.leased_until > clock_timestamp())`

const UNDER_LEASES = underLeases({ columns: "", names: "" })

const HOLD_EACH = `
select w.fence from bursar.work w, ${UNDER_LEASES} for no key update of w`

const FINISH_EACH = `delete from bursar.work w using ${UNDER_LEASES} returning w.fence`

/** Update that gives items back. */
const releasing = ({
  payload,
  delay
}: {
  readonly delay: string
  readonly payload: string
}): string => `
update bursar.work w
set leased_until = null, worker = null, payload = coalesce(${payload}, w.payload),
  run_at = clock_timestamp() + ${delay} * interval '1 millisecond'`

const RELEASE = releasing({ delay: "$4::int8", payload: "$5" })

const RELEASE_EACH = `${releasing({ delay: "l.delay", payload: "l.payload" })}
from ${underLeases({ columns: ", $5::int8[], $6::text[]", names: ", delay, payload" })}
returning w.fence`

/** An item to give back. */
interface Release {
  readonly lease: Lease
  readonly delay: number
  readonly payload: string | null
}

const isHeld = (session: Session | undefined, lease: Lease): boolean =>
  session?.notes.has(heldNote(lease)) === true

/** Runs a statement that returns the fences of the leases that are valid, for several leases. */
const leasedEach =
  (sessions: Sessions, statement: string) =>
  (leases: ReadonlyArray<Lease>, more: ReadonlyArray<unknown> = []) =>
    Effect.gen(function* () {
      const session = yield* sessions.current
      const { rows } = yield* sessions.ask(statement, [
        Values.texts(leases.map(({ queue }) => queue)),
        Values.texts(leases.map(({ itemId }) => itemId)),
        Values.integers(leases.map(({ fence }) => fence)),
        Values.texts(leases.map((lease) => (isHeld(session, lease) ? "held" : ""))),
        ...more
      ])
      const fences = new Set(rows.map((row) => Values.number(row, "fence")))
      return leases.map(({ fence }) => fences.has(fence))
    })

export const make = ({
  sessions,
  wakes
}: {
  readonly sessions: Sessions
  readonly wakes: Wakes
}): WorkQueue["Service"] => {
  /** Notifies the queue's workers after the commit. */
  const awaken = (queues: Iterable<string>): Effect.Effect<void> =>
    Effect.map(sessions.current, (session) => {
      for (const queue of new Set(queues)) {
        if (session === undefined) wakes.wake(topicOf(queue))
        else session.afterCommit.push(() => wakes.wake(topicOf(queue)))
      }
    })

  /**
   * Runs a statement under a lease, which does not expire within this transaction; answers whether
   * the lease is valid.
   */
  const underLease = (
    lease: Lease,
    statement: (condition: string) => string,
    { ask, more }: { readonly more: ReadonlyArray<unknown>; readonly ask: Sessions["ask"] } = {
      more: [],
      ask: sessions.ask
    }
  ) =>
    Effect.gen(function* () {
      const condition = isHeld(yield* sessions.current, lease) ? UNDER_FENCE : HELD
      const { rows } = yield* ask(statement(condition), [
        lease.queue,
        lease.itemId,
        String(lease.fence),
        ...more
      ])
      return rows.length > 0
    })

  const orLost = <E>(
    { queue, itemId }: Lease,
    isValid: Effect.Effect<boolean, E>
  ): Effect.Effect<void, E | LeaseLost> =>
    Effect.flatMap(isValid, (valid) =>
      valid ? Effect.void : Effect.fail(new LeaseLost({ queue, itemId }))
    )

  const hold = Batches.make(sessions.current, {
    alone: (lease: Lease) =>
      underLease(
        lease,
        (fenceCondition) => `select 1 from bursar.work where ${fenceCondition} for no key update`
      ),
    together: leasedEach(sessions, HOLD_EACH)
  })

  const finish = Batches.make(sessions.current, {
    alone: (lease: Lease) =>
      underLease(
        lease,
        (fenceCondition) => `delete from bursar.work where ${fenceCondition} returning 1`
      ),
    together: leasedEach(sessions, FINISH_EACH)
  })

  const releaseBy =
    (ask: Sessions["ask"]) =>
    ({ delay, lease, payload }: Release) =>
      underLease(lease, (fenceCondition) => `${RELEASE} where ${fenceCondition} returning 1`, {
        more: [String(delay), payload],
        ask
      })

  const released = leasedEach(sessions, RELEASE_EACH)
  const releaseWithin = Batches.make(sessions.current, {
    alone: releaseBy(sessions.ask),
    together: (calls) =>
      released(
        calls.map(({ lease }) => lease),
        [
          Values.integers(calls.map(({ delay }) => delay)),
          Values.texts(calls.map(({ payload }) => payload))
        ]
      )
  })

  /**
   * A release that a crash takes back leaves the item to the end of its lease, and its payload as it
   * was: outside of a transaction it waits for no flush.
   */
  const release = (call: Release) =>
    Effect.flatMap(sessions.current, (session) =>
      session === undefined ? releaseBy(sessions.askApart)(call) : releaseWithin(call)
    )

  /** Outside of a transaction it waits for no flush: a crash leaves the items due when they were. */
  const hasten = (parameters: ReadonlyArray<unknown>) =>
    Effect.flatMap(sessions.current, (session) =>
      (session === undefined ? sessions.askApart : sessions.send)(
        `update bursar.work set run_at = clock_timestamp()
         where queue = $1 and item_id = any ($2::text[]) and run_at > clock_timestamp()
           and (leased_until is null or leased_until <= clock_timestamp())`,
        parameters
      )
    )

  const enqueue = (items: ReadonlyArray<WorkItem>) => {
    const [first, ...more] = items
    return first === undefined || more.length > 0
      ? sessions.send(ENQUEUE, [
          Values.texts(items.map((item) => item.queue)),
          Values.texts(items.map((item) => item.itemId)),
          Values.texts(items.map((item) => item.resource)),
          Values.texts(items.map((item) => item.payload)),
          Values.integers(items.map((item) => item.delay))
        ])
      : sessions.send(ENQUEUE_ONE, [
          first.queue,
          first.itemId,
          first.resource,
          first.payload,
          String(first.delay)
        ])
  }

  return {
    store: sessions.store,
    enqueue: (items) =>
      items.length === 0
        ? Effect.void
        : Effect.andThen(enqueue(items), awaken(items.map((item) => item.queue))),
    lease: ({ queue, worker, limit, leaseMillis }) =>
      Effect.map(
        sessions.ask(LEASE, [queue, worker, String(limit), String(leaseMillis)]),
        ({ rows }) => rows.toSorted(byDue).map(leaseOf)
      ),
    leaseEach: ({ queues, worker, limit, leaseMillis }) =>
      Effect.map(
        sessions.ask(LEASE_EACH, [
          Values.texts(queues.map(({ queue }) => queue)),
          worker,
          String(limit),
          String(leaseMillis),
          Values.integers(queues.map((queue) => queue.limit))
        ]),
        ({ rows }) => {
          const leases = Map.groupBy(rows.toSorted(byDue).map(leaseOf), ({ queue }) => queue)
          return queues.flatMap(({ queue }) => leases.get(queue) ?? [])
        }
      ),
    fence: (lease) =>
      sessions.inside("WorkQueue.fence", (session) =>
        Effect.map(orLost(lease, hold(lease)), () => {
          session.notes.set(heldNote(lease), true)
        })
      ),
    renew: (lease, leaseMillis) =>
      orLost(
        lease,
        Effect.flatMap(sessions.current, (session) =>
          Effect.map(
            sessions.ask(RENEW, [
              lease.queue,
              lease.itemId,
              String(lease.fence),
              String(leaseMillis),
              isHeld(session, lease) ? "true" : "false"
            ]),
            ({ rows }) => rows.length > 0
          )
        )
      ),
    finish: (lease) => Effect.andThen(orLost(lease, finish(lease)), awaken([lease.queue])),
    settle: ({ queue, itemIds }) =>
      itemIds.length === 0
        ? Effect.void
        : Effect.andThen(
            sessions.send(
              "delete from bursar.work where queue = $1 and item_id = any ($2::text[])",
              [queue, Values.texts(itemIds)]
            ),
            awaken([queue])
          ),
    release: (lease, { delay, payload }) =>
      Effect.andThen(
        orLost(lease, release({ lease, delay, payload: payload ?? null })),
        awaken([lease.queue])
      ),
    hasten: ({ queue, itemIds }) =>
      itemIds.length === 0
        ? Effect.void
        : Effect.andThen(hasten([queue, Values.texts(itemIds)]), awaken([queue])),
    find: ({ queue, itemId }) =>
      Effect.map(
        sessions.look(
          "select payload, attempt from bursar.work where queue = $1 and item_id = $2",
          [queue, itemId]
        ),
        ({ rows }) =>
          Option.map(Option.fromUndefinedOr(rows[0]), (row) => ({
            payload: Values.text(row, "payload"),
            attempt: Values.number(row, "attempt")
          }))
      ),
    depth: (queue) =>
      Effect.map(
        sessions.look(
          `select
             count(*) filter (where not leased) as waiting,
             count(*) filter (where leased) as leased,
             floor(extract(epoch from clock_timestamp()
               - min(run_at) filter (where not leased and run_at <= clock_timestamp()))
               * 1000)::int8 as oldest
           from (select run_at, coalesce(leased_until > clock_timestamp(), false) as leased
                 from bursar.work where queue = $1) w`,
          [queue]
        ),
        ({ rows }) => {
          const row = rows[0] ?? {}
          return {
            waiting: Values.number(row, "waiting"),
            leased: Values.number(row, "leased"),
            oldestMillis: Values.numberOrNull(row, "oldest")
          }
        }
      ),
    wakes: (queue) => wakes.stream(topicOf(queue))
  }
}

const heldNote = (lease: Lease): string => `held ${lease.queue} ${lease.itemId} ${lease.fence}`

const topicOf = (queue: string): string => `work:${queue}`

const byDue = (a: Values.Row, b: Values.Row): number =>
  Values.number(a, "due") - Values.number(b, "due") ||
  Values.number(a, "place") - Values.number(b, "place")

const leaseOf = (row: Values.Row): Lease => ({
  queue: Values.text(row, "queue"),
  itemId: Values.text(row, "item_id"),
  resource: Values.text(row, "resource"),
  payload: Values.text(row, "payload"),
  fence: Values.number(row, "fence"),
  attempt: Values.number(row, "attempt"),
  startedAt: Values.text(row, "started_at")
})
