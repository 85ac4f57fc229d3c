/** Actions after a commit: once for each committed transaction, never for one that failed. */
import { Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Exit, Layer } from "effect"
import { describe, expect, it } from "vitest"
import * as RecordsLayer from "#core/records/layer.ts"
import * as Toys from "../engine/toys.ts"

const layer = RecordsLayer.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Memory.layer, NodeCrypto.layer))
)

const count = (counterId: string, onCommitted: () => void, end: Effect.Effect<void, string>) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = { cause: { by: "request" as const, requestId: "r" }, now: yield* Instant.now }
    const before = yield* records.find(Toys.counters, counterId)
    yield* records.whenCommitted(Effect.sync(onCommitted))
    if (before._tag === "None") yield* records.open(Toys.counters, { counterId, count: 1 }, now)
    else yield* records.append(Toys.counters, before.value, { on: "add", by: 1 }, now)
    yield* end
  })

describe("what waits for a commit", () => {
  // Red when GroupCommit runs them for a group that was rolled back, or `merge` omits them.
  it("is done once for each write that stays, however they travelled, and never for another", () =>
    Effect.gen(function* () {
      const records = yield* Records
      let committedCount = 0
      const ends = Array.from({ length: 60 }, (_, at) =>
        at % 7 === 3 ? Effect.fail("badly") : at % 11 === 5 ? Effect.die("a bug") : Effect.void
      )
      const exits = yield* Effect.forEach(
        ends,
        (end) => Effect.exit(records.transact(count("a", () => committedCount++, end))),
        { concurrency: "unbounded" }
      )
      const well = exits.filter(Exit.isSuccess).length
      const counter = yield* records.get(Toys.counters, "a")
      expect([committedCount, counter.count]).toEqual([well, well])
      expect(well).toBeGreaterThan(40)
    }).pipe(Effect.provide(layer), Effect.runPromise))

  it("is done when the outermost transaction is committed, and not before", () =>
    Effect.gen(function* () {
      const records = yield* Records
      const ranAfterCommit: Array<string> = []
      yield* records.transact(
        Effect.gen(function* () {
          yield* records.transact(count("b", () => ranAfterCommit.push("inner"), Effect.void))
          ranAfterCommit.push("before")
        })
      )
      expect(ranAfterCommit).toEqual(["before", "inner"])
      const failed = records.transact(
        Effect.andThen(
          records.transact(count("c", () => ranAfterCommit.push("never"), Effect.void)),
          Effect.fail("badly")
        )
      )
      yield* Effect.exit(failed)
      expect(ranAfterCommit).toEqual(["before", "inner"])
    }).pipe(Effect.provide(layer), Effect.runPromise))
})
