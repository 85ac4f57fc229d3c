/**
 * Answers of an instant that was given out before: no flush, and no change of the head's row. Look-ups
 * at such an instant, or before its offset: no check of the flush.
 */
import {
  Atomically,
  Documents,
  Feed,
  ProjectionLog,
  type StoredPin
} from "@bursar/engine-core/ports"
import { Instant } from "@bursar/engine-core/kernel"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Socket } from "node:net"
import { afterEach, beforeEach, expect, vi } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import { entries } from "#adapters/conformance/storage-checks/rows.ts"

/** Flushes of the write-ahead log that were sent to the database. */
let flushes = 0
/** Checks of how far the write-ahead log is flushed. */
let checks = 0
/** Flushes that are kept from the database, where there are any; each is sent when it is called. */
let held: Array<() => void> | undefined
/** True: flushes reach the database as a statement that fails. */
let fails = false

beforeEach(() => {
  const write = Socket.prototype.write
  vi.spyOn(Socket.prototype, "write").mockImplementation(function (this: Socket, ...given) {
    const text = Buffer.from(given[0] as Uint8Array).toString("latin1")
    const flushed = text.match(/pg_logical_emit_message/g)?.length ?? 0
    flushes += flushed
    checks += text.match(/pg_current_wal_flush_lsn/g)?.length ?? 0
    if (flushed > 0 && fails) {
      const failing = text.replaceAll("pg_logical_emit_message", "pg_logical_emit_mistake")
      return Reflect.apply(write, this, [Buffer.from(failing, "latin1")]) as boolean
    }
    if (flushed > 0 && held !== undefined) {
      held.push(() => Reflect.apply(write, this, given))
      return true
    }
    return Reflect.apply(write, this, given) as boolean
  })
})

afterEach(() => {
  held = undefined
  fails = false
  vi.restoreAllMocks()
})

const early = Instant.sortable(Instant.of("2026-01-01T00:00:00Z"))

const addMicros = (text: string, micros: number): string =>
  Instant.sortable(Instant.fromNanos(Instant.of(text) + BigInt(micros) * 1_000n))

it.effect("flushes once for an instant that many answers share, and again after a write", () =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    // Without prepared statements each is on the wire with its text.
    const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, prepare: false })))
    const observer = yield* Layer.build(Layer.fresh(Postgres.layerClient({ url })))
    const sql = Context.get(observer, SqlClient.SqlClient)
    const feed = Context.get(store, Feed)
    const { run } = Context.get(store, Atomically)
    /** Version of the head's row: the transaction that wrote it. */
    const version = sql`select xmin::text as version from bursar.head where id = 1`
    const append = run(Effect.flatMap(feed.take(early), (head) => feed.append(head, entries([]))))
    yield* append
    const start = addMicros((yield* feed.head).at, 10)
    const answer = (micros: number) =>
      Effect.tap(feed.answer({ now: addMicros(start, micros), since: start }), feed.answersSettled)

    flushes = 0
    const first = yield* answer(0)
    expect(flushes).toBe(1)
    const written = yield* version
    for (let n = 1; n <= 5; n++) expect(yield* answer(n)).toEqual(first)
    expect(flushes).toBe(1)
    expect(yield* version).toEqual(written)

    yield* append
    flushes = 0
    const second = yield* answer(6)
    expect(second.moves).toBe(first.moves + 1)
    expect(yield* answer(7)).toEqual(second)
    expect(flushes).toBe(1)
  }).pipe(Effect.scoped)
)

it.effect("flushes for an instant that another host has given out", () =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    const opened = Effect.map(
      Layer.build(Layer.fresh(Postgres.layer({ url, prepare: false }))),
      (store) => Context.get(store, Feed)
    )
    const [mine, other] = [yield* opened, yield* opened]
    const start = addMicros((yield* mine.head).at || early, 10)
    const answeredHead = yield* other.answer({ now: start, since: start })
    yield* other.answersSettled
    flushes = 0
    expect(yield* mine.answer({ now: start, since: start })).toEqual(answeredHead)
    yield* mine.answersSettled
    expect(flushes).toBe(1)
  }).pipe(Effect.scoped)
)

it.effect(
  "checks no flush for look-ups at an instant that was settled, and for every other one",
  () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* TestDatabase.url)
      const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, prepare: false })))
      const feed = Context.get(store, Feed)
      const documents = Context.get(store, Documents)
      const { reading } = Context.get(store, Atomically)
      const start = addMicros((yield* feed.head).at || early, 10)
      const { at } = yield* feed.answer({ now: start, since: start })
      yield* feed.answersSettled
      const list = (pin: StoredPin) =>
        documents.list({ collection: "c", pin, where: [], direction: "asc", limit: 9 })
      const checksOf = <E>(looked: Effect.Effect<unknown, E>) =>
        Effect.suspend(() => {
          checks = 0
          return Effect.map(reading(looked), () => checks)
        })
      const settled: StoredPin = { by: "instant", instant: at }
      const collection = "c"
      const lookUps = (pin: StoredPin) => [
        list(pin),
        documents.get({ collection, recordIds: ["a", "b"], pin }),
        documents.countBy({ collection, column: "kind", pin, where: [] }),
        Stream.runDrain(documents.stream({ collection, pin, where: [], direction: "asc" }))
      ]
      for (const look of lookUps(settled)) expect(yield* checksOf(look)).toBe(0)
      const unsettled: StoredPin = { by: "instant", instant: addMicros(at, 1) }
      for (const pin of [unsettled, { by: "latest" }, { by: "offset", offset: 0 }] as const) {
        for (const look of lookUps(pin)) expect(yield* checksOf(look)).toBeGreaterThan(0)
      }
    }).pipe(Effect.scoped)
)

