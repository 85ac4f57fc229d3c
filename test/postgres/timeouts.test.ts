/** Statement timeout: the database ends a slow statement, and its caller may try again. */
import { Atomically, FactLog } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { expect } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"

// Switched off to see it red: `statement_timeout` in Connections.ts.
it.live("never waits for ever behind a slow store, or leaves something of its transaction", () =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    const patient = yield* Layer.build(Postgres.layer({ url }))
    const hasty = yield* Layer.build(Postgres.layer({ url, statementMillis: 200 }))
    const taken = yield* Deferred.make<void>()
    const release = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(
      Context.get(patient, Atomically).run(
        Effect.gen(function* () {
          yield* Context.get(patient, Atomically).lock("busy")
          yield* Deferred.succeed(taken, undefined)
          yield* Deferred.await(release)
        })
      )
    )
    yield* Deferred.await(taken)
    const facts = Context.get(hasty, FactLog)
    const { lock, run } = Context.get(hasty, Atomically)
    const row = { collection: "late", recordId: "r", version: 1, fact: "{}", cause: "clock" }
    const recordedAt = "2026-01-01T00:00:00.000000000Z"
    const failure = yield* Effect.flip(
      run(Effect.andThen(facts.append([{ ...row, offset: 0, recordedAt }]), lock("busy")))
    )
    expect(failure).toMatchObject({ _tag: "StorageUnavailable", retryAfter: 1 })
    yield* Deferred.succeed(release, undefined)
    yield* Fiber.join(holder)
    expect(yield* facts.read({ collection: "late", recordId: "r" })).toEqual([])
    yield* run(lock("busy"))
  }).pipe(Effect.scoped)
)
