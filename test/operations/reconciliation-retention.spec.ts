/** Reconciliation runs and findings over the years: each run is counted, and what is past ten years goes, nothing else. */
import { Metrics, Records, settingsDefaults, Workers } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { type Fact, findings } from "#core/findings/Finding.ts"
import { runInstruments } from "#core/reconciliation/run/RunInstrument.ts"
import * as sets from "#core/vocabulary/sets.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import { finds } from "./finding-plants.ts"
import * as Fund from "./fund.ts"
import { bodyOf } from "./instrumentBody.ts"
import * as Reconciling from "./reconciling.ts"

const made = "2026-07-31T12:00:00Z"
const before = "2036-07-28T12:00:00Z"
const after = "2036-08-02T12:00:00Z"

const hold = "hold_1"
const stops: Fact = { on: "stop", holdId: hold }
const clears: Fact = { on: "clear", runId: "run_2" }

const left = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(findings, { limit: 100 })
  const indexed = yield* records.list(runInstruments, { limit: 100 })
  return {
    findings: rows.map(({ record }) => record.findingId as string).toSorted(),
    runs: (yield* Reconciling.allRuns).map(({ runId }) => runId as string).toSorted(),
    indexed: indexed.length
  }
})

const turns = Effect.flatMap(Workers.runnerOf("schedules"), ({ runOnce }) =>
  Effect.repeat(runOnce, { while: (count) => count > 0 })
)

/** The daily run of retention, at an instant. */
const retainsAt = (instant: string) =>
  turns.pipe(Effect.andThen(Cycles.at(instant)), Effect.andThen(turns))

const scene = Effect.gen(function* () {
  const stage = yield* Fund.opened({}, made)
  yield* Calls.write(
    "instrument.record",
    {},
    { ...bodyOf(), instrumentId: "fund-b", registrar: stage.registrar.party }
  )
  yield* finds("open", [])
  yield* finds("cleared", [clears])
  yield* finds("cleared-b", [clears], { instrumentId: "fund-b" })
  yield* finds("held", [stops, clears])
  const all = yield* Reconciling.run("{}", { key: "all" })
  const both = yield* Reconciling.run('{"scope":{"instrumentIds":["fund-a","fund-b"]}}', {
    key: "both"
  })
  const one = yield* Reconciling.run('{"scope":{"instrumentIds":["fund-b"]}}', { key: "one" })
  return [all, both, one].map(({ value }) => value.runId)
})

const found = ["cleared", "cleared-b", "held", "open"]

/** Runs that were called for, by the metric, with any verdict. */
const counted = Effect.map(
  Effect.forEach(sets.Verdict.members, (verdict) =>
    Metric.value(Metric.withAttributes(Metrics.reconciliationRuns, { trigger: "manual", verdict }))
  ),
  (found) => found.reduce((sum, { count }) => sum + Number(count), 0)
)

describe("the metric of runs", () => {
  it.effect("counts each once, and none that repeats another", () =>
    Effect.gen(function* () {
      yield* scene
      assert.strictEqual(yield* counted, 3)
      yield* Reconciling.run("{}", { key: "all" })
      assert.strictEqual(yield* counted, 3)
    }).pipe(Effect.provide(world()), Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})

describe("retention of reconciliation", () => {
  it.effect("never deletes before the period, or a finding that is open or behind a hold", () =>
    Effect.gen(function* () {
      const ids = yield* scene
      const whole = { findings: found, runs: ids.toSorted(), indexed: 2 }
      assert.deepStrictEqual(yield* left, whole)
      yield* retainsAt(before)
      assert.deepStrictEqual(yield* left, whole)
      yield* retainsAt(after)
      assert.deepStrictEqual(yield* left, { findings: ["held", "open"], runs: [], indexed: 0 })
      // The key of a call that is deleted binds no longer.
      const again = yield* Reconciling.run("{}", { key: "all" })
      assert.notInclude(ids, again.value.runId)
    }).pipe(Effect.provide(world()))
  )

  it.effect("never deletes what a legal hold keeps, runs of every instrument included", () =>
    Effect.gen(function* () {
      const [all, both] = yield* scene
      yield* retainsAt(after)
      const kept = yield* left
      assert.deepStrictEqual(kept.findings, ["cleared", "held", "open"])
      assert.deepStrictEqual(kept.runs, [all, both].toSorted())
      assert.strictEqual(kept.indexed, 2)
    }).pipe(
      Effect.provide(
        world({
          settings: {
            ...settingsDefaults,
            legalHold: { holderIds: [], instrumentIds: ["fund-a"] }
          }
        })
      )
    )
  )
})
