/**
 * Operations of a dead worker: another worker takes them after the lease and one look at the queue,
 * and no later.
 */
import { Engine, Records, settingsDefaults } from "@bursar/engine-core"
import { type Lease, WorkQueue } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Passing from "../engine/passing.ts"
import * as Toys from "../engine/toys.ts"
import { ports } from "../engine/world.ts"

const declared = { operations: [Toys.single], fromLedger: [] }
const queue = "operations"
const { lease: leaseMillis, poll } = settingsDefaults

/** An engine whose leases of operations are noted with their time. */
const watched = (leasings: Array<{ readonly at: number; readonly itemId: string }>) => {
  const watching = Effect.map(WorkQueue, (port): WorkQueue["Service"] => ({
    ...port,
    lease: (request) =>
      Effect.tap(port.lease(request), (leases) =>
        Effect.map(Clock.currentTimeMillis, (at) => {
          if (request.queue !== queue) return
          leasings.push(...leases.map(({ itemId }: Lease) => ({ at, itemId })))
        })
      )
  }))
  return Layer.fresh(
    Engine.layerOf(declared).pipe(Layer.provide(Layer.effect(WorkQueue, watching)))
  )
}

describe("an operation that a dead worker held", () => {
  it("is held for thirty seconds and looked for every second", () => {
    assert.deepStrictEqual([leaseMillis, poll], [30_000, 1_000])
  })

  // Milliseconds from the lease until the other worker begins to look.
  for (const ahead of [0, 1, 250, 999, 2_500, 4_001]) {
    it.effect(
      `never waits longer than its lease and one look, or is taken before its lease ends (${ahead} ms)`,
      () =>
        Effect.gen(function* () {
          const leasings: Array<{ readonly at: number; readonly itemId: string }> = []
          const other = yield* Layer.build(watched(leasings))
          const submit = (counterId: string) =>
            Effect.provide(
              Effect.map(
                Calls.submit(Toys.single, Calls.person("olga", "operator"), {
                  params: { counterId },
                  body: '{"by":1}',
                  key: counterId
                }),
                (answer) => String(Calls.field(answer, "operationId"))
              ),
              other
            )
          const ids = [yield* submit("c"), yield* submit("d")]
          const work = yield* WorkQueue
          const dead = yield* work.lease({ queue, worker: "dead", limit: 9, leaseMillis })
          assert.deepStrictEqual(
            dead.map(({ itemId }) => itemId),
            ids
          )
          const from = yield* Clock.currentTimeMillis
          yield* TestClock.adjust(ahead)
          yield* Effect.provide(Passing.working, other)
          yield* Passing.seconds(40)
          assert.deepStrictEqual(
            leasings.map(({ itemId }) => itemId),
            ids
          )
          for (const { at } of leasings) {
            assert.isAtLeast(at - from, leaseMillis)
            assert.isAtMost(at - from, leaseMillis + poll)
          }
          const ended = Effect.flatMap(Records, (records) =>
            Effect.forEach(ids, (id) => records.get(operations, id))
          )
          assert.deepStrictEqual(
            (yield* Effect.provide(ended, other)).map(({ state }) => state),
            ["succeeded", "succeeded"]
          )
        }).pipe(Effect.provide(ports()), Effect.scoped)
    )
  }
})
