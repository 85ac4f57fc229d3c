/** The step of retention that deletes history, resumed at places that other versions stored. */
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
        const asked = { after } as Parameters<typeof step>[0]
        assert.deepStrictEqual(yield* step(asked), yield* step({ ...asked, after: null }))
      }).pipe(Effect.provide(world()))
  )
})
