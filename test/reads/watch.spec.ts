/** Watch of an answer: every look-up of records is watched, and one at another point is not kept. */
import { Records } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as Offset from "#core/kernel/Offset.ts"
import type * as Point from "#core/reads/Point.ts"
import type { ReadContext } from "#core/reads/Read.ts"
import * as Watch from "#core/reads/Watch.ts"
import { engine, stores } from "../engine/stores.ts"
import { timers } from "../engine/timers.ts"

const lookUps = [
  "find",
  "get",
  "many",
  "list",
  "stream",
  "ids",
  "countBy",
  "search",
  "versions",
  "waits"
]
/** Parts of a transaction; a read runs in none. */
const writes = [
  "transact",
  "transactAlone",
  "lock",
  "rehearse",
  "prefetch",
  "uncommitted",
  "open",
  "append",
  "restate",
  "forget",
  "announce",
  "enqueue",
  "whenCommitted",
  "audit"
]

const asking = { sight: "all", pin: { select: { by: "latest" } } } as unknown as ReadContext & {
  readonly pin: Point.ResolvedPoint
}

const called = {
  find: ({ find }: Records["Service"]) => find(timers, "t1"),
  get: ({ get }: Records["Service"]) => Effect.ignore(get(timers, "t1")),
  many: ({ many }: Records["Service"]) => many(timers, ["t1"]),
  list: ({ list }: Records["Service"]) => list(timers, { limit: 1 }),
  stream: ({ stream }: Records["Service"]) => Stream.runDrain(stream(timers, {})),
  ids: ({ ids }: Records["Service"]) => Stream.runDrain(ids(timers, {})),
  countBy: ({ countBy }: Records["Service"]) => Effect.ignore(countBy(timers, "href", {})),
  search: ({ search }: Records["Service"]) => search.page({ ranges: [], prefix: "q", limit: 1 }),
  waits: ({ waits }: Records["Service"]) => waits.conditions(asking.pin),
  versions: ({ versions }: Records["Service"]) =>
    versions(timers, ["t1"], { from: Offset.of(0), through: Offset.of(1) })
} as const

describe("the watch of an answer", () => {
  it.effect("knows every function of Records", () =>
    Effect.gen(function* () {
      const records = yield* Records
      assert.deepStrictEqual(Object.keys(records).toSorted(), [...lookUps, ...writes].toSorted())
      assert.deepStrictEqual(Object.keys(called).toSorted(), lookUps.toSorted())
    }).pipe(Effect.provide(engine), Effect.provide(stores[0]!.ports))
  )

  it.effect.each(Object.entries(called))("keeps nothing where %s names no pin", ([, call]) =>
    Effect.gen(function* () {
      const watch = Watch.make(yield* Records, asking)
      assert.isTrue(watch.isTimeless())
      yield* call(watch.records)
      assert.isFalse(watch.isTimeless())
    }).pipe(Effect.provide(engine), Effect.provide(stores[0]!.ports))
  )
})