it.effect(
  "checks no flush for look-ups before the offset of a head that was settled, and for those at it",
  () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* TestDatabase.url)
      const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, prepare: false })))
      const [feed, log] = [Context.get(store, Feed), Context.get(store, ProjectionLog)]
      const documents = Context.get(store, Documents)
      const { reading, run } = Context.get(store, Atomically)
      const { offset: from, writerEpoch: epoch } = yield* log.takeOver({ participant: "p" })
      const to = from + 5
      yield* run(log.advance({ epoch, from, to, ledgerTime: early, updates: [] }))
      const start = addMicros((yield* feed.head).at || early, 10)
      const list = (offset: number) =>
        documents.list({
          collection: "c",
          pin: { by: "offset", offset },
          where: [],
          direction: "asc",
          limit: 9
        })
      const before = (through?: number) => log.offsetBefore({ instant: start, through })
      const checksOf = (looked: ReadonlyArray<Effect.Effect<unknown, unknown>>) =>
        Effect.suspend(() => {
          checks = 0
          return Effect.map(Effect.all(looked), () => checks)
        })
      const within = [list(to - 1), before(to)]
      const beyond = [list(to), before(to + 1), before()]
      expect(yield* checksOf(within)).toBe(within.length)
      // In the scope of an answer, and once its flush has ended, without one.
      yield* reading(
        Effect.gen(function* () {
          yield* feed.answer({ now: start, since: start })
          yield* feed.answersSettled
          expect(yield* checksOf(within)).toBe(0)
          expect(yield* checksOf(beyond)).toBeGreaterThan(0)
        })
      )
      expect(yield* checksOf(within)).toBe(0)
      expect(yield* checksOf(beyond)).toBe(beyond.length)
    }).pipe(Effect.scoped)
)

/** A store at whose head no answer was given yet. */
const unanswered = Effect.gen(function* () {
  const url = Redacted.make(yield* TestDatabase.url)
  const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, prepare: false })))
  const [feed, documents] = [Context.get(store, Feed), Context.get(store, Documents)]
  const start = addMicros((yield* feed.head).at || early, 10)
  flushes = 0
  checks = 0
  return {
    answer: feed.answer({ now: start, since: start }),
    answersSettled: feed.answersSettled,
    listAt: (instant: string) =>
      documents.list({
        collection: "c",
        pin: { by: "instant", instant },
        where: [],
        direction: "asc",
        limit: 9
      }),
    ...Context.get(store, Atomically)
  }
})

it.effect("ends the scope of an answer after its flush, which the look-ups do not wait for", () =>
  Effect.gen(function* () {
    const { answer, answersSettled, listAt, reading } = yield* unanswered
    held = []
    let looked = false
    const scope = yield* Effect.forkScoped(
      reading(
        Effect.gen(function* () {
          const { at } = yield* answer
          yield* answersSettled
          yield* listAt(at)
          looked = true
        })
      ),
      { startImmediately: true }
    )
    yield* Effect.promise(() => vi.waitFor(() => expect(looked).toBe(true)))
    // An answer of another request at the same head waits for the same flush.
    const { at } = yield* answer
    const outside = yield* Effect.forkScoped(answersSettled, { startImmediately: true })
    yield* Effect.promise(() => new Promise((done) => setTimeout(done, 50)))
    expect([scope.pollUnsafe(), outside.pollUnsafe(), flushes, checks]).toEqual([
      undefined,
      undefined,
      1,
      0
    ])
    held.forEach((send) => send())
    yield* Fiber.join(scope)
    yield* Fiber.join(outside)
    // The head is settled now: no read waits, in a scope or without one.
    yield* reading(listAt(at))
    yield* listAt(at)
    expect([flushes, checks]).toEqual([1, 0])
  }).pipe(Effect.scoped)
)

it.effect("gives no answer away whose flush fails, and flushes again for the next one", () =>
  Effect.gen(function* () {
    const { answer, answersSettled, listAt, reading } = yield* unanswered
    const answered = reading(
      Effect.gen(function* () {
        const { at } = yield* answer
        yield* answersSettled
        return yield* listAt(at)
      })
    )
    fails = true
    expect(Exit.isFailure(yield* Effect.exit(answered))).toBe(true)
    fails = false
    expect(yield* answered).toEqual([])
    expect(flushes).toBe(2)
  }).pipe(Effect.scoped)
)
