/** Two writers open the same record: the store lets each look before either has committed. */
import { Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Documents } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as RecordsLayer from "#core/records/layer.ts"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Toys from "../engine/toys.ts"

/**
 * A store whose first `blind` look-ups find nothing, as for a transaction that began before another
 * one committed, and whose next look-ups see a later moment.
 */
const lookingBefore = (blind: number) =>
  Layer.effect(
    Documents,
    Effect.map(Documents, (documents) => {
      let looks = 0
      return {
        ...documents,
        get: (query: Parameters<typeof documents.get>[0]) =>
          looks++ < blind ? Effect.succeed([]) : documents.get(query)
      }
    })
  )

const act = Effect.map(Instant.now, (now) => ({
  cause: { by: "request" as const, requestId: "req-1" },
  now
}))

/** Opens the counter, or adds to the one that is there. */
const count = Effect.gen(function* () {
  const records = yield* Records
  const now = yield* act
  const storedCounter = yield* records.find(Toys.counters, "c1")
  return Option.isNone(storedCounter)
    ? yield* records.open(Toys.counters, { counterId: "c1", count: 1 }, now)
    : yield* records.append(Toys.counters, storedCounter.value, { on: "add", by: 1 }, now)
})

const within = <A, E>(effect: Effect.Effect<A, E, Records>) =>
  Effect.flatMap(Records, (records) => records.transact(effect))

describe("a record that another writer opened since this transaction looked", () => {
  it.effect("never is refused as taken, though the transaction would have added to it", () =>
    Effect.gen(function* () {
      const memory = yield* Layer.build(Memory.layer)
      const store = Layer.succeedContext(memory)
      const sighted = RecordsLayer.layer.pipe(
        Layer.provide(NodeCrypto.layerCrypto),
        Layer.provide(store)
      )
      const late = RecordsLayer.layer.pipe(
        Layer.provide(NodeCrypto.layerCrypto),
        Layer.provide(lookingBefore(1)),
        Layer.provide(store)
      )
      yield* Effect.provide(within(count), sighted)
      const after = yield* Effect.provide(within(count), late)
      assert.strictEqual(after.count, 2)
      assert.strictEqual(after.version, 2)
    })
  )

  it.effect("never is not refused, though nobody looked whether it was there", () =>
    Effect.gen(function* () {
      const open = Effect.gen(function* () {
        const records = yield* Records
        return yield* records.open(Toys.counters, { counterId: "c1", count: 1 }, yield* act)
      })
      yield* within(open)
      const again = yield* Effect.flip(within(open))
      assert.strictEqual(again._tag === "Refused" ? again.slug : again._tag, "already-exists")
    }).pipe(
      Effect.provide(
        RecordsLayer.layer.pipe(Layer.provide(NodeCrypto.layerCrypto), Layer.provide(Memory.layer))
      )
    )
  )
})
