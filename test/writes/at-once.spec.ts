/**
 * Limit of the operations that one instance runs at a time
 * (docs/contract/operations.md#order-of-execution).
 */
import { Engine } from "@bursar/engine-core"
import { WorkQueue } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import * as Passing from "../engine/passing.ts"
import { world } from "../engine/world.ts"

const operator = Calls.person("olga", "operator")
const declared = { operations: Notes.operations, readings: Notes.readings }

describe("twenty operations on twenty records, on a ledger that does not answer", () => {
  // Switched off to see it red: `free` in `run` of writes/OperationRunner.ts.
  it.effect(
    "never are more than eight at a time on one instance, or wait for a second one in vain",
    () =>
      Effect.gen(function* () {
        const slow = yield* Deferred.make<void>()
        let sent = 0
        yield* Effect.gen(function* () {
          const { party } = yield* Notes.outsider("registrar")
          for (let at = 0; at < 20; at++) {
            yield* Calls.submit(Notes.propose, operator, {
              params: { noteId: `n${at}` },
              body: `{"registrar":"${party}"}`,
              key: `k${at}`
            })
          }
          const work = yield* WorkQueue
          const other = yield* Layer.build(Layer.fresh(Engine.layerOf(declared)))
          yield* Passing.working
          yield* Passing.seconds(5)
          assert.deepStrictEqual([sent, (yield* work.depth("operations")).leased], [8, 8])
          yield* Effect.provide(Passing.working, other)
          yield* Passing.seconds(5)
          assert.deepStrictEqual([sent, (yield* work.depth("operations")).leased], [16, 16])
          yield* Deferred.succeed(slow, undefined)
          yield* Passing.seconds(5)
          assert.strictEqual(sent, 20)
        }).pipe(
          Effect.provide(
            world({
              ...declared,
              tamper: (port) => ({
                ...port,
                submit: (submission) =>
                  Effect.suspend(() => {
                    sent += 1
                    return Effect.andThen(Deferred.await(slow), port.submit(submission))
                  })
              })
            })
          )
        )
      })
  )
})
