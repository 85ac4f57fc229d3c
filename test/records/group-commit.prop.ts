/** Group commit: each transaction of a group ends as if it had run alone, and every one is answered. */
import { Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Feed } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { Effect, Exit, Layer, Scheduler } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { JudgedAt } from "#core/records/JudgedAt.ts"
import * as RecordsLayer from "#core/records/layer.ts"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Toys from "../engine/toys.ts"
import { pollLimit } from "../waiting.ts"
import { runsOf } from "../long-run.ts"

const runs = runsOf(200)

const members = fc.record({
  counter: fc.constantFrom("a", "b", "c"),
  by: fc.integer({ min: 1, max: 5 }),
  lock: fc.constantFrom(null, null, "l", "m"),
  ends: fc.constantFrom("well", "well", "well", "badly", "by a bug"),
  /** Delay before it begins, and its length, in turns of the scheduler. */
  late: fc.nat(6),
  long: fc.nat(3)
})
type Member = typeof members extends fc.Arbitrary<infer A> ? A : never

const turns = (count: number) => Effect.repeat(Effect.yieldNow, { times: count })

const run = Effect.fnUntraced(function* (member: Member) {
  const records = yield* Records
  yield* turns(member.late)
  yield* records.transact(
    Effect.gen(function* () {
      if (member.lock !== null) yield* records.lock(member.lock)
      const now = { cause: { by: "request" as const, requestId: "r" }, now: yield* Instant.now }
      const before = yield* records.find(Toys.counters, member.counter)
      yield* turns(member.long)
      if (before._tag === "None") {
        yield* records.open(Toys.counters, { counterId: member.counter, count: member.by }, now)
      } else {
        yield* records.append(Toys.counters, before.value, { on: "add", by: member.by }, now)
      }
      yield* records.announce([
        {
          type: "hold.released",
          resourceKind: "hold",
          resourceId: member.counter,
          instrumentId: null,
          party: null,
          holderIds: [],
          payload: {}
        }
      ])
      if (member.ends === "badly") return yield* Effect.fail("badly")
      if (member.ends === "by a bug") return yield* Effect.die("a bug")
    })
  )
})

describe("a group commit", () => {
  it("ends each member as if it had run alone, whatever the others do, however fibers take turns", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(members, { minLength: 1, maxLength: 20, size: "max" }),
        fc.integer({ min: 7, max: 40 }),
        (members, turn) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const exits = yield* Effect.forEach(members, (member) => Effect.exit(run(member)), {
                concurrency: "unbounded"
              }).pipe(Effect.timeout(pollLimit))
              expect(exits.map(Exit.isSuccess)).toEqual(members.map(({ ends }) => ends === "well"))
              const records = yield* Records
              for (const counter of ["a", "b", "c"]) {
                const sum = members
                  .filter((member) => member.counter === counter && member.ends === "well")
                  .reduce((total, { by }) => total + by, 0)
                const found = yield* records.find(Toys.counters, counter)
                expect(found._tag === "Some" ? found.value.count : 0).toBe(sum)
              }
              const feed = yield* Feed
              expect((yield* feed.head).seq).toBe(
                members.filter(({ ends }) => ends === "well").length
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

  // Red when GroupCommit merges a member's context with that of the fiber that started the group.
  it("judges each member at its own instant, never at that of the call that started the group", () =>
    Effect.gen(function* () {
      const records = yield* Records
      const epoch = Instant.fromNanos(0n)
      const judged = records.transact(Effect.andThen(turns(3), JudgedAt))
      const sweep = Effect.provideService(judged, JudgedAt, epoch)
      const concurrentResults = yield* Effect.all([sweep, judged, judged, sweep, judged], {
        concurrency: "unbounded"
      })
      expect(concurrentResults).toEqual([epoch, null, null, epoch, null])
    }).pipe(
      Effect.provide(
        RecordsLayer.layer.pipe(
          Layer.provide(NodeCrypto.layerCrypto),
          Layer.provideMerge(Memory.layer)
        )
      ),
      Effect.runPromise
    ))
})
