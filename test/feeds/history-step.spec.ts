/** The step of retention that deletes history, resumed at places that other versions stored. */
import { Instant } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { stepsOf } from "#core/feeds/RetentionSteps.ts"
import { world } from "../engine/world.ts"

describe("the step of history", () => {
  it.effect.each([{ after: "more" }, { after: '{"through":1}' }, { after: "" }])(
    "begins again at a place that it cannot read: %j",
    ({ after }) =>
      Effect.gen(function* () {
        const step = stepsOf([]).at(-1)
        if (step === undefined) throw new Error("retention has steps")
        const input = { after, now: yield* Instant.now }
        const again = yield* step.run({ ...input, after: null })
        assert.deepStrictEqual(yield* step.run(input), again)
      }).pipe(Effect.provide(world()))
  )

  it("goes on with the next part after one that failed, once the horizon is raised", () => {
    const step = stepsOf([]).at(-1)
    assert.deepStrictEqual(
      [null, '{"through":7,"part":0}', '{"through":7,"part":1}'].map((after) =>
        step?.past?.(after)
      ),
      [null, '{"through":7,"part":1}', null]
    )
  })
})
