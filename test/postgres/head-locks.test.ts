/** Lock order at the feed's head: every wait is in the database, which sees who waits for whom. */
import { Atomically, Feed, ProjectionLog, StorageUnavailable } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import { until } from "../waiting.ts"

const now = "2026-01-01T00:00:00.000000000Z"

/** Transactions of one host, and how many of them the database sees waiting for another. */
const opened = Effect.gen(function* () {
  const url = Redacted.make(yield* TestDatabase.url)
  const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url })))
  const sql = Context.get(store, SqlClient.SqlClient)
  const waiting = sql<{ pid: number; blockers: ReadonlyArray<number> }>`
    select pid, pg_blocking_pids(pid) as blockers from pg_stat_activity
    where datname = current_database() and application_name = 'bursar'
      and wait_event_type = 'Lock'
    order by query_start`
  return {
    feed: Context.get(store, Feed),
    log: Context.get(store, ProjectionLog),
    ...Context.get(store, Atomically),
    waiting,
    /** Waits until the database sees so many transactions waiting. */
    untilWaiting: (count: number) =>
      Effect.promise(() => until(async () => (await Effect.runPromise(waiting)).length === count))
  }
})

/** A transaction in steps: each runs when it is asked for, and the last one ends it. */
const inSteps = <E>(
  run: Atomically["Service"]["run"],
  steps: ReadonlyArray<Effect.Effect<unknown, E>>
): Effect.Effect<
  {
    readonly step: (index: number) => Effect.Effect<void>
    readonly done: (index: number) => Effect.Effect<Exit.Exit<unknown, unknown>>
    readonly ended: Effect.Effect<Exit.Exit<unknown, unknown>>
  },
  never,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const starts = yield* Effect.forEach(steps, () => Deferred.make<void>())
    const ends = yield* Effect.forEach(steps, () => Deferred.make<Exit.Exit<unknown, unknown>>())
    const body = Effect.forEach(
      steps,
      (step, index) =>
        Effect.gen(function* () {
          yield* Deferred.await(starts[index]!)
          const exit = yield* Effect.exit(step)
          yield* Deferred.succeed(ends[index]!, exit)
          return yield* exit
        }),
      { discard: true }
    )
    const fiber = yield* Effect.forkScoped(Effect.exit(run(body)), { startImmediately: true })
    const done = (index: number) => Deferred.await(ends[index]!)
    return {
      step: (index) => Effect.asVoid(Deferred.succeed(starts[index]!, undefined)),
      done,
      ended: Fiber.join(fiber)
    }
  })

// The test's clock stands still: a wait that only a time limit ends would never end here.
it.effect("lets the projection, which moves the head first, write behind nobody who waits", () =>
  Effect.gen(function* () {
    const { feed, log, run, waiting, untilWaiting } = yield* opened
    const { writerEpoch: epoch, offset } = yield* log.takeOver({ participant: "p" })
    const advance = log.advance({
      epoch,
      from: offset,
      to: offset + 1,
      ledgerTime: null,
      updates: []
    })
    const follower = yield* inSteps<unknown>(run, [advance, feed.take(now)])
    yield* follower.step(0)
    yield* follower.done(0)
    const writers = yield* Effect.forEach([1, 2, 3], () => inSteps(run, [feed.take(now)]))
    for (const [index, writer] of writers.entries()) {
      yield* writer.step(0)
      yield* untilWaiting(index + 1)
    }
    // All wait in one queue, whose first waits for the projection alone.
    const line = yield* waiting
    const holder = line[0]?.blockers ?? []
    expect(holder).toHaveLength(1)
    expect(line.map(({ blockers }) => blockers.includes(holder[0]!))).toEqual([true, true, true])
    expect(line.map(({ pid }) => pid)).not.toContain(holder[0])
    yield* follower.step(1)
    expect(yield* follower.ended).toMatchObject({ _tag: "Success" })
    for (const writer of writers) expect(yield* writer.ended).toMatchObject({ _tag: "Success" })
  }).pipe(Effect.scoped)
)

it.effect("shows the database a wait for the head, so that it ends two that wait crosswise", () =>
  Effect.gen(function* () {
    const { feed, run, lock, untilWaiting } = yield* opened
    const atHead = yield* inSteps<unknown>(run, [feed.take(now), lock("crossed")])
    yield* atHead.step(0)
    yield* atHead.done(0)
    const locked = yield* inSteps<unknown>(run, [lock("crossed"), feed.take(now)])
    yield* locked.step(0)
    yield* locked.done(0)
    // Others in line before it, as on a busy host.
    const others = yield* Effect.forEach([1, 2], () => inSteps(run, [feed.take(now)]))
    for (const [index, other] of others.entries()) {
      yield* other.step(0)
      yield* untilWaiting(index + 1)
    }
    yield* locked.step(1)
    yield* untilWaiting(3)
    yield* atHead.step(1)
    const words = (exit: Exit.Exit<unknown, unknown>): string => {
      if (Exit.isSuccess(exit)) return "success"
      const error = Cause.squash(exit.cause)
      return error instanceof StorageUnavailable && error.isDeadlock ? "deadlock" : String(error)
    }
    const crossed = [words(yield* atHead.ended), words(yield* locked.ended)]
    expect(crossed.toSorted()).toEqual(["deadlock", "success"])
    // A transaction queued between the two may be ended with them, and is retried.
    for (const other of others) {
      expect(["success", "deadlock"]).toContain(words(yield* other.ended))
    }
  }).pipe(Effect.scoped)
)

it.effect("lets transactions take the head again whose part took it and was taken back", () =>
  Effect.gen(function* () {
    const { feed, run } = yield* opened
    const part = Effect.exit(run(Effect.andThen(feed.take(now), Effect.fail("no"))))
    const transactions = yield* Effect.forEach([1, 2, 3], () =>
      inSteps<unknown>(run, [part, feed.take(now)])
    )
    for (const { step, done } of transactions) {
      yield* step(0)
      yield* done(0)
    }
    for (const { step } of transactions) yield* step(1)
    for (const { ended } of transactions) expect(yield* ended).toMatchObject({ _tag: "Success" })
  }).pipe(Effect.scoped)
)
