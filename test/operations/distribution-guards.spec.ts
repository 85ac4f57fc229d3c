/** Guards of distributions against what comes at the same time, in between, or under a hold. */
import { Records } from "@bursar/engine-core"
import { Date, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { transactions } from "../engine/ledger-toys.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Restricting from "./restricting.ts"

const engine = (options: Parameters<typeof world>[0] = {}) => Effect.provide(world(options))
const july = { instrumentId: "fund-a", month: "2026-07" } as const
const conflict = "state-conflict DistributionState"

/** A par fund whose July may be executed, of two holders with units. */
const due = Effect.gen(function* () {
  const { stage, holders } = yield* Executions.founded(["h1", "h2"])
  for (const holder of holders) yield* Powers.mints(stage, holder, "333333.333333")
  yield* Cycles.at("2026-07-28T12:00:00Z")
  yield* Executions.publishes(stage, "0.000095759", "2026-07-28T11:00:00Z")
  yield* Cycles.at("2026-08-01T00:02:00Z")
  return { stage, holders }
})

/** Choices of a template that were exercised, each with its offset, in the order of the ledger. */
const exercised = (entity: string) =>
  Effect.map(transactions, (all) =>
    all.flatMap(({ events, offset }) =>
      events.flatMap((event) =>
        event._tag === "Exercised" && event.template.entity === entity
          ? [{ choice: event.choice, offset: offset as number }]
          : []
      )
    )
  )

/** Kind, state and refusal of the operations about distributions, in order. */
const written = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* Stream.runCollect(records.stream(operations, {}))
  return found.flatMap(({ record: { kind, problem, state } }) =>
    kind.startsWith("distribution.")
      ? [[kind, state, String(problem?.["check"] ?? "")].join(" ").trim()]
      : []
  )
})

/** The engine's own writes run until nothing is left. */
const passes = (duration: "1 minute" | "2 hours") =>
  Effect.gen(function* () {
    yield* TestClock.adjust(duration)
    yield* Cycles.turns
  })

const pauses = Effect.map(
  Calls.write("instrument.pause", { instrumentId: "fund-a" }, { reason: "looked into" }),
  ({ result }) => String(result["holdId"])
)

describe("an execution", () => {
  it.effect("is never signed for other figures than those that were shown", () =>
    Effect.gen(function* () {
      yield* due
      const action = yield* Calls.openAction("distribution.execute", {}, july)
      const rate = {
        name: "tax-rate",
        value: "0.1501",
        state: "valid",
        validFrom: "2026-07-01T00:00:00Z"
      }
      const evidence = { evidenceHash: "ab".repeat(32) }
      const set = yield* Calls.write(
        "holder.set-attributes",
        { holderId: "h1" },
        { attributes: [{ ...rate, ...evidence }] }
      )
      assert.strictEqual(set.why, "")
      const moved = yield* Calls.approveAction(action)
      assert.strictEqual(moved.why, "rule-refused four-eyes figures-moved")
      assert.strictEqual((yield* Calls.approveAction(action)).why, "")
    }).pipe(engine())
  )

  it.effect("never begins while another of its instrument is at work, signed or not", () =>
    Effect.gen(function* () {
      yield* due
      const other = { ...july, distributionId: "d-other" }
      const first = yield* Calls.openAction("distribution.execute", {}, july)
      const second = yield* Calls.openAction("distribution.execute", {}, other)
      // Both are signed before either begins.
      for (const action of [first, second]) {
        yield* Calls.approve(String(action), Calls.person("ada", "approver"))
      }
      yield* Calls.settle
      assert.deepStrictEqual((yield* written).toSorted(), [
        "distribution.execute failed DistributionState",
        "distribution.execute succeeded"
      ])
      const executes = (yield* exercised("DistributionSlot")).length
      assert.strictEqual(executes, 1)
      assert.strictEqual((yield* Calls.write("distribution.execute", {}, other)).why, conflict)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine({ settings: { batchLines: 1 } }))
  )

  it.effect("is kept as a breach where the ledger has its id already", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      yield* Month.opened(stage, point, [Month.lineOf(1, holders[0]!.party)])
      const before = yield* Month.distribution()
      const slot = yield* Powers.saying(Templates.DistributionSlot, {})
      yield* Month.venueActs([
        Templates.exercise(Templates.DistributionSlot, slot.cid, "Execute", {
          ...Month.termsOf(stage, point),
          month: "2026-08",
          recordDate: Date.of("2026-08-31"),
          payableFrom: Instant.of("2026-09-03T00:00:00Z")
        })
      ])
      assert.deepStrictEqual(yield* Fund.surprises, [
        "distribution open: A distribution of this id exists."
      ])
      assert.deepStrictEqual(yield* Month.distribution(), before)
    }).pipe(engine())
  )
})

