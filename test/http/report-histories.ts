/**
 * Histories whose reports are kept: months of a fund that distributes, a backed instrument, and orders of
 * a rebasing one.
 */
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
import * as Rebasing from "../operations/rebasing.ts"
import * as Reports from "../operations/reports.ts"
import type { History } from "./report-pins.ts"

/** Months by chance: of an odd seed paid in cash, of an even one in units. */
export const months = (year: Years.Year): History => ({
  play: (each) =>
    Effect.gen(function* () {
      const { mobile: holders, stage } = yield* Years.play(year, () => Effect.void, each)
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
    const mints = (minting: Minting.Minting) =>
      Effect.gen(function* () {
        yield* Minting.mintsFor(scene, minting)
        // The engine settles it when it looks at what is due: sooner or later.
        for (let turn = 0; turn < 8; turn++) {
          if ((yield* Minting.mint(minting.mintId)).state === "settled") return
          yield* Minting.turn
        }
        throw new Error(
          `the mint ${minting.mintId} is not settled: ${(yield* Minting.endings("mint.settle")).join(", ")}`
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

/** Orders in shown units, at an index that rises and falls, units that are given, and one holder that may be recovered. */
export const rebasing: History = {
  play: Effect.fnUntraced(function* (each) {
    const scene = yield* Rebasing.opened({}, ["h1", "h2"])
    const [h1, h2] = scene.holders
    if (h1 === undefined || h2 === undefined) throw new Error("no holders")
    yield* Rebasing.indexed(scene, "1.7", "2026-07-31T11:00:00Z")
    // Away from the hours at which a day may end in some zone.
    yield* TestClock.adjust("10 minutes")
    yield* Powers.agrees(scene.stage)
    yield* Powers.consents(h1)
    const ordered = (
      kind: "subscription" | "redemption",
      id: string,
      order: Rebasing.Terms & { readonly holderId: string }
    ) =>
      Effect.gen(function* () {
        const { why } = yield* Rebasing.claims(kind, id, order)
        if (why !== "") throw new Error(`${id}: ${why}`)
        yield* each
        yield* Rebasing.prices(scene)
        yield* each
        const ends = kind === "subscription" ? Rebasing.buys : Rebasing.sells
        const failed = yield* ends(scene, id)
        if (failed.length > 0) throw new Error(`${id}: ${failed.join(", ")}`)
        yield* each
      })
    yield* ordered("subscription", "s1", { holderId: "h1", amount: 1000 })
    yield* ordered("subscription", "s2", { holderId: "h2", units: 700.5 })
    yield* Cycles.at("2026-08-03T12:10:00Z")
    yield* Rebasing.indexed(scene, "1.7314", "2026-08-03T11:00:00Z")
    yield* ordered("redemption", "r1", { holderId: "h1", units: 500 })
    yield* Reports.gives(h2, h1, "100.5")
    yield* each
    yield* Cycles.at("2026-09-02T12:10:00Z")
    yield* Rebasing.indexed(scene, "1.6", "2026-09-02T11:00:00Z")
    yield* ordered("redemption", "r2", { holderId: "h2", amount: 100 })
    return { stage: scene.stage, holders: [h1, h2], recovered: h1, metric: "index" as const }
  })
}
