/** History that the ledger has pruned and distributions still read: retention leaves it, and deletes the rest. */
import { Records, Workers } from "@bursar/engine-core"
import { Decimal, Instant, Party } from "@bursar/engine-core/kernel"
import { ProjectionLog } from "@bursar/engine-core/ports"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Distribution, distributions } from "#core/distributions/distribution/Distribution.ts"
import {
  type DistributionLine,
  distributionLines
} from "#core/distributions/distribution/DistributionLine.ts"
import * as Queries from "#core/distributions/distribution/DistributionQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { again, forgets, recordsAgain } from "./again.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Executions from "./executions.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Restricting from "./restricting.ts"
import { read } from "./venue.ts"

const horizon = Effect.map(
  Effect.flatMap(ProjectionLog, ({ head }) => head),
  ({ horizonOffset }) => horizonOffset
)

/** The ledger prunes all that it can, and retention has its daily run; returns the horizon then. */
const pruned = Effect.gen(function* () {
  const participant = yield* SimulatedLedger.Participant
  yield* participant.admin.prune(yield* participant.ledgerEnd)
  const { runOnce } = yield* Workers.runnerOf("schedules")
  for (const wait of ["0 seconds", "1 day"] as const) {
    yield* TestClock.adjust(wait)
    yield* Effect.repeat(runOnce, { while: (ran) => ran > 0 })
  }
  yield* Calls.settle
  return yield* horizon
})

const end = Effect.flatMap(SimulatedLedger.Participant, ({ ledgerEnd }) => ledgerEnd)

const july = "fund-a.2026-07"

const executes = (month: string) =>
  Effect.gen(function* () {
    const { state, why } = yield* Calls.write(
      "distribution.execute",
      {},
      { instrumentId: "fund-a", month }
    )
    return why === "" ? state : `${state} ${why}`
  })

/** Two holders with units, an income in July, and a clock after its record date. */
const accrued = Effect.gen(function* () {
  const { stage, holders } = yield* Executions.founded(["h1", "h2"])
  for (const holder of holders) yield* Powers.mints(stage, holder, "100")
  yield* Cycles.at("2026-07-20T12:00:00Z")
  yield* Executions.publishes(stage, "0.01", "2026-07-20T11:00:00Z")
  yield* Cycles.at("2026-08-01T00:02:00Z")
  return { stage, holders }
})

/** Units of every holder change, so that the register of record is shown by ended versions alone. */
const moved = ({ stage, holders }: Effect.Success<typeof accrued>) =>
  Effect.forEach(holders, (holder) => Powers.mints(stage, holder, "900"), { discard: true })

const entitled = Effect.map(Executions.linesOf(july), (lines) =>
  lines.map(({ entitlement, holderId }) => `${holderId} ${Decimal.formatPlain(entitlement)}`)
)

const checks = Effect.map(Reconciling.run(), ({ value }) => ({
  verdict: value.verdict,
  cleared: value.distributionsCleared,
  unread: value.checks.filter(({ ran }) => !ran).map(({ check, why }) => `${check} ${why}`)
}))

const withoutSchedule = {
  distribution: { schedule: "none", withholding: 0.15, payoutDecimals: 2, payout: "cash" }
} as const

/** Whether each line of July reads with a basis, and the reason if it does not. */
const bases = Effect.flatMap(Executions.linesOf(july), (lines) =>
  Effect.forEach(lines, ({ distributionId, lineId }) =>
    Effect.map(read(Queries.line, { distributionId, lineId }), ({ value }) => [
      value.basis.length > 0,
      value.basisMissing
    ])
  )
)

const acting = Effect.map(Instant.now, (now) => ({
  cause: { by: "run", runId: "fault" } as const,
  now
}))

/** Every line of a distribution is void, so that it is paid. */
const voidsAll = (distributionId: string) =>
  Effect.gen(function* () {
    for (const { lineId } of yield* Executions.linesOf(distributionId)) yield* Month.voids(lineId)
    yield* Calls.settle
  })

/** Changes the hash of July's lines behind the engine's back. */
const forges = (linesHash: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const forged = {
      ...distributions,
      announce: () => [],
      evolve: (self: Distribution) => ({ ...self, linesHash })
    }
    const act = yield* acting
    const paid = { on: "pay", at: act.now, rolled: 0, concealed: 0 } as const
    const self = yield* records.get(distributions, july)
    yield* records.transact(records.append(forged, self, paid, act))
  })

/** Changes for whom the first line of July was computed, behind the engine's back. */
const misattributes = Effect.fnUntraced(function* (computedFor: DistributionLine["computedFor"]) {
  const records = yield* Records
  const forged = {
    ...distributionLines,
    announce: () => [],
    evolve: (self: DistributionLine) => ({ ...self, computedFor })
  }
  const act = yield* acting
  const self = yield* records.get(distributionLines, `${july}.1`)
  const fact = { on: "recause", at: act.now, causes: [] } as const
  yield* records.transact(records.append(forged, self, fact, act))
})

const engine = Effect.provide(world())

