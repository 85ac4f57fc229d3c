/** Own records: an investor reads those of its own holder, and is refused all others. */
import { type Caller, Queries } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as SubscriptionQueries from "#core/orders/subscription/SubscriptionQueries.ts"
import { person } from "../engine/calls.ts"
import { world } from "../engine/world.ts"

const investor = (holderId: string | null): Caller.Caller => ({
  ...person("ines", "investor"),
  holderId
})

const answerOrSlug = (
  caller: Caller.Caller,
  params: Parameters<typeof SubscriptionQueries.list.where>[0]
) =>
  Effect.flatMap(Queries, (queries) =>
    Effect.map(
      Effect.result(
        queries.page(SubscriptionQueries.list, { caller, params, point: {}, page: { limit: 10 } })
      ),
      (answer) => (Result.isSuccess(answer) ? "answered" : answer.failure.slug)
    )
  )

describe("an investor", () => {
  for (const [what, caller, params, due] of [
    ["asks for everything and gets its own", investor("h1"), {}, "answered"],
    ["names itself", investor("h1"), { holderId: "h1" }, "answered"],
    ["names another holder", investor("h1"), { holderId: "h2" }, "permission-denied"],
    ["has no holder", investor(null), {}, "permission-denied"]
  ] as const) {
    it.effect(`who ${what}: ${due}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* answerOrSlug(caller, params as never), due)
      }).pipe(Effect.provide(world()))
    )
  }

  it.effect("who names another holder is denied before the point is looked at", () =>
    Effect.gen(function* () {
      const queries = yield* Queries
      const refused = yield* Effect.flip(
        queries.page(SubscriptionQueries.list, {
          caller: investor("h1"),
          params: { holderId: "h2" } as never,
          point: { at: 999 as never },
          page: { limit: 10 }
        })
      )
      assert.strictEqual(refused.slug, "permission-denied")
    }).pipe(Effect.provide(world()))
  )
})
