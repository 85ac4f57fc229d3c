/** Executions of distributions, from the points and the register to sealed lines on the ledger. */
import { Decimal } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const engine = (options: Parameters<typeof world>[0] = {}) => Effect.provide(world(options))
const includes = (self: object, members: object) => assert.deepInclude(self, members)
const d = Decimal.of

const july = { instrumentId: "fund-a", month: "2026-07" } as const
const execute = (body: Calls.Json = july) => Calls.write("distribution.execute", {}, body)

describe("the execution of a distribution", () => {
  it.effect("pays three holders of a third each what vector G31 says", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2", "h3"])
      for (const holder of holders) yield* Powers.mints(stage, holder, "333333.333333")
      yield* Cycles.at("2026-07-28T12:00:00Z")
      yield* Executions.publishes(stage, "0.000095759", "2026-07-28T11:00:00Z")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      const ended = yield* execute()
      includes(ended, { state: "succeeded", why: "" })
      const self = yield* Executions.distributionOf("fund-a.2026-07")
      includes(self, {
        state: "payable",
        recordDate: "2026-07-31",
        linesHash: "b25dc7318ec640ce5c7bd80a3c9ffeb1538f69a8995be39a33d12d861a7356f2"
      })
      includes(self.totals, { holders: 3, residual: d("0.0000000001") })
      const lines = yield* Executions.linesOf("fund-a.2026-07")
      assert.deepStrictEqual(
        lines.map(({ holderId }) => holderId),
        ["h1", "h2", "h3"]
      )
      for (const line of lines) {
        includes(line, {
          state: "due",
          gross: d("127.67"),
          carryOut: d("0.0086666665"),
          net: d("108.52")
        })
      }
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})
