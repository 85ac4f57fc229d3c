/**
 * Limit of an idle transaction (`transactionIdleMillis`): a host that stops in the middle of one holds
 * up the others no longer. Seen red with the setting ignored in Postgres.ts and in Sessions.ts.
 */
import { Atomically, Feed, Keys } from "@bursar/engine-core/ports"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Deferred, Effect, Exit, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import { pollLimit } from "../waiting.ts"

const now = "2026-01-01T00:00:00.000000000Z"

const write = (key: string, between: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const keys = yield* Keys
    const row = { scope: "s", fingerprint: "", target: "", bindsUntil: null, now }
    yield* run(
      Effect.gen(function* () {
        yield* keys.bind({ ...row, key })
        const head = yield* feed.take(now)
        yield* between
        yield* feed.append(head, { events: [], audit: [], webhooks: "moved" })
      })
    )
  })

describe("a host that holds the head of the feed and sends nothing more", () => {
  it.live(
    "loses its transaction at the limit that was set, and writes nothing of it when it wakes",
    () =>
      Effect.gen(function* () {
        const url = Redacted.make(yield* TestDatabase.url)
        const layer = Postgres.layer({ url, transactionIdleMillis: 400 })
        const stopped = yield* Layer.build(Layer.fresh(layer))
        const other = yield* Layer.build(Layer.fresh(layer))
        // Each key shows the limit of the connection that wrote it.
        yield* Effect.flatMap(
          SqlClient,
          (sql) => sql`alter table bursar.key add column idle_limit text
            default current_setting('idle_in_transaction_session_timeout')`
        ).pipe(Effect.provideContext(other))
        const holding = yield* Deferred.make<void>()
        const awake = yield* Deferred.make<void>()
        const sleeper = yield* Effect.forkChild(
          write(
            "sleeper",
            Effect.andThen(Deferred.succeed(holding, undefined), Deferred.await(awake))
          ).pipe(Effect.provideContext(stopped), Effect.exit)
        )
        yield* Deferred.await(holding)
        yield* Effect.timeout(Effect.provideContext(write("other", Effect.void), other), pollLimit)
        yield* Deferred.succeed(awake, undefined)
        const exit = yield* Fiber.join(sleeper)
        expect(Exit.isFailure(exit) && String(exit.cause)).toContain("StorageUnavailable")
        yield* Effect.provideContext(
          Effect.gen(function* () {
            const keys = yield* Keys
            const found = (key: string) =>
              Effect.map(keys.find({ scope: "s", key, now }), Option.isSome)
            expect([yield* found("sleeper"), yield* found("other")]).toEqual([false, true])
            expect((yield* (yield* Feed).head).webhooksMoved).toBe(1)
            // The host that slept goes on with its next transaction.
            yield* write("again", Effect.void)
            expect(yield* found("again")).toBe(true)
            const limits = yield* Effect.flatMap(
              SqlClient,
              (sql) => sql`select key, idle_limit from bursar.key order by key`
            )
            expect(limits).toEqual([
              { key: "again", idle_limit: "400ms" },
              { key: "other", idle_limit: "400ms" }
            ])
          }),
          stopped
        )
      })
  )
})
