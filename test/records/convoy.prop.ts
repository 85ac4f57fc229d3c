/** Transactions that travel together are as if each had been alone, and none is left behind. */
import { Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Feed } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { Effect, Exit, Layer, Scheduler } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as RecordsLayer from "#core/records/layer.ts"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Toys from "../engine/toys.ts"
import { pollLimit } from "../waiting.ts"

const runs = Number(process.env["RUNS"] ?? 200)

const rider = fc.record({
  counter: fc.constantFrom("a", "b", "c"),
  by: fc.integer({ min: 1, max: 5 }),
  lock: fc.constantFrom(null, null, "l", "m"),
  ends: fc.constantFrom("well", "well", "well", "badly", "by a bug"),
  /** How late it comes, and how long it takes, in turns of the scheduler. */
  late: fc.nat(6),
  long: fc.nat(3)
})
type Rider = typeof rider extends fc.Arbitrary<infer A> ? A : never

const turns = (count: number) => Effect.repeat(Effect.yieldNow, { times: count })

const ride = Effect.fnUntraced(function* (one: Rider) {
  const records = yield* Records
  yield* turns(one.late)
  yield* records.transact(
    Effect.gen(function* () {
      if (one.lock !== null) yield* records.lock(one.lock)
      const now = { cause: { by: "request" as const, requestId: "r" }, now: yield* Instant.now }
      const before = yield* records.find(Toys.counters, one.counter)
      yield* turns(one.long)
      if (before._tag === "None") {
        yield* records.open(Toys.counters, { counterId: one.counter, count: one.by }, now)
      } else {
        yield* records.record(Toys.counters, before.value, { on: "add", by: one.by }, now)
      }
      yield* records.announce([
        {
          type: "hold.released",
          resourceKind: "hold",
          resourceId: one.counter,
          instrumentId: null,
          party: null,
          holderIds: [],
          payload: {}
        }
      ])
      if (one.ends === "badly") return yield* Effect.fail("badly")
      if (one.ends === "by a bug") return yield* Effect.die("a bug")
    })
  )
})

describe("a convoy", () => {
  it("carries everybody to their own end, whoever else is aboard, however fibers take turns", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(rider, { minLength: 1, maxLength: 20, size: "max" }),
        fc.integer({ min: 7, max: 40 }),
        (riders, turn) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const exits = yield* Effect.forEach(riders, (one) => Effect.exit(ride(one)), {
                concurrency: "unbounded"
              }).pipe(Effect.timeout(pollLimit))
              expect(exits.map(Exit.isSuccess)).toEqual(riders.map(({ ends }) => ends === "well"))
              const records = yield* Records
              for (const counter of ["a", "b", "c"]) {
                const sum = riders
                  .filter((one) => one.counter === counter && one.ends === "well")
                  .reduce((total, { by }) => total + by, 0)
                const found = yield* records.find(Toys.counters, counter)
                expect(found._tag === "Some" ? found.value.count : 0).toBe(sum)
              }
              const feed = yield* Feed
              expect((yield* feed.head).seq).toBe(
                riders.filter(({ ends }) => ends === "well").length
              )
            }).pipe(
              Effect.provide(
                RecordsLayer.layer.pipe(
                  Layer.provide(NodeCrypto.layerCrypto),
                  Layer.provideMerge(Memory.layer)
                )
              ),
              Effect.provideService(Scheduler.MaxOpsBeforeYield, turn)
            )
          )
      ),
      { numRuns: runs, endOnFailure: true }
    ))
})
