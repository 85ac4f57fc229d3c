/** Notifications between hosts: what was sent while the connection that listens was cut. */
import { it } from "@effect/vitest"
import { Effect, Queue, Redacted, Stream } from "effect"
import { expect } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import * as Sessions from "#adapters/storage/postgres/Sessions.ts"
import * as Wakes from "#adapters/storage/postgres/Wakes.ts"
import { until } from "../waiting.ts"

// Switched off to see it red: `wakeAll` in postgres/Wakes.ts.
it.live("wakes every subscriber once it listens again after its connection was cut", () =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    const sessions = yield* Sessions.make({
      url,
      maxConnections: 2,
      statementMillis: 60_000,
      transactionIdleMillis: 60_000,
      prepare: true
    })
    const listeners = () =>
      Effect.runPromise(
        Effect.map(
          sessions.askApart(
            "select pid from pg_stat_activity where application_name = 'bursar wakes' and datname = current_database() and query ilike 'listen%' and state = 'idle'",
            []
          ),
          ({ rowCount }) => rowCount
        )
      )
    const wakes = yield* Wakes.make({ sessions, connection: { url } })
    const woken = yield* Queue.sliding<void>(1)
    yield* Effect.forkScoped(
      Stream.runForEach(wakes.stream("events"), () => Queue.offer(woken, undefined))
    )
    yield* Effect.promise(() => until(async () => (await listeners()) === 1))
    yield* sessions.askApart(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'bursar wakes' and datname = current_database()",
      []
    )
    yield* Effect.promise(() => until(async () => (await listeners()) === 0))
    // The first connection woke everybody too, when it began to listen.
    yield* Queue.clear(woken)
    yield* Queue.take(woken)
    expect(yield* Effect.promise(listeners)).toBe(1)
  }).pipe(Effect.scoped)
)
