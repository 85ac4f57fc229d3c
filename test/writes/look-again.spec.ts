/**
 * Times after which a caller should poll an operation again, by the operation's age
 * (docs/contract/operations.md#polling).
 */
import { Queries } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { getOperation } from "#core/reads/WriteQueries.ts"
import * as Calls from "../engine/calls.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"

const olga = Calls.person("olga", "operator")
const engine = () => Effect.provide(world({ operations: Toys.toys }))

const call = (operation: typeof Toys.single | typeof Toys.double) =>
  Calls.submit(operation, olga, { params: { counterId: "c1" }, body: '{"by":1}', key: "k" })

const read = (operationId: string) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const request = { caller: olga, params: { operationId }, point: {} }
    const { value, now } = yield* queries.one(getOperation, request)
    return getOperation.lookAgain?.(value, now) ?? null
  })

/** Milliseconds of age, and the whole seconds after which the next look makes sense. */
const ages = [
  [0, 1],
  [9_999, 1],
  [10_000, 2],
  [59_999, 2],
  [60_000, 5],
  [86_400_000, 5]
] as const

describe("an operation that has not ended", () => {
  // Switched off to see it red: each of the two bounds of `lookAgain` in writes/WriteAnswer.ts.
  it.effect.each(ages)("of %i ms says %i s, on its replay and on a read", ([age, seconds]) =>
    Effect.gen(function* () {
      const made = yield* call(Toys.single)
      assert.strictEqual(made.retryAfter, 1)
      yield* TestClock.adjust(age)
      assert.strictEqual((yield* call(Toys.single)).retryAfter, seconds)
      assert.strictEqual(yield* read(String(Calls.field(made, "operationId"))), seconds)
    }).pipe(engine())
  )
})

describe("what nobody need poll", () => {
  it.effect("says when to look again: an operation that ended, an action that awaits people", () =>
    Effect.gen(function* () {
      const made = yield* call(Toys.single)
      yield* Calls.settle
      assert.strictEqual((yield* call(Toys.single)).retryAfter, null)
      assert.strictEqual(yield* read(String(Calls.field(made, "operationId"))), null)
      const action = yield* Calls.submit(Toys.double, olga, {
        params: { counterId: "c2" },
        body: '{"by":1}'
      })
      assert.strictEqual(action.retryAfter, null)
    }).pipe(engine())
  )
})
