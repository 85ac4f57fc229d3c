/**
 * Streams of few records take no cursor, and their statements go out with those of their reading scope;
 * those of many are read by a cursor, from one snapshot.
 */
import { Atomically, Documents, type StoredPin } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Socket } from "node:net"
import { afterEach, beforeEach, expect, vi } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"

/** Cursors that were declared on the way to the database, those of them that begin after a record, and statements of records. */
let cursors = 0
let continued = 0
let statements = 0

beforeEach(() => {
  const write = Socket.prototype.write
  vi.spyOn(Socket.prototype, "write").mockImplementation(function (this: Socket, ...given) {
    const text = Buffer.from(given[0] as Uint8Array).toString("latin1")
    cursors += text.match(/declare cursor_/g)?.length ?? 0
    continued += text.match(/declare cursor_[^\0]*? and d\.sort_key > /g)?.length ?? 0
    statements += text.split("\0").filter((sql) => sql.includes(" from bursar.document")).length
    return Reflect.apply(write, this, given) as boolean
  })
})

afterEach(() => {
  vi.restoreAllMocks()
})

const instant = (n: number) => `2026-01-01T00:00:00.${String(n).padStart(9, "0")}Z`

/** Numbers of records, and the cursors that the latest ones and an earlier version of each take. */
const cases = [
  { count: 0, latest: 0, earlier: 0 },
  { count: 255, latest: 0, earlier: 0 },
  // A pin before more than 256 closed versions is answered by other statements of a list.
  { count: 300, latest: 0, earlier: 0 },
  { count: 499, latest: 0, earlier: 0 },
  { count: 500, latest: 1, earlier: 1 },
  { count: 1_201, latest: 1, earlier: 1 }
]

const pins: ReadonlyArray<readonly [version: string, pin: StoredPin]> = [
  ["2", { by: "latest" }],
  ["2", { by: "instant", instant: instant(2) }],
  ["1", { by: "offset", offset: 1 }],
  ["1", { by: "instant", instant: instant(1) }]
]

it.effect("streams each record once, by a cursor only where they are many", () =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    // Prepares no statement, so that each is on the wire with its text.
    const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, prepare: false })))
    const sql = Context.get(store, SqlClient.SqlClient)
    const documents = Context.get(store, Documents)
    for (const { count, latest, earlier } of cases) {
      const collection = `c-${count}`
      yield* sql`
        insert into bursar.document (collection, record_id, version, sort_key, body, filters,
          created_at, from_offset, from_instant, to_offset, to_instant)
        select ${collection}::text, n::text, v, lpad(n::text, 6, '0'), v::text, '{}', ${instant(1)},
          v, case v when 1 then ${instant(1)} else ${instant(2)} end,
          case v when 1 then 2 end, case v when 1 then ${instant(2)} end
        from generate_series(1, ${count}::int4) n, generate_series(1, 2) v`
      const ids = Array.from({ length: count }, (_, n) => String(n + 1))
      for (const [version, pin] of pins) {
        cursors = 0
        continued = 0
        const found = yield* Stream.runCollect(
          documents.stream({ collection, pin, where: [], direction: "asc" })
        )
        const name = `${count} at ${JSON.stringify(pin)}`
        expect(
          found.map(({ recordId }) => recordId),
          name
        ).toEqual(ids)
        expect(found.every(({ body }) => body === version)).toBe(true)
        expect(cursors, name).toBe(version === "2" ? latest : earlier)
        // Versions at an instant stay the same: the cursor goes on where the first page ended.
        expect(continued, name).toBe(pin.by === "instant" ? cursors : 0)
      }
    }
  }).pipe(Effect.scoped)
)

it.effect("sends the first pages of the streams of one reading scope in one statement", () =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, prepare: false })))
    const sql = Context.get(store, SqlClient.SqlClient)
    const documents = Context.get(store, Documents)
    yield* sql`
      insert into bursar.document (collection, record_id, version, sort_key, body, filters,
        created_at, from_offset, from_instant)
      select 'c-' || c, n::text, 1, lpad(n::text, 6, '0'), '{}', '{}', ${instant(1)}, 1, ${instant(1)}
      from generate_series(1, 5) c, generate_series(1, 10 * c) n`
    const pin: StoredPin = { by: "instant", instant: instant(2) }
    const sizes = Effect.forEach(
      [1, 2, 3, 4, 5],
      (c) =>
        Effect.map(
          Stream.runCollect(
            documents.stream({ collection: `c-${c}`, pin, where: [], direction: "asc" })
          ),
          ({ length }) => length
        ),
      { concurrency: "unbounded" }
    )
    const { reading } = Context.get(store, Atomically)
    statements = 0
    expect(yield* reading(sizes)).toEqual([10, 20, 30, 40, 50])
    expect(statements).toBe(1)
  }).pipe(Effect.scoped)
)

it.effect("streams in a transaction by a cursor only where the records are many", () =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, prepare: false })))
    const sql = Context.get(store, SqlClient.SqlClient)
    const documents = Context.get(store, Documents)
    const { run } = Context.get(store, Atomically)
    for (const { count, latest } of cases) {
      const collection = `c-${count}`
      yield* sql`
        insert into bursar.document (collection, record_id, version, sort_key, body, filters,
          created_at, from_offset, from_instant)
        select ${collection}::text, n::text, 1, lpad(n::text, 6, '0'), '{}', '{}', ${instant(1)}, 1,
          ${instant(1)} from generate_series(1, ${count}::int4) n`
      cursors = 0
      const found = yield* run(
        Stream.runCollect(
          documents.stream({ collection, pin: { by: "latest" }, where: [], direction: "asc" })
        )
      )
      expect(found.map(({ recordId }) => Number(recordId))).toEqual(
        Array.from({ length: count }, (_, n) => n + 1)
      )
      expect(cursors, String(count)).toBe(latest)
    }
  }).pipe(Effect.scoped)
)
