/**
 * Deadlock of two transactions: PostgreSQL ends one of them, it is run again, and both callers
 * succeed.
 */
import { Records } from "@bursar/engine-core"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Redacted } from "effect"
import { expect } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import { world } from "../engine/world.ts"

// Switched off to see it red: `isDeadlock` in Faults.ts, or its use in records/Transactions.ts.
it.live("never are told that the store is away, though it is not", () =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    const engine = Layer.build(
      world({ operations: [], storage: Layer.orDie(Postgres.layer({ url })) })
    )
    const instances = [yield* engine, yield* engine] as const
    const held = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const
    const runs = [0, 0]
    /** Takes its own lock, waits until the other has its own, and then wants that one too. */
    const cross = (own: 0 | 1, other: 0 | 1) => {
      const records = Context.get(instances[own], Records)
      return records.transactAlone(
        Effect.gen(function* () {
          runs[own] = (runs[own] ?? 0) + 1
          yield* records.lock(`lock-${own}`)
          yield* Deferred.succeed(held[own], undefined)
          yield* Deferred.await(held[other])
          yield* records.lock(`lock-${other}`)
          return own
        })
      )
    }
    const done = yield* Effect.all([cross(0, 1), cross(1, 0)], { concurrency: 2 })
    expect(done).toEqual([0, 1])
    // One of them, and only one, was begun anew.
    expect(runs.toSorted()).toEqual([1, 2])
  }).pipe(Effect.scoped)
)
