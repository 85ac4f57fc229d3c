/** What a precheck answers of each act in a venue that is walked for real: allowed, and refused at several gates at once. */
import { type Caller, Reads } from "@bursar/engine-core"
import type { Instant, Offset } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as PrecheckReads from "../../packages/engine-core/src/instruments/precheck/PrecheckReads.ts"
import { world } from "../engine/world.ts"
import * as Stage from "./stage.ts"

const engine = () => Effect.provide(world())

type Params = Parameters<(typeof PrecheckReads.get)["run"]>[0]
type Asked = { readonly [K in keyof Params]?: unknown }

const precheck = (
  act: Params["act"],
  given: Asked,
  as: {
    readonly caller?: Caller.Caller
    readonly point?: { readonly at?: Offset.Offset; readonly asOf?: Instant.Instant }
  } = {}
) =>
  Effect.flatMap(Reads, (reads) =>
    reads.one(PrecheckReads.get, {
      caller: as.caller ?? Stage.operator,
      params: { instrumentId: "fund-a", act, ...given } as Params,
      point: as.point ?? {}
    })
  )

describe("a claim", () => {
  it.effect("that every check lets pass is refused by its precheck", () =>
    Effect.gen(function* () {
      const stage = yield* Stage.opened()
      yield* Stage.market(stage)
      yield* Stage.admitted(stage)
      const { value } = yield* precheck("subscription.claim", {
        holderId: "h1",
        amount: 1000000000000000n
      })
      assert.isTrue(value.allowed)
      assert.deepStrictEqual(
        value.gates.filter(({ ok }) => !ok),
        []
      )
    }).pipe(engine())
  )
})
