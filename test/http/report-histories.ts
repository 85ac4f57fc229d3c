/** Histories whose reports are kept: months of a fund that distributes, and a backed instrument. */
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import * as Backed from "../operations/backed.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Covered from "../operations/covered.ts"
import * as Years from "../operations/distribution-years.ts"
import * as Minting from "../operations/minting.ts"
import * as Powers from "../operations/powers.ts"
import type { History } from "./report-pins.ts"

/** Months by chance: of an odd seed paid in cash, of an even one in units. */
export const months = (of: Years.Year): History => ({
  play: (each) =>
    Effect.gen(function* () {
      const { mobile: holders, stage } = yield* Years.play(of, () => Effect.void, each)
      const held = yield* Cycles.active(Templates.Holding)
      const recovered = holders.find(({ party }) =>
        held.some(({ payload }) => payload.owner === party && payload.instrument.id === "fund-a")
      )
      return { stage, holders, recovered: recovered ?? null }
    })
})

/** Mints against deposits, a redemption, units of no order, and reports of the reserve. */
export const backed: History = {
  play: Effect.fnUntraced(function* (each) {
    const scene = yield* Covered.covered()
    const { bill, h1, h2, usd } = scene
    const reports = Effect.andThen(
      Calls.write("reserve-report.create", { reserveId: "res-1" }, {}),
      each
    )
    const mints = (of: Minting.Minting) =>
      Effect.gen(function* () {
        yield* Minting.mintsFor(scene, of)
        // The engine settles it when it looks at what is due: sooner or later.
        for (let turn = 0; turn < 8; turn++) {
          if ((yield* Minting.mint(of.mintId)).state === "settled") return
          yield* Minting.turn
        }
        throw new Error(
          `the mint ${of.mintId} is not settled: ${(yield* Minting.endings("mint.settle")).join(", ")}`
        )
      })
    yield* mints({ mintId: "m-1", asset: usd, deposit: 1000 })
    yield* reports
    yield* Backed.prices(scene, "2.2")
    yield* mints({ mintId: "m-2", asset: bill, deposit: 100, holder: h2 })
    yield* reports
    yield* TestClock.adjust("20 days")
    yield* Calls.settle
    yield* each
    yield* Backed.prices(scene, "2.3")
    yield* Minting.redeems(scene, { reserveRedemptionId: "x-1", asset: usd, units: 300 })
    yield* reports
    yield* Powers.mints(scene, h1, "0.333333")
    yield* TestClock.adjust("20 days")
    yield* reports
    return { stage: scene, holders: [h1, h2], recovered: null }
  })
}
