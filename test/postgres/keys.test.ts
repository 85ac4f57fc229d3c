/** A call waits at most 5 s for an idempotency key that another instance holds in an open transaction. */
import { Records } from "@bursar/engine-core"
import { Atomically, Keys } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Clock, Context, Deferred, Duration, Effect, Fiber, Layer, Redacted, Result } from "effect"
import { expect } from "vitest"
import { approvals } from "#core/writes/Approval.ts"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import * as Calls from "../engine/calls.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"
import { hangs } from "../waiting.ts"

const olga = Calls.person("olga", "operator")
const ann = Calls.person("ann", "approver")

/**
 * Time for which the other instance's transaction may be idle: only a hang takes that long here.
 */
const transactionIdleMillis = 60_000

/** A clock of one call that stands until `elapsed`; `slept` holds the milliseconds it was asked for. */
const stopped = Effect.gen(function* () {
  const elapsed = yield* Deferred.make<void>()
  const slept: Array<number> = []
  const clock: Clock.Clock = {
    ...(yield* Clock.Clock),
    sleep: (duration) =>
      Effect.suspend(() => {
        slept.push(Duration.toMillis(duration))
        return Deferred.await(elapsed)
      })
  }
  return { clock, slept, elapse: Deferred.succeed(elapsed, undefined) }
})

/*
 * Switched off to see it red: the time that binding a key may take (`KeyedCall.alone`); the cancel request for an
 * abandoned statement (`rollback` of Sessions.ts), without which the rollback waits behind the
 * binding's insert until the database ends the other transaction.
 */
it.live(
  "a call whose key stays locked by another instance is refused, holds nobody up and frees the key",
  () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* TestDatabase.url)
      const another = yield* Layer.build(Postgres.layer({ url, transactionIdleMillis }))
      const here = world({
        operations: Toys.toys,
        storage: Layer.orDie(Postgres.layer({ url, statementMillis: hangs }))
      })
      yield* Effect.gen(function* () {
        const add = (operation: typeof Toys.single | typeof Toys.double, counterId: string) =>
          Calls.submit(operation, olga, { params: { counterId }, body: '{"by":1}' })
        const made = yield* add(Toys.double, "c1")
        const action = String(Calls.field(made, "actionKey"))

        const locked = yield* Deferred.make<void>()
        const release = yield* Deferred.make<void>()
        const keys = Context.get(another, Keys)
        const holder = yield* Effect.forkChild(
          Context.get(another, Atomically).run(
            Effect.gen(function* () {
              yield* keys.bind({
                scope: "venue-1/ann",
                key: "k",
                fingerprint: "other",
                target: "action:ak_x",
                bindsUntil: null,
                now: "2026-01-01T00:00:00.000000000Z"
              })
              yield* Deferred.succeed(locked, undefined)
              yield* Deferred.await(release)
              // Fails if the database has ended this transaction in the meantime.
              return yield* keys.free(["action:ak_x"])
            })
          )
        )
        yield* Deferred.await(locked)
        const { clock, slept, elapse } = yield* stopped
        const waiting = yield* Effect.forkChild(
          Effect.result(Calls.reject(action, ann, "k")).pipe(
            Effect.provideService(Clock.Clock, clock)
          )
        )
        for (let at = 0; at < 20; at++) yield* add(Toys.single, `other-${at}`)
        expect(waiting.pollUnsafe()).toBeUndefined()
        expect(slept).toEqual([5_000])
        yield* elapse
        const result = yield* Fiber.join(waiting)
        expect(Result.isFailure(result) && result.failure.slug).toBe("idempotency-in-progress")

        yield* Deferred.succeed(release, undefined)
        expect(yield* Fiber.join(holder)).toBe(1)
        const rejected = yield* Calls.reject(action, ann, "k")
        expect([Calls.field(rejected, "state"), rejected.replayed]).toEqual(["rejected", false])
        const records = yield* Records
        expect((yield* records.get(approvals, action)).rejectedBy).toBe("ann")
      }).pipe(Effect.provide(here))
    }).pipe(Effect.scoped)
)
