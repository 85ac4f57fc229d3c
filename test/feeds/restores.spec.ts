/** The instant of a restore names the history that begins with it, in cursors and webhook-ids. */
import { noteRestore } from "@bursar/engine-core"
import { Feed } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { world } from "../engine/world.ts"

const noted = Effect.gen(function* () {
  yield* noteRestore
  const { restores } = yield* Effect.flatMap(Feed, ({ head }) => head)
  return restores.map(({ at }) => at)
}).pipe(Effect.provide(NodeCrypto.layerIds))

describe("a restore", () => {
  it.effect("has another instant than any other restore of the same copy", () =>
    Effect.gen(function* () {
      const restores = Effect.provide(noted, world())
      const all = yield* Effect.all(Array.from({ length: 5 }, () => restores))
      assert.strictEqual(new Set(all.flat()).size, 5)
    })
  )

  it.effect("is later than the restores of its copy, also where the clock went back", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 hour")
      yield* noted
      yield* TestClock.setTime(0)
      const all = yield* noted
      assert.lengthOf(all, 2)
      assert.deepEqual(all, all.toSorted())
      assert.strictEqual(new Set(all).size, 2)
    }).pipe(Effect.provide(world()))
  )
})