describe("a line of somebody who earned nothing", () => {
  it.effect("never reads with a basis, though its payee held units on the record date", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2", "h3"])
      for (const holder of holders.slice(0, 2)) yield* Powers.mints(stage, holder, "100")
      yield* Cycles.at("2026-07-20T12:00:00Z")
      yield* Executions.publishes(stage, "0.01", "2026-07-20T11:00:00Z")
      yield* Cycles.at("2026-07-24T12:00:00Z")
      yield* Executions.publishes(stage, "0", "2026-07-24T11:00:00Z")
      yield* Cycles.at("2026-07-25T12:00:00Z")
      const late = holders[2]!
      yield* Powers.mints(stage, late, "100")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      assert.strictEqual(yield* executes("2026-07"), "succeeded")
      assert.deepStrictEqual(
        (yield* entitled).map((text) => text.slice(0, 2)),
        ["h1", "h2"]
      )
      yield* misattributes({ holderId: "h3", party: late.party })
      assert.deepStrictEqual(yield* bases, [
        [false, "not-computed"],
        [true, null]
      ])
    }).pipe(engine)
  )
})

describe("retention", () => {
  it.effect(
    "never deletes the register of a distribution under a hold, which could not be cleared",
    () =>
      Effect.gen(function* () {
        const fund = yield* accrued
        assert.strictEqual(yield* executes("2026-07"), "succeeded")
        const paused = yield* Calls.write(
          "instrument.pause",
          { instrumentId: "fund-a" },
          { reason: "looked into" }
        )
        const { recordOffset, state } = yield* Executions.distributionOf(july)
        assert.strictEqual(state, "held")
        yield* moved(fund)
        const kept = yield* pruned
        assert.isAtMost(kept, recordOffset ?? 0)
        assert.isAbove(yield* end, kept)
        yield* Calls.write("hold.release", { holdId: String(paused.result["holdId"]) }, {})
        assert.strictEqual((yield* Executions.distributionOf(july)).state, "payable")
        assert.deepStrictEqual((yield* checks).unread, [])
        const party = Party.of("somebody::1220aa")
        // A holder that is none, and a party that held nothing and has no line.
        for (const holderId of ["nobody", null]) {
          yield* misattributes({ holderId, party })
          assert.deepStrictEqual(yield* bases, [
            [false, "not-computed"],
            [true, null]
          ])
        }
      }).pipe(engine)
  )

  it.effect("never deletes the register of a month that is not executed yet", () =>
    Effect.gen(function* () {
      const fund = yield* accrued
      yield* moved(fund)
      yield* pruned
      assert.strictEqual(yield* executes("2026-07"), "succeeded")
      assert.deepStrictEqual(yield* entitled, ["h1 12", "h2 12"])
    }).pipe(engine)
  )

  it.effect.each([
    { moment: "a point from before the schedule, whose income the first days earn", income: "5" },
    { moment: "a day of the schedule whose point has not come yet", income: "15" }
  ])("never deletes the units of $moment", ({ income }) =>
    Effect.gen(function* () {
      const isBefore = income === "5"
      const { stage, holders } = yield* Executions.founded(["h1", "h2"], {
        ...Executions.par,
        ...withoutSchedule
      })
      const begins = Cycles.changes(1, { distribution: Executions.par.distribution })
      const earns = Executions.publishes(stage, "0.01", "2026-07-05T11:00:00Z")
      for (const holder of holders) yield* Powers.mints(stage, holder, "100")
      yield* Cycles.at(isBefore ? "2026-07-05T12:00:00Z" : "2026-07-02T12:00:00Z")
      yield* isBefore ? earns : begins
      yield* Cycles.at("2026-07-10T12:00:00Z")
      yield* moved({ stage, holders })
      if (!isBefore) assert.isAbove(yield* pruned, 0)
      yield* Cycles.at("2026-07-15T12:00:00Z")
      yield* isBefore ? begins : earns
      yield* Cycles.at("2026-07-20T12:00:00Z")
      yield* Executions.publishes(stage, "0", "2026-07-20T11:00:00Z")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      if (isBefore) assert.isAbove(yield* pruned, 0)
      assert.strictEqual(yield* executes("2026-07"), "succeeded")
      assert.deepStrictEqual(yield* entitled, [`h1 ${income}`, `h2 ${income}`])
    }).pipe(engine)
  )

  it.effect("deletes what a paid month read once the instrument no longer distributes", () =>
    Effect.gen(function* () {
      const fund = yield* accrued
      assert.strictEqual(yield* executes("2026-07"), "succeeded")
      const { distributionId, recordOffset } = yield* Executions.distributionOf(july)
      yield* moved(fund)
      yield* voidsAll(distributionId)
      assert.strictEqual((yield* Executions.distributionOf(july)).state, "paid")
      // The next month takes its carries in and begins with its points.
      const kept = yield* pruned
      assert.isAbove(kept, 0)
      assert.isAtMost(kept, recordOffset ?? 0)
      assert.deepStrictEqual(yield* bases, [
        [true, null],
        [true, null]
      ])
      yield* Cycles.changes(1, withoutSchedule)
      assert.strictEqual(yield* pruned, yield* end)
      const { unread, verdict } = yield* checks
      assert.deepStrictEqual({ unread, verdict }, { unread: [], verdict: "clear" })
      // The register of record is pruned: its remaining versions would give other figures.
      assert.deepStrictEqual(yield* bases, [
        [false, "before-horizon"],
        [false, "before-horizon"]
      ])
    }).pipe(engine)
  )

  it.effect(
    "never deletes the register of a distribution that is not paid, though nothing is owed",
    () =>
      Effect.gen(function* () {
        const fund = yield* accrued
        assert.strictEqual(yield* executes("2026-07"), "succeeded")
        const body = { reason: "looked into" }
        const paused = yield* Calls.write("instrument.pause", { instrumentId: "fund-a" }, body)
        yield* voidsAll(july)
        const { recordOffset, state } = yield* Executions.distributionOf(july)
        assert.strictEqual(state, "held")
        yield* Cycles.changes(1, withoutSchedule)
        yield* moved(fund)
        assert.isAtMost(yield* pruned, recordOffset ?? 0)
        yield* Calls.write("hold.release", { holdId: String(paused.result["holdId"]) }, {})
        assert.strictEqual((yield* Executions.distributionOf(july)).state, "paid")
        assert.strictEqual(yield* pruned, yield* end)
      }).pipe(engine)
  )

  it.effect("never deletes the register of a paid distribution while a line of it waits", () =>
    Effect.gen(function* () {
      const fund = yield* accrued
      for (const holderId of ["h1", "h2"]) yield* Restricting.restricts(holderId, `r-${holderId}`)
      assert.strictEqual(yield* executes("2026-07"), "succeeded")
      const { recordOffset, state } = yield* Executions.distributionOf(july)
      assert.strictEqual(state, "paid")
      yield* Cycles.changes(1, withoutSchedule)
      yield* moved(fund)
      assert.isAtMost(yield* pruned, recordOffset ?? 0)
      yield* voidsAll(july)
      assert.strictEqual(yield* pruned, yield* end)
    }).pipe(engine)
  )

  it.effect("never deletes what a paid month with a finding is computed again from", () =>
    Effect.gen(function* () {
      const fund = yield* accrued
      assert.strictEqual(yield* executes("2026-07"), "succeeded")
      const { linesHash, recordOffset } = yield* Executions.distributionOf(july)
      yield* moved(fund)
      yield* voidsAll(july)
      yield* forges("ab".repeat(32))
      assert.strictEqual((yield* checks).verdict, "blocked")
      yield* Cycles.changes(1, withoutSchedule)
      assert.isAtMost(yield* pruned, recordOffset ?? 0)
      yield* forges(linesHash)
      const { unread, verdict } = yield* checks
      assert.deepStrictEqual({ unread, verdict }, { unread: [], verdict: "clear" })
      assert.strictEqual(yield* pruned, yield* end)
    }).pipe(engine)
  )

  it.effect(
    "never deletes what a month reads whose points are before a snapshot of the ledger",
    () =>
      Effect.gen(function* () {
        const fund = yield* Executions.founded(["h1", "h2"], Executions.accumulating)
        for (const holder of fund.holders) yield* Powers.mints(fund.stage, holder, "100")
        yield* Cycles.at("2026-07-20T12:00:00Z")
        yield* Executions.publishes(fund.stage, "1", "2026-07-20T11:00:00Z", { metric: "price" })
        yield* forgets
        yield* Effect.gen(function* () {
          yield* Calls.settle
          yield* recordsAgain(fund.stage, Executions.accumulating)
          yield* Cycles.at("2026-07-30T12:00:00Z")
          yield* Executions.publishes(fund.stage, "1.05", "2026-07-30T11:00:00Z", {
            metric: "price"
          })
          yield* Cycles.at("2026-08-01T00:02:00Z")
          yield* moved(fund)
          const begun = yield* horizon
          assert.strictEqual(yield* pruned, begun)
          assert.strictEqual(yield* executes("2026-07"), "succeeded")
          const lines = yield* Executions.linesOf(july)
          assert.deepStrictEqual(
            lines.map(({ units }) => Decimal.formatPlain(units)),
            ["100", "100"]
          )
        }).pipe(Effect.provide(yield* again))
      }).pipe(engine)
  )

  it.effect("never deletes what the month after one reads that a snapshot showed", () =>
    Effect.gen(function* () {
      const fund = yield* accrued
      assert.strictEqual(yield* executes("2026-07"), "succeeded")
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        yield* recordsAgain(fund.stage, Executions.par)
        assert.deepStrictEqual(yield* bases, [
          [false, "plan-missing"],
          [false, "plan-missing"]
        ])
        const begun = yield* horizon
        yield* moved(fund)
        assert.strictEqual(yield* pruned, begun)
        assert.isAbove(yield* end, begun)
        yield* Cycles.changes(1, withoutSchedule)
        assert.strictEqual(yield* pruned, yield* end)
      }).pipe(Effect.provide(yield* again))
    }).pipe(engine)
  )
})