describe("the word on the ledger", () => {
  it.effect("never opens a distribution before every line that waits is said to", () =>
    Effect.gen(function* () {
      const holderIds = ["h1", "h2", "h3", "h4", "h5"]
      const { stage, holders, point } = yield* Month.founded(holderIds)
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Cycles.at("2026-08-03T09:00:00Z")
      yield* Month.executes(stage, Month.termsOf(stage, point))
      yield* Month.adds("d-july", lines)
      for (const holderId of holderIds) yield* Restricting.restricts(holderId, `r-${holderId}`)
      yield* Month.seals("d-july", lines)
      yield* passes("1 minute")
      const directs = (yield* exercised("DistributionLine")).map(({ offset }) => offset)
      const [open] = (yield* exercised("Distribution")).filter(({ choice }) => choice === "Open")
      assert.lengthOf(directs, 5)
      assert.strictEqual(new Set(directs).size, 3)
      assert.strictEqual(open?.offset, Math.max(...directs))
    }).pipe(engine({ settings: { batchLines: 2 } }))
  )

  it.effect("is never said of a distribution that is not sealed", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      yield* Month.executes(stage, Month.termsOf(stage, point))
      yield* Month.adds("d-july", [Month.lineOf(1, holders[0]!.party)])
      yield* Reconciling.run()
      yield* passes("2 hours")
      assert.deepStrictEqual(yield* written, [])
    }).pipe(engine())
  )

  it.effect("says nothing of lines while the distribution is closed under a hold", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Month.opened(stage, point, lines)
      yield* pauses
      yield* passes("1 minute")
      yield* Restricting.restricts("h1", "r1")
      yield* passes("2 hours")
      assert.deepStrictEqual(yield* written, ["distribution.instruct succeeded"])
      assert.deepStrictEqual(yield* exercised("DistributionLine"), [])
    }).pipe(engine())
  )
})

describe("under a hold", () => {
  it.effect("a delivery is recorded, and the breach is kept", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Month.opened(stage, point, lines)
      yield* pauses
      // The ledger is not told yet.
      yield* Month.delivers(stage, "d-july", "d-july.1")
      assert.deepStrictEqual(yield* Month.states, ["1 delivered", "2 due"])
      assert.deepStrictEqual(yield* Fund.surprises, [
        "distribution deliver: The line was due, and its distribution held."
      ])
    }).pipe(engine())
  )

  it.effect("the engine never rolls, also where no line is due any more", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Month.opened(stage, point, lines)
      yield* Month.delivers(stage, "d-july", "d-july.1")
      const holdId = yield* pauses
      yield* passes("1 minute")
      yield* Restricting.restricts("h2", "r2")
      yield* passes("2 hours")
      assert.deepStrictEqual(yield* Month.states, ["1 delivered", "2 suspended restriction"])
      yield* Calls.write("hold.release", { holdId }, {})
      yield* passes("2 hours")
      assert.deepStrictEqual(yield* Month.states, ["1 rolled", "2 suspended restriction"])
    }).pipe(engine())
  )
})
