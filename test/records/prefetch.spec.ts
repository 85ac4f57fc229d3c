/** Records prefetched for a long transaction: found without another look-up, and never stale when written. */
import { Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Documents } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as RecordsLayer from "#core/records/layer.ts"
import * as Toys from "../engine/toys.ts"

/** Records over one store, with every look counted; the first `blind` looks see nothing. */
const over = (store: Layer.Layer<Memory.Storage>, blind = 0) => {
  const counted = { looks: 0 }
  const documents = Layer.effect(
    Documents,
    Effect.map(Documents, (documents) => ({
      ...documents,
      get: (query: Parameters<typeof documents.get>[0]) =>
        counted.looks++ < blind ? Effect.succeed([]) : documents.get(query)
    }))
  )
  const layer = RecordsLayer.layer.pipe(
    Layer.provide(NodeCrypto.layerCrypto),
    Layer.provide(documents),
    Layer.provide(store)
  )
  return { seen: counted, layer }
}
const stored = Effect.map(Layer.build(Memory.layer), (memory) => Layer.succeedContext(memory))

const act = Effect.map(Instant.now, (now) => ({
  cause: { by: "request" as const, requestId: "req-1" },
  now
}))
const within = <A, E>(effect: Effect.Effect<A, E, Records>) =>
  Effect.flatMap(Records, (records) => records.transactAlone(effect))
const prefetch = (...ids: ReadonlyArray<string>) =>
  Effect.flatMap(Records, (records) =>
    records.prefetch(ids.map((id) => ({ collection: Toys.counters, id })))
  )

/** Opens the counter, or adds to the one that is there; answers what it stands at. */
const count = (counterId: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* act
    const storedCounter = yield* records.find(Toys.counters, counterId)
    const after = Option.isNone(storedCounter)
      ? yield* records.open(Toys.counters, { counterId, count: 1 }, now)
      : yield* records.append(Toys.counters, storedCounter.value, { on: "add", by: 1 }, now)
    return after.count
  })

describe("a prefetched record", () => {
  it.effect("never is looked for again, or hides what the transaction itself has written", () =>
    Effect.gen(function* () {
      const store = yield* stored
      const { seen, layer } = over(store)
      yield* Effect.provide(within(count("c1")), layer)
      const before = seen.looks
      const counts = yield* Effect.provide(
        within(
          Effect.gen(function* () {
            yield* prefetch("c1", "c2")
            return [yield* count("c1"), yield* count("c2"), yield* count("c1"), yield* count("c2")]
          })
        ),
        layer
      )
      assert.deepStrictEqual(counts, [2, 1, 3, 2])
      assert.strictEqual(seen.looks - before, 1)
    })
  )

  it.effect("never is still found after something else was read ahead", () =>
    Effect.gen(function* () {
      const store = yield* stored
      const { seen, layer } = over(store)
      yield* Effect.provide(within(count("c1")), layer)
      const before = seen.looks
      yield* Effect.provide(
        within(Effect.andThen(prefetch("c1"), Effect.andThen(prefetch("c2"), count("c1")))),
        layer
      )
      // One for each reading ahead, and one for what had been forgotten.
      assert.strictEqual(seen.looks - before, 3)
    })
  )

  it.effect("is looked up once for prefetches that follow each other, and never once written", () =>
    Effect.gen(function* () {
      const store = yield* stored
      const { seen, layer } = over(store)
      yield* Effect.provide(within(Effect.andThen(count("c1"), count("c2"))), layer)
      const before = seen.looks
      const counts = yield* Effect.provide(
        within(
          Effect.gen(function* () {
            yield* prefetch("c1")
            yield* prefetch("c1", "c2")
            const first = yield* count("c2")
            yield* prefetch("c1", "c2")
            return [first, yield* count("c1"), yield* count("c2")]
          })
        ),
        layer
      )
      assert.deepStrictEqual(counts, [2, 2, 3])
      // One for c1, and one for c2.
      assert.strictEqual(seen.looks - before, 2)
    })
  )

  it.effect("never lets another writer's opening go unnoticed", () =>
    Effect.gen(function* () {
      const store = yield* stored
      yield* Effect.provide(within(count("c1")), over(store).layer)
      // The first look-up came before the other writer's commit; the second one sees it.
      const late = over(store, 1)
      const after = yield* Effect.provide(
        within(Effect.andThen(prefetch("c1"), count("c1"))),
        late.layer
      )
      assert.strictEqual(after, 2)
    })
  )
})
