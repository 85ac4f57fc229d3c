/** A whole list asks the store once whether a collection has any record, and never again if not. */
import { Records } from "@bursar/engine-core"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type * as Pin from "#core/kernel/Pin.ts"
import * as EmptyCollections from "#core/reads/EmptyCollections.ts"
import { engine, stores } from "../engine/stores.ts"
import { timer, timers } from "../engine/timers.ts"

const onEngine = Effect.provide(engine.pipe(Layer.provideMerge(stores[0]!.ports)))

const pinOf = (select: Pin.ResolvedPin["select"]): Pin.ResolvedPin => ({
  offset: Offset.zero,
  ledgerTime: null,
  judgedAt: Instant.fromEpochMillis(0),
  select
})

/** Memoised records at a pin, and the look-ups that reached the store. */
const watched = (records: Records["Service"], pin: Pin.ResolvedPin) => {
  const storeCalls: Array<string> = []
  const memoised = EmptyCollections.memoised(
    {
      ...records,
      list: (collection, query) => {
        storeCalls.push(query.where === undefined ? "any" : "list")
        return records.list(collection, query)
      },
      many: (collection, ids, given) => {
        storeCalls.push("many")
        return records.many(collection, ids, given)
      }
    },
    pin
  )
  const batch = Effect.all([
    Effect.map(memoised.many(timers, ["a"], pin), ({ length }) => length),
    Effect.map(
      memoised.list(timers, { pin, where: { owner: ["a"] }, limit: 9 }),
      ({ length }) => length
    )
  ])
  return { storeCalls, batch }
}

const opened = Effect.gen(function* () {
  const records = yield* Records
  yield* TestClock.adjust(1_000)
  const now = yield* Instant.now
  const act = { cause: { by: "request" as const, requestId: "r" }, now }
  yield* records.transact(records.open(timers, timer("a", 1e9, 2e9), act))
  return now
})

it.effect("asks once where there is nothing at its pin, whatever is written after it", () =>
  Effect.gen(function* () {
    const records = yield* Records
    const before = yield* Instant.now
    const { storeCalls, batch } = watched(records, pinOf({ by: "snapshot", instant: before }))
    assert.deepStrictEqual(yield* batch, [0, 0])
    yield* opened
    assert.deepStrictEqual(yield* batch, [0, 0])
    assert.deepStrictEqual(storeCalls, ["any"])
  }).pipe(onEngine)
)

it.effect("looks up each batch where there is any", () =>
  Effect.gen(function* () {
    const records = yield* Records
    const instant = yield* opened
    const { storeCalls, batch } = watched(records, pinOf({ by: "snapshot", instant }))
    assert.deepStrictEqual(
      [yield* batch, yield* batch],
      [
        [1, 1],
        [1, 1]
      ]
    )
    assert.deepStrictEqual(storeCalls, ["any", "many", "list", "many", "list"])
  }).pipe(onEngine)
)

it.effect("remembers nothing of the latest, which changes", () =>
  Effect.gen(function* () {
    const records = yield* Records
    const { batch } = watched(records, pinOf({ by: "latest" }))
    assert.deepStrictEqual(yield* batch, [0, 0])
    yield* opened
    assert.deepStrictEqual(yield* batch, [1, 1])
  }).pipe(onEngine)
)
