/** Reading scope of one answer: many statements, and one wait for the flush before it leaves. */
import { Atomically, Feed, ProjectionLog } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { Socket } from "node:net"
import { afterEach, beforeEach, expect, vi } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"

/** Statements on their way to the database, in order: a look at the head, or a check of the flush. */
const sent: Array<"look" | "settle"> = []
/** Flushes on their way to the database. */
let flushes = 0
/** Name of the prepared statement of a flush; undefined: none is prepared. */
let preparedFlush: string | undefined
/** Forced answer of the checks of the flush; undefined: the database answers them. */
let answered: boolean | undefined
/** True: the database has dropped the next prepared statement that is bound. */
let isDropped = false

/** Expression of a check of the flush. */
const check = "pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()"

beforeEach(() => {
  const write = Socket.prototype.write
  vi.spyOn(Socket.prototype, "write").mockImplementation(function (this: Socket, ...given) {
    let text = Buffer.from(given[0] as Uint8Array).toString("latin1")
    for (const [found] of text.matchAll(/pg_current_wal_flush_lsn|from bursar\.head where/g)) {
      sent.push(found.startsWith("pg") ? "settle" : "look")
    }
    const isPrepared = preparedFlush !== undefined && text.includes(`\0${preparedFlush}\0`)
    if (isPrepared || text.includes("pg_logical_emit_message")) flushes++
    preparedFlush = /(effect_\w+)\0select pg_logical_emit_message/u.exec(text)?.[1] ?? preparedFlush
    if (isDropped && /\0effect_\w+\0/u.test(text)) {
      isDropped = false
      text = text.replace("\0effect_", "\0absent_")
    }
    if (answered !== undefined) text = text.replaceAll(check, String(answered).padEnd(check.length))
    const bytes = Buffer.from(text, "latin1")
    return Reflect.apply(write, this, [bytes, ...given.slice(1)]) as boolean
  })
})

afterEach(() => {
  answered = undefined
  isDropped = false
  preparedFlush = undefined
  vi.restoreAllMocks()
})

const opening = (options: { readonly prepare: boolean }) =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, ...options })))
    const [feed, log] = [Context.get(store, Feed), Context.get(store, ProjectionLog)]
    yield* feed.head
    sent.length = 0
    const lookOnce = Effect.asVoid(feed.head)
    const look = Effect.asVoid(Effect.andThen(feed.head, log.head))
    return { lookOnce, look, ...Context.get(store, Atomically) }
  })

/** A store that prepares no statement, so that each is on the wire with its text. */
const opened = opening({ prepare: false })

it.effect(
  "asks for the flush once more after the last of several statements of an answer or a refusal",
  () =>
    Effect.gen(function* () {
      const { look, reading } = yield* opened
      const each = ["look", "settle", "look", "settle"]
      yield* reading(look)
      expect(sent.splice(0)).toEqual(each)
      expect(yield* Effect.flip(reading(Effect.andThen(look, Effect.fail("refused"))))).toBe(
        "refused"
      )
      expect(sent.splice(0)).toEqual(each)
      yield* reading(Effect.andThen(reading(look), reading(look)))
      expect(sent.splice(0)).toEqual(["look", "settle", "look", "look", "look", "settle"])
      yield* reading(Effect.void)
      expect(sent).toEqual([])
    }).pipe(Effect.scoped)
)

it.effect(
  "waits for each statement outside a reading scope, and of a fiber that outlives one",
  () =>
    Effect.gen(function* () {
      const { look, reading } = yield* opened
      yield* look
      const each = ["look", "settle", "look", "settle"]
      expect(sent.splice(0)).toEqual(each)
      const left = yield* reading(Effect.forkScoped(Effect.andThen(Effect.yieldNow, look)))
      expect(Exit.isSuccess(yield* Fiber.await(left))).toBe(true)
      expect(sent).toEqual(each)
    }).pipe(Effect.scoped)
)

it.effect("flushes before the end of a scope whose check finds that the log is not flushed", () =>
  Effect.gen(function* () {
    const { look, lookOnce, reading } = yield* opened
    answered = false
    for (const looked of [lookOnce, look]) {
      flushes = 0
      yield* reading(looked)
      expect(flushes).toBe(1)
      yield* Effect.flip(reading(Effect.andThen(looked, Effect.fail("refused"))))
      expect(flushes).toBe(2)
    }
  }).pipe(Effect.scoped)
)

it.effect(
  "flushes for a statement that was sent again after its check, as the database had dropped it",
  () =>
    Effect.gen(function* () {
      answered = true
      const { lookOnce, reading } = yield* opening({ prepare: true })
      yield* reading(lookOnce)
      flushes = 0
      sent.length = 0
      yield* reading(lookOnce)
      expect([sent.splice(0), flushes]).toEqual([[], 0])
      isDropped = true
      yield* reading(lookOnce)
      // The check was prepared, and the statement is on the wire with its text where it is sent again.
      expect([isDropped, sent, flushes]).toEqual([false, ["look"], 1])
    }).pipe(Effect.scoped)
)
