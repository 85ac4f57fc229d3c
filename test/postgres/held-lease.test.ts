/** Renewal of a lease whose row a transaction has locked: the renewal does not wait for the lock. */
import { Atomically, WorkQueue } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { expect } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"

const queue = "operations"

/** A database of its own, with one item in the queue. */
const queued = Effect.gen(function* () {
  const url = Redacted.make(yield* TestDatabase.url)
  const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url })))
  const work = Context.get(store, WorkQueue)
  yield* work.enqueue([{ queue, itemId: "a", resource: "a", payload: "{}", delay: 0 }])
  return { ...Context.get(store, Atomically), work }
})

// Switched off to see it red: `skip locked` in the renewal of PgWorkQueue.ts.
it.live("renews a lease while its worker's transaction goes on, as often as it is asked", () =>
  Effect.gen(function* () {
    const { run, work } = yield* queued
    const request = { queue, worker: "w", limit: 1 }
    const [lease] = yield* work.lease({ ...request, leaseMillis: 60_000 })
    if (lease === undefined) return expect.fail("nothing was leased")
    const held = yield* Deferred.make<void>()
    const renewed = yield* Deferred.make<void>()
    const long = yield* Effect.forkChild(
      run(
        Effect.andThen(
          work.fence(lease),
          Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(renewed))
        )
      )
    )
    yield* Deferred.await(held)
    // A renewal that waited for the transaction would never end, as the transaction waits for it.
    yield* work.renew(lease, 60_000)
    yield* work.renew(lease, 60_000)
    yield* Deferred.succeed(renewed, undefined)
    yield* Fiber.join(long)
    yield* work.finish(lease)
    expect(yield* work.lease({ ...request, leaseMillis: 60_000 })).toEqual([])
  }).pipe(Effect.scoped)
)

it.live("refuses a renewal whose item another worker has, also while that one's is locked", () =>
  Effect.gen(function* () {
    const { run, work } = yield* queued
    const request = { queue, worker: "w", limit: 1, leaseMillis: 60_000 }
    const [first] = yield* work.lease(request)
    if (first === undefined) return expect.fail("nothing was leased")
    yield* work.release(first, { delay: 0 })
    const [second] = yield* work.lease(request)
    if (second === undefined) return expect.fail("nothing was leased again")
    const answer = yield* run(
      Effect.andThen(
        work.fence(second),
        // Outside of the transaction: another fiber without its context.
        Effect.promise(() => Effect.runPromise(Effect.result(work.renew(first, 60_000))))
      )
    )
    expect(answer).toMatchObject({ _tag: "Failure", failure: { _tag: "LeaseLost" } })
  }).pipe(Effect.scoped)
)
