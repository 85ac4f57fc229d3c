/** A venue that begins again on a ledger that has forgotten: its reserve, what waits for it, and its reports. */
import { EventQueries, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { amendments } from "#core/reserves/amendment/Amendment.ts"
import * as ReportQueries from "#core/reserves/report/ReportQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { again, forgets } from "./again.ts"
import * as Backed from "./backed.ts"
import * as Covered from "./covered.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Minting from "./minting.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Venue from "./venue.ts"

const proposes = (scene: Backed.Scene, amendmentId: string, haircut: number) =>
  Backed.amends(amendmentId, Backed.termsOf(scene, { haircut }))

/** Contracts of the reserve that are active: its own, those it counts, and terms that are to come. */
const activeContracts = Effect.gen(function* () {
  const records = yield* Records
  const { locked, outstanding, pending, reserveCid, state, terms } = yield* Backed.reserve()
  const rows = yield* records.list(amendments, { where: { reserveId: ["res-1"] }, limit: 10 })
  return {
    ...{ locked, outstanding, pending, reserveCid, state, terms },
    amendments: rows
      .map(({ record: self }) => ({
        id: self.amendmentId as string,
        ...{ state: self.state, change: self.change, loosens: self.loosens },
        effectiveAt: self.effectiveAt === null ? null : Instant.format(self.effectiveAt)
      }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
})

/** A reserve with terms that wait, others that are proposed, and a report; then the ledger forgets. */
const forgotten = Effect.gen(function* () {
  const scene = yield* Covered.covered()
  yield* Covered.issues(scene, "900")
  yield* proposes(scene, "am-1", 0.01)
  yield* Backed.answersAmendment(scene, "am-1")
  yield* proposes(scene, "am-2", 0.1)
  yield* Calls.write("reserve-report.create", { reserveId: "res-1" }, { reportId: "rep-1" })
  const before = yield* activeContracts
  assert.deepEqual(
    before.amendments.map(({ id, state }) => `${id} ${state}`),
    ["am-1 accepted", "am-2 proposed"]
  )
  yield* forgets
  return { scene, before }
})

describe("a venue that begins on a ledger with a reserve", () => {
  it.effect("finds its terms, those that wait and those that are proposed, and its report", () =>
    Effect.gen(function* () {
      const { before } = yield* forgotten
      yield* Effect.gen(function* () {
        yield* Calls.settle
        assert.deepEqual(yield* activeContracts, before)
        const { value } = yield* Venue.read(ReportQueries.get, {
          reserveId: "res-1" as never,
          reportId: "rep-1" as never
        })
        assert.deepEqual(
          [Decimal.formatPlain(value.view.counted), value.view.termsInForce, value.basis],
          ["1360", null, []]
        )
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )

  it.effect("names its report as not compared, and waits for nothing to compare it with", () =>
    Effect.gen(function* () {
      yield* forgotten
      yield* Effect.gen(function* () {
        yield* Calls.settle
        const { value } = yield* Reconciling.run('{"scope":{"checks":["reserve-report"]}}')
        assert.deepEqual(
          value.checks.map(({ check, ran }) => `${check} ${ran ? "ran" : "did not run"}`),
          ["reserve-report ran"]
        )
        const [run] = yield* Reconciling.allRuns
        assert.deepEqual(
          run?.notCompared.map(({ subject, why, isNeeded }) => [subject.id, why, isNeeded]),
          [["res-1", "of-snapshot", false]]
        )
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )

  it.effect("goes on with them: one is withdrawn, the other accepted", () =>
    Effect.gen(function* () {
      const { scene } = yield* forgotten
      yield* Effect.gen(function* () {
        yield* Calls.settle
        const withdrawn = yield* Calls.write(
          "amendment.withdraw",
          { reserveId: "res-1", amendmentId: "am-1" },
          {}
        )
        assert.strictEqual(withdrawn.why, "")
        yield* Backed.answersAmendment(scene, "am-2")
        const { amendments: all, pending } = yield* activeContracts
        assert.deepEqual(
          [pending, ...all.map(({ id, state }) => `${id} ${state}`)],
          [null, "am-1 withdrawn", "am-2 effective"]
        )
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )

  it.effect("has the terms that waited in force at their instant", () =>
    Effect.gen(function* () {
      yield* forgotten
      yield* Effect.gen(function* () {
        yield* Calls.settle
        yield* TestClock.adjust("25 hours")
        const { amendments: all } = yield* activeContracts
        assert.deepEqual(
          all.map(({ id, state }) => `${id} ${state}`),
          ["am-1 effective", "am-2 proposed"]
        )
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )

  it.effect("cancels its orders, whose deposit or units their parties have taken back before", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.opened({ price: null })
      const { h1, h2, usd } = scene
      yield* Minting.mintsFor(scene, { mintId: "m-first", asset: usd, deposit: 100 })
      const redeeming = { reserveRedemptionId: "r-1", asset: usd, units: 10 }
      yield* Minting.startsRedemption(scene, redeeming)
      yield* Minting.acceptsRedemption(scene, redeeming)
      const minting = { mintId: "m-1", asset: usd, deposit: 20, holder: h2 }
      yield* Minting.starts(scene, minting)
      yield* Minting.accepts(scene, minting)
      const allocation = yield* Powers.saying(Templates.Allocation, { reference: "m-1" })
      yield* h2.act(
        Templates.exercise(Templates.Allocation, allocation.cid, "Allocation_Withdraw", {})
      )
      // Past the deadline of its order, a day after the start, the owner unlocks its units by itself.
      yield* TestClock.adjust("25 hours")
      const [units] = (yield* Cycles.active(Templates.Holding)).filter(
        ({ payload: { lock } }) => lock?.context === "r-1"
      )
      yield* h1.act(
        Templates.exercise(Templates.Holding, units?.cid ?? "", "Unlock", {
          releasers: [h1.party]
        })
      )
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Minting.turn
        yield* Minting.retry
        const { heldCid, intentCid, state } = yield* Minting.mint("m-1")
        assert.deepEqual([state, heldCid], ["cancelled", null])
        assert.isNull(intentCid)
        assert.strictEqual((yield* Minting.redemption("r-1")).state, "cancelled")
        for (const template of [
          Templates.MintOrder,
          Templates.ReserveRedemptionOrder,
          Templates.SettlementIntent
        ]) {
          assert.deepEqual(yield* Cycles.active(template), [])
        }
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )

  it.effect("announces each settlement that is proposed, though their nodes have one number", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.opened({ price: null })
      for (const [mintId, holder] of [
        ["m-1", scene.h1],
        ["m-2", scene.h2]
      ] as const) {
        const { why } = yield* Minting.starts(scene, {
          mintId,
          asset: scene.usd,
          deposit: 20,
          holder
        })
        assert.strictEqual(why, "")
      }
      const active = yield* Cycles.active(Templates.SettlementIntent)
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        const { page } = yield* EventQueries.EventQueries
        const params = { type: ["settlement.proposed"] } as const
        const { value } = yield* page({ caller: Calls.operator, params, limit: 10 })
        assert.deepEqual(
          value.map(({ resourceId }) => resourceId).toSorted(),
          active.map(({ cid }) => cid).toSorted()
        )
        assert.strictEqual(value.length, 2)
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )
})
