/** Answers of statements: each gets its own rows, whatever other statements are on the wire. */
import * as Sessions from "#adapters/storage/postgres/Sessions.ts"
import * as Values from "#adapters/storage/postgres/Values.ts"
import { inspect } from "node:util"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Cause, Effect, Exit, Fiber, Layer, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { type Random, randomOf, through } from "./chunks.ts"
import { FAILING, SHIFTS, type Shape, shapeOf } from "./shapes.ts"

const FIBERS = 24
const ROUNDS = 30
/**
 * Statements, more than a connection keeps prepared, so that some are dropped and prepared again.
 */
const TEXTS = 160
const SEED = 20_260

const sessionsAt = (url: string) =>
  Sessions.make({
    url: Redacted.make(url),
    maxConnections: 4,
    statementMillis: 20_000,
    transactionIdleMillis: 60_000,
    prepare: true
  })

/** Half of all questions share a few texts: they are asked while the same text is being prepared. */
const drawShape = (random: Random): Shape =>
  shapeOf(random(2) === 0 ? random(6) : random(TEXTS), random)

/** Faults found; fibers of a test record them instead of stopping one another. */
interface Story {
  readonly wrong: Array<string>
  answered: number
  interrupted: number
}

const failing = (random: Random): (typeof FAILING)[number] =>
  FAILING[random(FAILING.length)] ?? FAILING[0]!

const same = (shape: Shape, rows: ReadonlyArray<unknown>, story: Story): void => {
  story.answered += 1
  try {
    expect(rows).toEqual(shape.rows)
  } catch {
    story.wrong.push(`${shape.sql} answered ${inspect(rows)}`)
  }
}

/** An interruption comes at any time, the next tick included. */
const perhapsInterrupted = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  random: Random,
  story: Story
): Effect.Effect<Exit.Exit<A, E> | undefined, never, R> => {
  if (random(3) !== 0) return Effect.exit(effect)
  return Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: random(2) === 0 })
    yield* random(3) === 0 ? Effect.yieldNow : Effect.sleep(random(6))
    yield* Fiber.interrupt(fiber)
    const exit = yield* Fiber.await(fiber)
    if (Exit.isSuccess(exit)) return exit
    if (!Cause.hasInterrupts(exit.cause)) return exit
    story.interrupted += 1
    return undefined
  })
}

const alone = (sessions: Sessions.Sessions, random: Random, story: Story) =>
  Effect.gen(function* () {
    const shape = drawShape(random)
    const ask = [sessions.ask, sessions.look, sessions.askApart][random(3)] ?? sessions.ask
    const exit = yield* perhapsInterrupted(ask(shape.sql, shape.parameters), random, story)
    if (exit === undefined) return
    if (Exit.isSuccess(exit)) same(shape, exit.value.rows, story)
    else story.wrong.push(`${shape.sql} failed: ${Cause.pretty(exit.cause)}`)
  })

const failed = (sessions: Sessions.Sessions, random: Random, story: Story) =>
  Effect.gen(function* () {
    const { sql, parameters } = failing(random)
    const exit = yield* perhapsInterrupted(sessions.askApart(sql, parameters), random, story)
    if (exit !== undefined && Exit.isSuccess(exit)) story.wrong.push(`${sql} did not fail`)
  })

/** Two halves of one record, with questions, parts that fail and an end of any kind around them. */
const together = (sessions: Sessions.Sessions, random: Random, story: Story, id: number) =>
  Effect.gen(function* () {
    const half = sessions.send("insert into halves values ($1::int8)", [Values.integer(id)])
    const question = Effect.suspend(() => {
      const shape = drawShape(random)
      return Effect.map(sessions.look(shape.sql, shape.parameters), ({ rows }) =>
        same(shape, rows, story)
      )
    })
    const part = Effect.suspend(() => {
      const { sql, parameters } = failing(random)
      return Effect.exit(sessions.run(Effect.andThen(half, sessions.ask(sql, parameters))))
    })
    const fails = random(4) === 0
    const body = Effect.gen(function* () {
      yield* half
      yield* Effect.all([question, question, question], { concurrency: 3 })
      if (random(2) === 0) yield* part
      yield* question
      yield* half
      if (fails) return yield* Effect.fail("taken back" as const)
    })
    const exit = yield* perhapsInterrupted(sessions.run(body), random, story)
    if (exit === undefined) return
    if (Exit.isSuccess(exit) || fails) return
    story.wrong.push(`Transaction ${id} failed: ${Cause.pretty(exit.cause)}`)
  })

