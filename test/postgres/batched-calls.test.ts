/** Batch loader of a transaction: the members of a group commit share their look-ups and bindings. */
import { Atomically, Documents, Keys, WorkQueue } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Socket } from "node:net"
import { afterEach, beforeEach, expect, vi } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"

/** Statements on their way to the database, by the table they are about. */
const sent: Array<string> = []

beforeEach(() => {
  const write = Socket.prototype.write
  vi.spyOn(Socket.prototype, "write").mockImplementation(function (this: Socket, ...given) {
    const text = Buffer.from(given[0] as Uint8Array).toString("latin1")
    for (const [, table] of text.matchAll(/(?:from|into|update) bursar\.(document|key|work)\b/g)) {
      if (table !== undefined) sent.push(table)
    }
    return Reflect.apply(write, this, given) as boolean
  })
})

afterEach(() => {
  vi.restoreAllMocks()
})

const bulk = 64

/** A store that prepares no statement, so that each is on the wire with its text. */
const opened = Effect.gen(function* () {
  const url = Redacted.make(yield* TestDatabase.url)
  const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, prepare: false })))
  const work = Context.get(store, WorkQueue)
  const items = Array.from({ length: bulk }, (_, n) => `i${n}`)
  yield* work.enqueue(
    items.map((itemId) => ({ queue: "q", itemId, resource: itemId, payload: "", delay: 0 }))
  )
  const leases = yield* work.lease({ queue: "q", worker: "w", limit: bulk, leaseMillis: 60_000 })
  sent.length = 0
  return {
    leases,
    work,
    atomically: Context.get(store, Atomically),
    documents: Context.get(store, Documents),
    keys: Context.get(store, Keys),
    sql: Context.get(store, SqlClient.SqlClient)
  }
})

const now = "2026-01-01T00:00:00.000000000Z"

it.effect("sends one statement for the calls that the members of a transaction make at once", () =>
  Effect.gen(function* () {
    const { atomically, documents, keys, leases, work } = yield* opened
    const member = (lease: (typeof leases)[number]) =>
      Effect.gen(function* () {
        const key = lease.itemId
        const binding = { scope: "s", key, fingerprint: "f", target: "t", bindsUntil: null, now }
        yield* keys.bind(binding)
        const pin = { by: "latest" } as const
        yield* documents.get({ collection: "c", recordIds: [lease.itemId], pin })
        yield* work.fence(lease)
        yield* work.finish(lease)
      })
    yield* atomically.run(Effect.forEach(leases, member, { concurrency: "unbounded" }))
    expect(sent).toEqual(["key", "document", "work", "work"])
  }).pipe(Effect.scoped)
)

it.effect("gives items back in one statement, each with its delay and its payload", () =>
  Effect.gen(function* () {
    const { atomically, leases, sql, work } = yield* opened
    const [lost, ...held] = leases
    const member = (lease: (typeof leases)[number], n: number) =>
      Effect.gen(function* () {
        yield* work.fence(lease)
        const payload = n % 2 === 0 ? {} : { payload: `p${n}` }
        yield* work.release(lease, { delay: n * 60_000, ...payload })
      })
    yield* atomically.run(Effect.forEach(held, member, { concurrency: "unbounded" }))
    expect(sent).toEqual(["work", "work"])
    const rows = yield* sql`
      select item_id, payload, leased_until is null and worker is null as free,
        round(extract(epoch from run_at - clock_timestamp()) / 60)::int4 as minutes
      from bursar.work where item_id <> ${lost!.itemId} order by place`
    expect(rows).toEqual(
      held.map(({ itemId: item_id }, n) => ({
        item_id,
        payload: n % 2 === 0 ? "" : `p${n}`,
        free: true,
        minutes: n
      }))
    )
    const again = work.release(held[0]!, { delay: 0 })
    const exits = yield* Effect.exit(
      atomically.run(
        Effect.all([Effect.exit(again), Effect.exit(work.release(lost!, { delay: 0 }))], {
          concurrency: "unbounded"
        })
      )
    )
    expect(Exit.isSuccess(exits) && exits.value.map(Exit.isSuccess)).toEqual([false, true])
  }).pipe(Effect.scoped)
)

it.effect("lets one of several calls bind a key, also where they are the same value", () =>
  Effect.gen(function* () {
    const { atomically, keys } = yield* opened
    const bindsUntil = null
    const binding = keys.bind({
      scope: "s",
      key: "k",
      fingerprint: "f",
      target: "t",
      bindsUntil,
      now
    })
    const exits = yield* atomically.run(
      Effect.all([binding, binding], { concurrency: "unbounded" })
    )
    expect(exits.map(({ isBound }) => isBound)).toEqual([true, false])
  }).pipe(Effect.scoped)
)

it.effect("answers the rest of a batch where a member no longer waits for it", () =>
  Effect.gen(function* () {
    const { atomically, documents } = yield* opened
    const pin = { by: "latest" } as const
    const get = documents.get({ collection: "c", recordIds: ["r"], pin })
    const exit = yield* Effect.exit(
      atomically.run(
        Effect.all([Effect.timeoutOption(get, 0), get, get], { concurrency: "unbounded" })
      )
    )
    expect(Exit.isSuccess(exit)).toBe(true)
  }).pipe(Effect.scoped)
)

it.effect("fails every call of a batch whose statement fails", () =>
  Effect.gen(function* () {
    const { atomically, documents, sql } = yield* opened
    yield* sql`alter table bursar.document rename to document_away`
    const pin = { by: "latest" } as const
    const get = documents.get({ collection: "c", recordIds: ["r"], pin })
    const exits = yield* Effect.exit(
      atomically.run(Effect.all([Effect.exit(get), Effect.exit(get)], { concurrency: "unbounded" }))
    )
    expect(Exit.isFailure(exits)).toBe(true)
  }).pipe(Effect.scoped)
)
