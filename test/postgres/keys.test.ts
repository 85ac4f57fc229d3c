/** A key that another instance holds in an open transaction: waited for, not for ever, and alone. */
import { Records } from "@bursar/engine-core"
import { Atomically, Keys } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Clock, Context, Deferred, Effect, Fiber, Layer, Redacted, Result } from "effect"
import { expect } from "vitest"
import { approvals } from "#core/writes/Approval.ts"
import * as TestDatabase from "#adapters/embedded/TestDatabase.ts"
import * as Calls from "../engine/calls.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"

const olga = Calls.person("olga", "operator")
const ann = Calls.person("ann", "approver")

// Switched off to see it red: the time a claim may take (`KeyedCall.run`).
it.live(
  "is told after five seconds, while other writes go on, and the key is free afterwards",
  () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* TestDatabase.url)
      const another = yield* Layer.build(Postgres.layer({ url }))
      const here = world({
        operations: Toys.toys,
        storage: Layer.orDie(Postgres.layer({ url }))
      })
      yield* Effect.gen(function* () {
        const add = (operation: typeof Toys.single | typeof Toys.double, counterId: string) =>
          Calls.submit(operation, olga, { params: { counterId }, body: '{"by":1}' })
        const made = yield* add(Toys.double, "c1")
        const action = String(Calls.field(made, "actionKey"))

        const taken = yield* Deferred.make<void>()
        const release = yield* Deferred.make<void>()
        const keys = Context.get(another, Keys)
        const holder = yield* Effect.forkChild(
          Context.get(another, Atomically).run(
            Effect.gen(function* () {
              yield* keys.claim({
                scope: "venue-1/ann",
                key: "k",
                fingerprint: "other",
                target: "action:ak_x",
                bindsUntil: null,
                now: "2026-01-01T00:00:00.000000000Z"
              })
              yield* Deferred.succeed(taken, undefined)
              yield* Deferred.await(release)
              // It comes to nothing, so the key stays free.
              return yield* Effect.fail("away" as const)
            })
          )
        )
        yield* Deferred.await(taken)
        const started = yield* Clock.currentTimeMillis
        const waiting = yield* Effect.forkChild(Effect.result(Calls.reject(action, ann, "k")))
        for (let at = 0; at < 20; at++) yield* add(Toys.single, `other-${at}`)
        expect(waiting.pollUnsafe()).toBeUndefined()
        const result = yield* Fiber.join(waiting)
        const waited = (yield* Clock.currentTimeMillis) - started
        expect(Result.isFailure(result) && result.failure.slug).toBe("idempotency-in-progress")
        expect(waited).toBeGreaterThanOrEqual(4_900)

        yield* Deferred.succeed(release, undefined)
        yield* Effect.exit(Fiber.join(holder))
        const rejected = yield* Calls.reject(action, ann, "k")
        expect([Calls.field(rejected, "state"), rejected.replayed]).toEqual(["rejected", false])
        const records = yield* Records
        expect((yield* records.get(approvals, action)).rejectedBy).toBe("ann")
      }).pipe(Effect.provide(here))
    }).pipe(Effect.scoped)
)