/** The plain client lets a cancelled neighbour's late cancel fail a statement, but never answer it. */
const plain = (random: Random, story: Story) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const shape = drawShape(random)
    const question = sql.unsafe(shape.sql, shape.parameters)
    const exit = yield* perhapsInterrupted(
      random(3) === 0 ? sql.withTransaction(question) : question,
      random,
      story
    )
    if (exit !== undefined && Exit.isSuccess(exit)) same(shape, exit.value, story)
  })

const shifting = (sessions: Sessions.Sessions, random: Random, story: Story) =>
  Effect.gen(function* () {
    const ask = sessions.askApart("select * from shifting", [])
    const exit = yield* perhapsInterrupted(ask, random, story)
    if (exit === undefined || Exit.isFailure(exit)) return
    for (const row of exit.value.rows) {
      story.answered += 1
      const shift = SHIFTS.find(({ type }) => type === row["type"])
      try {
        expect(row["value"]).toEqual(shift?.value)
      } catch {
        story.wrong.push(`A ${String(row["type"])} was read as ${String(row["value"])}`)
      }
    }
  })

/** Another program's migrations: a table changes its type while its statements are prepared. */
const shift = (connection: PgConnection.PgConnection, n: number) => {
  const { type, literal } = SHIFTS[n % SHIFTS.length] ?? SHIFTS[0]!
  const say = (sql: string) => connection.query(sql, [], false)
  return Effect.gen(function* () {
    yield* say("begin")
    yield* say("drop table if exists shifting")
    yield* say("create table shifting (type text, value " + type + ")")
    yield* say(`insert into shifting values ('${type}', ${literal})`)
    yield* say("commit")
    yield* say("select pg_notify('din', repeat('é', 300))")
  })
}

const stormed = (seed: number): Effect.Effect<Story, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const direct = yield* TestDatabase.url
    const near = yield* through({ url: direct, seed })
    const other = yield* PgConnection.make({ url: Redacted.make(direct) })
    yield* other.query("create table halves (id int8)")
    yield* shift(other, 0)
    const sessions = yield* sessionsAt(near)
    const client = yield* Layer.build(
      PgClient.layer({ url: Redacted.make(near), maxConnections: 3 })
    )
    // News of others then comes in between the rows of shared connections.
    for (let n = 0; n < 8; n++) yield* sessions.askApart("listen din", [])
    const story: Story = { wrong: [], answered: 0, interrupted: 0 }
    const shifter = yield* Effect.forkChild(
      Effect.forEach(
        Array.from({ length: 10_000 }, (_, n) => n),
        (n) => Effect.andThen(shift(other, n), Effect.sleep("7 millis")),
        { discard: true }
      )
    )
    const fiber = (index: number) =>
      Effect.gen(function* () {
        const random = randomOf(seed * 1000 + index)
        for (let n = 0; n < ROUNDS; n++) {
          const what = random(10)
          if (what < 4) yield* alone(sessions, random, story)
          else if (what < 5) yield* failed(sessions, random, story)
          else if (what < 7) yield* together(sessions, random, story, index * ROUNDS + n)
          else if (what < 9) yield* Effect.provide(plain(random, story), client)
          else yield* shifting(sessions, random, story)
        }
      })
    yield* Effect.all(
      Array.from({ length: FIBERS }, (_, n) => fiber(n)),
      { concurrency: "unbounded", discard: true }
    )
    yield* Fiber.interrupt(shifter)
    const { rows } = yield* other.query("select id from halves group by id having count(*) <> 2")
    if (rows.length > 0) story.wrong.push(`${rows.length} transactions left a part of themselves`)
    return story
  })

describe("what a statement answers", () => {
  it.live(
    "never is another's, or in another's columns, when statements are interrupted, fail and are prepared again",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const story = yield* stormed(SEED)
          expect(story.wrong.slice(0, 5)).toEqual([])
          expect(story.answered).toBeGreaterThan((FIBERS * ROUNDS) / 2)
          expect(story.interrupted).toBeGreaterThan(FIBERS)
        })
      )
  )

  for (const position of ["0/1", "0/174B5E0"]) {
    it.live(`never is a log position taken for a text (${position})`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const sessions = yield* sessionsAt(yield* TestDatabase.url)
          const sql = `select '${position}'::pg_lsn as position`
          for (const ask of [
            sessions.askApart,
            sessions.ask,
            sessions.look,
            (q: string) => sessions.run(sessions.ask(q, []))
          ]) {
            const exit = yield* Effect.exit(ask(sql, []))
            expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
            // The next statement finds no remains of the failed one.
            const shape = shapeOf(3, randomOf(7))
            const { rows } = yield* sessions.ask(shape.sql, shape.parameters)
            expect(rows).toEqual(shape.rows)
          }
        })
      )
    )
  }
})
