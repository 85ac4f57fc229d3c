/**
 * Limit of the operations that one instance runs at a time
 * (docs/contract/operations.md#order-of-execution).
 */
import { Engine } from "@bursar/engine-core"
import { type Ledger, WorkQueue } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import * as Passing from "../engine/passing.ts"
import { world } from "../engine/world.ts"

const operator = Calls.person("olga", "operator")
const declared = { operations: Notes.operations, fromLedger: Notes.fromLedger }

describe("twenty operations on twenty records, on a ledger that does not answer", () => {
  // Switched off to see it red: `free` in `workForever` of records/Workers.ts.
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

describe("three operations on three records", () => {
  it.effect("are leased by one look at the queue, since one instance may run more of them", () =>
    Effect.gen(function* () {
      let looks = 0
      const storage = Layer.effect(
        WorkQueue,
        Effect.map(WorkQueue, (work) => ({
          ...work,
          lease: (request: Parameters<typeof work.lease>[0]) =>
            Effect.suspend(() => {
              if (request.queue === "operations") looks += 1
              return work.lease(request)
            })
        }))
      ).pipe(Layer.provideMerge(Memory.layer))
      // The ledger never answers, so that no end of an operation wakes the runner.
      const tamper = (port: Ledger.Ledger["Service"]) => ({ ...port, submit: () => Effect.never })
      yield* Effect.gen(function* () {
        const { party } = yield* Notes.outsider("registrar")
        for (let at = 0; at < 3; at++) {
          yield* Calls.submit(Notes.propose, operator, {
            params: { noteId: `n${at}` },
            body: `{"registrar":"${party}"}`,
            key: `k${at}`
          })
        }
        const work = yield* WorkQueue
        yield* Passing.working
        for (let turn = 0; turn < 20; turn++) yield* Passing.breathe
        assert.deepStrictEqual([looks, (yield* work.depth("operations")).leased], [1, 3])
      }).pipe(Effect.provide(world({ ...declared, storage, tamper })))
    })
  )
})
